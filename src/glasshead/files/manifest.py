"""Which files of a folder are ours: a hidden file in every folder that is made here lists them."""

import json
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

MANIFEST = ".glasshead"
KNOWN = (
    "run.json", "repeats.json", "metrics.json", "card.json", "logs.json", "facts.json", "report.html",
    "config.json", "generation_config.json", "model.safetensors", "model-*-of-*.safetensors",
    "model.safetensors.index.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "news.tsv", "behaviors.tsv",
    "vocabulary.parquet", "predictions.parquet", "clicks.parquet", "findings.parquet", "examples.parquet",
    "tokens.parquet", "heads.parquet", "weights.parquet", "curves.parquet", "products.parquet",
)  # fmt: skip
"""What is written into folders, whole or not: what is not whole has no manifest yet."""


def files_in(folder: Path) -> list[str]:
    """All files below a folder, by relative path."""
    every = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in every)


def write_manifest(folder: Path) -> None:
    """List what is in a folder that is whole, and give its files the permissions that new ones have.

    Some writers make theirs as temporary files, which nobody else may read.
    """
    files = [name for name in files_in(folder) if name != MANIFEST]
    manifest = folder / MANIFEST
    manifest.write_text(json.dumps({"files": files}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    mode = manifest.stat().st_mode & 0o777
    for path in (folder / name for name in files):
        if not path.is_symlink() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def foreign_files(folder: Path) -> list[str] | None:
    """The files of a folder that were not written here; None: the whole folder was not made here."""
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return sorted(set(files_in(folder)) - {MANIFEST, *map(str, listed)})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_foreign(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The names that match none of the patterns."""
    patterns = tuple(patterns)
    return [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)]
