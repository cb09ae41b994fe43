"""Which files of a folder are ours: a hidden file in every folder that is made here lists them."""

import json
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

MANIFEST = ".glasshead"
FACTS = {
    "run.json": {"recipe", "seed", "data"},
    "repeats.json": {"seeds", "metrics"},
    "card.json": {"schema", "facts", "findings"},
    "softmax-audit/card.json": {"schema", "facts", "findings"},
    "logs.json": {"interest", "users", "news"},
}
"""Folders of before there were manifests: a file that tells them, and what stands in it."""
KNOWN = (
    "run.json", "repeats.json", "metrics.json", "card.json", "logs.json", "facts.json", "report.html",
    "config.json", "generation_config.json", "model.safetensors", "model-*-of-*.safetensors",
    "model.safetensors.index.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "news.tsv", "behaviors.tsv",
    "vocabulary.parquet", "predictions.parquet", "clicks.parquet", "findings.parquet", "examples.parquet",
    "tokens.parquet", "heads.parquet", "weights.parquet", "curves.parquet", "products.parquet",
)  # fmt: skip
"""What was ever written into those."""
WITHIN = ("seed-*", "softmax", "tanhmax", "*-audit", "dynamics", "train", "dev", "test")
"""The folders in them that were."""


def files_in(folder: Path) -> list[str]:
    """Everything below a folder but folders, by its path from there."""
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
    files = files_in(folder)
    if (folder / MANIFEST).is_file():
        listed = _object(folder / MANIFEST).get("files")
        if not isinstance(listed, list):
            return None
        return sorted(set(files) - {MANIFEST, *map(str, listed)})
    if not any(keys <= _object(folder / name).keys() for name, keys in FACTS.items()):
        return None
    paths = map(PurePosixPath, files)
    return [
        str(path)
        for path in paths
        if unknown_names([path.name], KNOWN) or unknown_names(path.parts[:-1], WITHIN)
    ]


def unknown_names(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The names that fit none of the patterns."""
    patterns = tuple(patterns)
    return [name for name in names if not any(fnmatch(name, pattern) for pattern in patterns)]


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; an empty one if there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
