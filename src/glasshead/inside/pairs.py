"""Pairs of texts that differ in what decides the answer, before a model: token next to token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded, batch_size, encode, read_columns
from glasshead.errors import InputError, ParameterError, brief, pluralise
from glasshead.huggingface import (
    NO_PLACE,
    Inputs,
    NextTokenClassifier,
    TaskModel,
    answers_of,
    class_name,
    place_of,
    question_names,
    rated_name,
    token_id,
)
from glasshead.models import is_regression

FEWEST = 8
"""Pairs below which little can be shown: 2⁸ signs, of which the largest of many sites takes its part."""
COLUMNS = CLEAN, CORRUPTED, ANSWER, AGAINST, AT = "clean", "corrupted", "answer", "against", "at"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Texts as they are, and each with what decides its answer exchanged, both of as many tokens.

    ``answer`` and ``against`` are classes of the model (of a language model its tokens), one for each pair;
    −1 where an answer is compared with nothing.
    """

    clean: Encoded
    corrupted: Encoded
    answer: Int[Tensor, " pairs"]
    against: Int[Tensor, " pairs"]
    names: tuple[tuple[str, str], ...]
    """Answer and what it is compared with, in words."""
    rated: str | None = None
    """What the number is called, of a model that predicts one; its score is the number."""

    def __len__(self) -> int:
        return len(self.answer)

    def by_length(self) -> Iterator[Int[Tensor, " some"]]:
        """The pairs of each length together."""
        lengths = self.clean.mask.sum(dim=1)
        for length in lengths.unique():
            yield (lengths == length).nonzero(as_tuple=True)[0]

    def batches(self) -> Iterator[Int[Tensor, " b"]]:
        """The pairs of one length, as many as a pass may have."""
        for same in self.by_length():
            length = int(self.clean.mask[same[0]].sum())
            yield from same.tensor_split(-(-len(same) // max(batch_size(length), 2)))

    def score(self, logits: Tensor, some: Int[Tensor, " some"]) -> Tensor:
        """m = log p(answer) − log p(against) of some pairs; where nothing is against it, log p(answer); of a
        model that predicts a number, the number."""
        if self.rated is not None:
            return logits[:, 0]
        logs, some = logits.log_softmax(dim=-1), some.cpu()
        rows = torch.arange(len(some), device=logs.device)
        answer, against = self.answer[some].to(logs.device), self.against[some].to(logs.device)
        other = torch.where(against >= 0, logs[rows, against.clamp(min=0)], torch.zeros_like(logs[:, 0]))
        score: Tensor = logs[rows, answer] - other
        return score

    @property
    def unit(self) -> str:
        """What scores are measured in."""
        return self.rated or ("log-odds" if (self.against >= 0).any() else "log-probability")

    def has_another_answer(self, one: int, other: int) -> bool:
        """Whether two pairs hold another answer against something, or against something else."""
        return self.names[one] != self.names[other]


def read_rows(source: Any) -> dict[str, list[Any]]:
    """The columns clean, corrupted and, where they are there, answer, against and at of a file, a table or
    rows.

    Raises:
        InputError: if there is no such file, or it lacks one of the first two.
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
    missing = [column for column in COLUMNS[:2] if column not in columns]
    if missing:
        raise InputError(
            f"{name} has no column {missing[0]!r} (it has: {brief(', '.join(map(str, columns)))}): pairs "
            "need clean, corrupted and answer"
        )
    for column in COLUMNS[:3]:
        for row, value in enumerate(columns.get(column, ()), start=1):
            if is_missing(value):
                raise InputError(f"{name} row {row} has nothing in the column {column!r}")
    return {column: columns[column] for column in COLUMNS if column in columns}


def is_missing(value: Any) -> bool:
    """Whether a cell is empty; NaN is what tables hold there."""
    return value is None or value == "" or value != value


def make_pairs(model: PreTrainedModel, tokenizer: Any, rows: dict[str, list[Any]]) -> Pairs:
    """Encode pairs, token next to token, and ask the model about each.

    Raises:
        InputError: if two texts of a pair have another number of tokens, none that differs, or are asked
            about different places; if the model knows no such answer, or reads more than a text.
    """
    if isinstance(model, TaskModel) and (model.pairs == "needed" or model.reads_others):
        raise InputError(
            f"{class_name(model)} reads two texts, or chooses between texts: activations can be exchanged "
            "only in models that read one"
        )
    if ANSWER not in rows and not is_regression(model.config):
        raise InputError("the pairs have no column 'answer': name the answer to the clean text")
    clean, classes = ask_each(model, tokenizer, rows, CLEAN)
    corrupted, _ = ask_each(model, tokenizer, rows, CORRUPTED)
    for number, ids in enumerate(zip(tokens_of(clean), tokens_of(corrupted), strict=True), start=1):
        check_aligned(tokenizer, number, *ids)
    check_places(clean, corrupted)
    numbers = range(len(clean.ids))
    answer = [answer_of(model, tokenizer, clean, row, classes[row]) for row in numbers]
    values = rows.get(AGAINST, [None] * len(answer))
    against = [
        (-1, "") if is_missing(value) else answer_of(model, tokenizer, clean, row, value)
        for row, value in enumerate(values)
    ]
    for number, ((index, name), (other, _)) in enumerate(zip(answer, against, strict=True), start=1):
        if index == other:
            raise InputError(f"pair {number} compares the answer {name!r} with itself: name two answers")
    return Pairs(
        clean,
        corrupted,
        torch.tensor([index for index, _ in answer]),
        torch.tensor([index for index, _ in against]),
        tuple((one[1], other[1]) for one, other in zip(answer, against, strict=True)),
        rated_name(model) if is_regression(model.config) else None,
    )


def ask_each(
    model: PreTrainedModel, tokenizer: Any, rows: dict[str, list[Any]], column: str
) -> tuple[Encoded, list[Any]]:
    """The texts of a column, each asked about what its row says, and the class of the model that is then its
    answer.

    Raises:
        InputError: if the model can be asked about several words of a text, and none is named.
    """
    texts = [str(text) for text in rows[column]]
    answers, places = (rows.get(name, [None] * len(texts)) for name in (ANSWER, AT))
    if not isinstance(model, TaskModel) or model.asks_whole_texts:
        named = next((number for number, at in enumerate(places, start=1) if not is_missing(at)), None)
        if named is not None:
            raise InputError(f"column {AT!r} of pair {named} {NO_PLACE}")
        return encode(tokenizer, texts), list(answers)
    asked, classes = [], []
    for number, (text, answer, at) in enumerate(zip(texts, answers, places, strict=True), start=1):
        target, place = map(named_in, (answer, at))
        try:
            inputs, own = model.ask(Inputs.read(tokenizer, [text], None), target, place)
        except ParameterError as error:
            what = f"column {AT!r}" if error.parameter == AT else f"the answer {answer!r}"
            raise InputError(f"{what} of pair {number} {error.problem}") from None
        except InputError as error:
            raise InputError(f"pair {number}: {error}") from None
        if len(inputs.texts) > 1:
            raise InputError(
                f"pair {number} has {len(inputs.texts)} possible questions: name the answer, and the word "
                f"in a column {AT!r}"
            )
        asked.append(inputs.encoded)
        classes.append(own)
    return Encoded.joined(asked), classes


def named_in(value: Any) -> Any:
    """What a cell names: a name or a number; tables have whole numbers as 4.0 where others are missing."""
    if is_missing(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_places(clean: Encoded, corrupted: Encoded) -> None:
    """Raise InputError unless both texts of a pair are asked about the same."""
    if clean.question is None or corrupted.question is None:
        return
    for number, (one, other) in enumerate(zip(clean.question, corrupted.question, strict=True), start=1):
        if not torch.equal(one, other):
            places = [int(own.argmax()) for own in (one, other)]
            raise InputError(
                f"pair {number} is about token {places[0]} of the clean text and token {places[1]} of the "
                "corrupted one: name the same place in both"
            )


def tokens_of(encoded: Encoded) -> list[list[int]]:
    """The ids of each text, without padding."""
    return [ids[mask].tolist() for ids, mask in zip(encoded.ids, encoded.mask, strict=True)]


def check_aligned(tokenizer: Any, number: int, one: list[int], other: list[int]) -> None:
    """Raise InputError unless two texts have as many tokens, and not all the same."""
    if one == other:
        raise InputError(
            f"the texts of pair {number} are the same tokens for the model (long texts are cut), so nothing "
            "can be exchanged"
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
        f"they differ from token {place} on, {parts[0]} and {parts[1]}. Exchange words of as many tokens"
    )


def answer_of(
    model: PreTrainedModel, tokenizer: Any, encoded: Encoded, row: int, value: Any
) -> tuple[int, str]:
    """The class of a model that a value means where a text is asked, and its name.

    Raises:
        InputError: if it has none.
    """
    if isinstance(model, NextTokenClassifier):
        return token_id(tokenizer, str(value)), str(value)
    names = answers_of(model, encoded, row)
    if is_regression(model.config):
        asked = question_names(model, encoded)
        return 0, names[0] if asked is None else asked[row]
    place = place_of(value if isinstance(value, str | int) else str(value), names)
    if place is None:
        raise InputError(f"the model has no class {value!r}: it has {brief(', '.join(names))}")
    return place, names[place]
