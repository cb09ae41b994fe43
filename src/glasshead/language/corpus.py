"""A text file, a folder of text files or a data set as documents, and documents as blocks of tokens."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from glasshead.data import (
    DATASETS,
    IMAGE_SETS,
    SUFFIXES,
    LoadOptions,
    Picture,
    has_lines,
    inputs_of,
    join_pair,
    load,
    named_files,
    plain_splits,
    read_text,
)
from glasshead.errors import InputError, ParameterError, pluralise
from glasshead.spelling import spell

TEXT_SUFFIXES = (".txt", ".txt.gz", ".md", ".text")
"""Files of a folder that are read as running text."""
SPLITS = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test"}
ENOUGH = 100_000
"""So many documents are tokenised at a time."""


@dataclass(frozen=True)
class Corpus:
    """Documents to learn from and documents to measure on; ``origin`` says how they were split."""

    train: tuple[str, ...]
    dev: tuple[str, ...]
    origin: str

    def facts(self) -> dict[str, Any]:
        """Numbers of documents and characters, and one SHA-256 over all of them in order."""
        digest = hashlib.sha256()
        sizes = {}
        for name, documents in (("train", self.train), ("dev", self.dev)):
            encoded = [document.encode() for document in documents]
            # Lengths go first, so that no two different corpora write the same bytes.
            digest.update(np.array([len(encoded), *map(len, encoded)], dtype="<i8").tobytes())
            digest.update(b"".join(encoded))
            sizes[name] = {"documents": len(documents), "characters": sum(map(len, documents))}
        return sizes | {"origin": self.origin, "fingerprint": digest.hexdigest()}


def read_corpus(
    source: str | Path,
    *,
    text_column: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    dev_fraction: float = 0.1,
    seed: int = 0,
) -> Corpus:
    """The documents of a text file, of a folder of text files, or of the rows of a data set.

    If blank lines divide a text, its paragraphs are documents, otherwise its lines are. Without a dev part,
    the last ``dev_fraction`` of a text becomes dev, since neighbours are alike; for rows it is a random
    part, by ``seed``. Files are read in UTF-8 or another ``encoding``, columns of a table by their
    ``separator``.

    Raises:
        InputError: if there is no such source, or it is empty, binary, or too small to split.
    """
    if not 0 < dev_fraction <= 0.5:
        raise ParameterError("dev_fraction", f"must be above 0 and at most 0.5, not {dev_fraction}")
    path = Path(source)
    options = LoadOptions(text_column=text_column, encoding=encoding, separator=separator)
    if str(source) not in DATASETS:
        if path.is_file() and not path.name.lower().endswith(SUFFIXES) and not holds_trees(path):
            return part_text(path.name, documents_of(path, encoding), dev_fraction)
        if path.is_dir() and (files := text_files(path)):
            return of_files(path, files, dev_fraction, encoding)
    return of_rows(source, options, dev_fraction, seed)


def holds_trees(path: Path) -> bool:
    """Whether a text file holds labelled trees, which are a data set."""
    return path.name.lower().endswith((".txt", ".txt.gz")) and path.stat().st_size > 0 and not has_lines(path)


def text_files(folder: Path) -> list[Path]:
    """Every text file below a folder, in order of names, unless the folder holds a data set."""
    if named_files(folder.iterdir()):
        return []
    files = [path for path in sorted(folder.rglob("*")) if path.name.lower().endswith(TEXT_SUFFIXES)]
    files = [path for path in files if path.is_file() and path.stat().st_size > 0]
    return [] if any(map(holds_trees, files[:1])) else files


def of_files(folder: Path, files: Sequence[Path], dev_fraction: float, encoding: str | None = None) -> Corpus:
    """The documents of several files, parted as their names say if one is called train."""
    by_split: dict[str, list[str]] = {}
    for path in files:
        split = SPLITS.get(path.name.lower().partition(".")[0], "")
        by_split.setdefault(split, []).extend(documents_of(path, encoding))
    if "train" not in by_split:
        every = [document for path in files for document in documents_of(path, encoding)]
        return part_text(f"{folder.name} ({pluralise(len(files), 'file')})", every, dev_fraction)
    if "dev" not in by_split:
        return part_text("train", by_split["train"], dev_fraction)
    return Corpus(tuple(by_split["train"]), tuple(by_split["dev"]), "train and dev as their files say")


def documents_of(path: Path, encoding: str | None = None) -> list[str]:
    """The paragraphs of a text file that blank lines part, else its lines.

    Raises:
        InputError: if the file is empty, binary or in another encoding.
    """
    try:
        text = read_text(path, encoding)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if "\0" in text:
        raise InputError(f"{path} is binary: give a file of text")
    text = text.replace("\r\n", "\n")
    paragraphs = [part.strip() for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
    if not paragraphs:
        raise InputError(f"{path} is empty: give a file of text")
    if len(paragraphs) > 1:
        return paragraphs
    return [line.strip() for line in paragraphs[0].split("\n") if line.strip()]


def part_text(name: str, documents: Sequence[str], dev_fraction: float) -> Corpus:
    """A running text, whose end becomes dev.

    Raises:
        InputError: if there is one document only.
    """
    if len(documents) < 2:
        raise InputError(f"{name} has only one line: a corpus needs two or more, some of them for measuring")
    ends = np.cumsum([len(document) for document in documents])
    cut = int(np.searchsorted(ends, round((1 - dev_fraction) * ends[-1]), side="right"))
    cut = min(max(cut, 1), len(documents) - 1)
    origin = f"the last {100 * dev_fraction:g} % of {name} are dev"
    return Corpus(tuple(documents[:cut]), tuple(documents[cut:]), origin)


def of_rows(source: str | Path, options: LoadOptions, dev_fraction: float, seed: int) -> Corpus:
    """The texts of a data set's rows, of which a random part becomes dev if there is none."""
    texts = {
        split: [text for row in rows if (text := row.strip())]
        for split, rows in texts_by_split(source, options).items()
    }
    if "dev" in texts:
        return Corpus(tuple(texts["train"]), tuple(texts["dev"]), "train and dev as the data set has them")
    train = texts["train"]
    if len(train) < 2:
        raise InputError(
            f"{source} has fewer than two texts: some are needed for training, some for measuring"
        )
    size = min(max(round(dev_fraction * len(train)), 1), len(train) - 1)
    chosen = set(np.random.default_rng(seed).permutation(len(train))[:size].tolist())
    return Corpus(
        tuple(text for row, text in enumerate(train) if row not in chosen),
        tuple(train[row] for row in sorted(chosen)),
        f"a random {100 * dev_fraction:g} % of train are dev (seed {seed})",
    )


def texts_by_split(source: str | Path, options: LoadOptions) -> dict[str, list[str]]:
    """The texts of each split, of pairs both texts; labels are not read.

    Raises:
        InputError: as `glasshead.data.load`, and on images.
    """
    parts: dict[str, tuple[Sequence[Any], Sequence[str] | None]]
    if str(source) in (*DATASETS, *IMAGE_SETS):
        parts = {name: inputs_of(rows) for name, rows in load(source, options, divide=False).items()}
    else:
        parts = dict(plain_splits(source, options))
    if any(isinstance(first, Picture) for firsts, _ in parts.values() for first in firsts[:1]):
        raise InputError(
            f"{source} contains images, but a language model reads texts: use {spell('model', 'vit')}, "
            "which classifies images"
        )
    return {
        name: list(map(join_pair, firsts, seconds or repeat(None)))
        for name, (firsts, seconds) in parts.items()
    }


def pack(tokenizer: PreTrainedTokenizerBase, documents: Sequence[str]) -> Int[Tensor, " tokens"]:
    """All documents as one row of tokens, with the end-of-text token after each."""
    end = end_of_text(tokenizer)
    rows: list[int] = []
    for start in range(0, len(documents), ENOUGH):
        encoded = tokenizer(
            list(documents[start : start + ENOUGH]),
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        for ids in encoded["input_ids"]:
            rows += [*ids, end]
    return torch.tensor(rows, dtype=torch.long)


def end_of_text(tokenizer: PreTrainedTokenizerBase) -> int:
    """The token that stands between two documents.

    Raises:
        InputError: if the tokenizer has none.
    """
    for token in (tokenizer.eos_token_id, tokenizer.sep_token_id):
        if token is not None:
            return int(token)
    raise InputError("the tokenizer has no end-of-text token (eos_token): choose another one")


def cut_blocks(
    tokens: Int[Tensor, " tokens"], block_size: int, split: str
) -> Int[Tensor, "blocks block_size"]:
    """The tokens in blocks of one size, without the remainder at the end.

    Raises:
        InputError: if there are too few for one block.
    """
    count = len(tokens) // block_size
    if count == 0:
        raise InputError(
            f"{split} has {pluralise(len(tokens), 'token')}, less than one block of {block_size}: "
            f"give a larger corpus, or a smaller {spell('block_size')}"
        )
    return tokens[: count * block_size].view(count, block_size)
