"""Pairs of texts that differ in what decides the answer, before a model: token beside token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded, encode, read_columns
from glasshead.errors import InputError, brief, pluralise
from glasshead.huggingface import NextTokenClassifier, class_names, place_of, token_id

COLUMNS = CLEAN, CORRUPTED, ANSWER, AGAINST = "clean", "corrupted", "answer", "against"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Texts as they are, and each with what decides its answer exchanged, both of as many tokens.

    ``answer`` and ``against`` are classes of the model (of a language model its tokens), one for each pair;
    −1 where an answer is held against nothing.
    """

    clean: Encoded
    corrupted: Encoded
    answer: Int[Tensor, " pairs"]
    against: Int[Tensor, " pairs"]
    names: tuple[tuple[str, str], ...]
    """Answer and what it is held against, in words."""

    def __len__(self) -> int:
        return len(self.answer)

    def by_length(self) -> Iterator[Int[Tensor, " some"]]:
        """The pairs of each length together."""
        lengths = self.clean.mask.sum(dim=1)
        for length in lengths.unique():
            yield (lengths == length).nonzero(as_tuple=True)[0]

    def score(self, logits: Tensor, some: Int[Tensor, " some"]) -> Tensor:
        """m = log p(answer) − log p(against) of some pairs; where nothing is against it, log p(answer)."""
        logs, some = logits.log_softmax(dim=-1), some.cpu()
        rows = torch.arange(len(some), device=logs.device)
        answer, against = self.answer[some].to(logs.device), self.against[some].to(logs.device)
        other = torch.where(against >= 0, logs[rows, against.clamp(min=0)], torch.zeros_like(logs[:, 0]))
        score: Tensor = logs[rows, answer] - other
        return score

    def has_another_answer(self, one: int, other: int) -> bool:
        """Whether two pairs hold another answer against something, or against something else."""
        return self.names[one] != self.names[other]


def read_rows(source: Any) -> dict[str, list[Any]]:
    """The columns clean, corrupted, answer and against (where it is there) of a file, a table or rows.

    Raises:
        InputError: if there is no such file, or it lacks one of the first three.
    """
    if isinstance(source, str | Path):
        columns, name = read_columns(Path(source)).values, str(source)
    else:
        name = "the table of pairs"
        rows = source.to_dict("records") if hasattr(source, "to_dict") else source
        if not isinstance(rows, Sequence) or not rows or not all(isinstance(row, dict) for row in rows):
            raise InputError("pairs are a file, a table or a list of rows with clean, corrupted and answer")
        keys = dict.fromkeys(key for row in rows for key in row)
        columns = {key: [row.get(key) for row in rows] for key in keys}
    missing = [column for column in COLUMNS[:3] if column not in columns]
    if missing:
        raise InputError(
            f"{name} has no column {missing[0]!r} (it has: {brief(', '.join(map(str, columns)))}): pairs "
            "need clean, corrupted and answer"
        )
    for column in COLUMNS[:3]:
        for row, value in enumerate(columns[column], start=1):
            if is_missing(value):
                raise InputError(f"{name} row {row} has nothing in the column {column!r}")
    return {column: columns[column] for column in COLUMNS if column in columns}


def is_missing(value: Any) -> bool:
    """Whether a cell is empty; NaN is what tables hold there."""
    return value is None or value == "" or value != value


def make_pairs(model: PreTrainedModel, tokenizer: Any, rows: dict[str, list[Any]]) -> Pairs:
    """Encode pairs, token beside token.

    Raises:
        InputError: if two texts of a pair have another number of tokens, or none that differs; and if the
            model knows no such answer.
    """
    clean, corrupted = (encode(tokenizer, [str(text) for text in rows[name]]) for name in (CLEAN, CORRUPTED))
    for number, ids in enumerate(zip(tokens_of(clean), tokens_of(corrupted), strict=True), start=1):
        check_aligned(tokenizer, number, *ids)
    answer = [answer_of(model, tokenizer, value) for value in rows[ANSWER]]
    against = [
        (-1, "") if is_missing(value) else answer_of(model, tokenizer, value)
        for value in rows.get(AGAINST, [None] * len(answer))
    ]
    for number, ((index, name), (other, _)) in enumerate(zip(answer, against, strict=True), start=1):
        if index == other:
            raise InputError(f"pair {number} holds the answer {name!r} against itself: name two")
    return Pairs(
        clean,
        corrupted,
        torch.tensor([index for index, _ in answer]),
        torch.tensor([index for index, _ in against]),
        tuple((one[1], other[1]) for one, other in zip(answer, against, strict=True)),
    )


def tokens_of(encoded: Encoded) -> list[list[int]]:
    """The ids of each text, without padding."""
    return [ids[mask].tolist() for ids, mask in zip(encoded.ids, encoded.mask, strict=True)]


def check_aligned(tokenizer: Any, number: int, one: list[int], other: list[int]) -> None:
    """Raise InputError unless two texts have as many tokens, and not all the same."""
    if one == other:
        raise InputError(
            f"the texts of pair {number} are the same tokens as the model reads them (long texts are cut): "
            "nothing can be exchanged"
        )
    if len(one) == len(other):
        return
    place = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    parts = [
        repr(tokenizer.decode(ids[place : place + 1])) if ids[place:] else "its end" for ids in (one, other)
    ]
    raise InputError(
        f"pair {number} does not align: clean has {pluralise(len(one), 'token')}, corrupted {len(other)}; "
        f"they part at token {place}, {parts[0]} and {parts[1]}. Exchange words of as many tokens"
    )


def answer_of(model: PreTrainedModel, tokenizer: Any, value: Any) -> tuple[int, str]:
    """The class of a model that a value means, and its name.

    Raises:
        InputError: if it has none.
    """
    if isinstance(model, NextTokenClassifier):
        return token_id(tokenizer, str(value)), str(value)
    names = class_names(model)
    place = place_of(value if isinstance(value, str) else str(value), names)
    if place is None:
        raise InputError(f"the model has no class {value!r}: it has {brief(', '.join(names))}")
    return place, names[place]
