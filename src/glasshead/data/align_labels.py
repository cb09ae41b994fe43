"""The classes of a data set next to those of a model: which is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.spelling import spell

NUMBERED = re.compile(r"(?:LABEL_)?(\d+)(?:\.0+)?")
"""A number; also as a table of floats has it, and as Transformers calls a class that nobody named."""


def align_labels(model: Sequence[str], data: Sequence[str]) -> tuple[NDArray[np.int64], str | None]:
    """The model's class for each class of the data [classes of the data], and a remark on how they were
    matched.

    Classes are the same where their names are, in any order and, if that is unambiguous, in any case. Data
    that number their classes from 0 (``1``, ``1.0``, ``LABEL_1``, of two classes ``True``) have them in the
    order of the model's ``config.label2id``, unless its own names say other numbers.

    Raises:
        InputError: if a class of the data has no counterpart; the message has the mapping to fill in.
    """
    exact = {name: index for index, name in enumerate(model)}
    folded = {name.casefold(): index for index, name in enumerate(model)}
    if all(name in exact for name in data):
        order = np.array([exact[name] for name in data])
        moved = order.tolist() != list(range(len(data)))
        return order, "the classes of the data were matched to the model's by name" if moved else None
    unambiguous = len(folded) == len(model) and len({name.casefold() for name in data}) == len(data)
    if unambiguous and all(name.casefold() in folded for name in data):
        order = np.array([folded[name.casefold()] for name in data])
        return order, "the classes of the data were matched to the model's by name, ignoring case"
    numbers = [number_of(name, len(model)) for name in data]
    order = np.array([-1 if number is None else number for number in numbers])
    are_places = order.min() >= 0 and order.max() < len(model) and len({*numbers}) == len(data)
    own = [number_of(name, len(model)) for name in model]
    if are_places and all(number in (None, place) for place, number in enumerate(own)):
        if 0 not in numbers:
            pairs = ", ".join(f"{name}={number}" for number, name in enumerate(model))
            raise InputError(
                f"the class numbers in the data do not include 0, so the model's first class may be 0 or "
                f"{order.min()}: say which is which with {spell('labels')}, as in {pairs}"
            )
        pairs = f"{model[0]} is taken for the data's class {data[numbers.index(0)]}"
        if 1 in numbers:
            pairs += f", {model[1]} for {data[numbers.index(1)]}"
        return order, f"the data number their classes: {pairs}{', and so on' if len(model) > 2 else ''}"
    known, theirs = ", ".join(model), ", ".join(data)
    raise InputError(f"the model knows the classes {known}; the data have {theirs}: {remedy(model, data)}")


def number_of(name: str, classes: int) -> int | None:
    """The number that a name says; None where it says none."""
    truths = {"false": 0, "true": 1}
    if classes == len(truths) and name.casefold() in truths:
        return truths[name.casefold()]
    match = NUMBERED.fullmatch(name)
    return None if match is None else int(match[1])


def remedy(model: Sequence[str], data: Sequence[str]) -> str:
    """The mapping written out, to copy and to check."""
    if len(model) != len(data):
        return f"these are {len(data)} classes for {len(model)}: keep those that the model knows"
    pairs = ", ".join(f"{mine}={theirs}" for mine, theirs in zip(model, data, strict=True))
    return f"say which is which with {spell('labels')}, as in {pairs} (check the order)"
