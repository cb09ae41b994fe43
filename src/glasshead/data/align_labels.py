"""The classes of a data set beside those of a model: which is which."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.spelling import spell

UNNAMED = re.compile(r"LABEL_(\d+)")
"""What Transformers calls the classes of a model that nobody named."""


def align_labels(model: Sequence[str], data: Sequence[str]) -> tuple[NDArray[np.int64], str | None]:
    """The model's class of each class of the data [classes of the data], and what a person should know of it.

    Classes are the same where their names are, in whatever order and, if that leaves no doubt, in whatever
    case. LABEL_i, the name of a class that nobody named, is class i of data whose classes are the numbers
    0 to K − 1.

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
        return order, "the classes of the data were matched to the model's by name, whatever their case"
    numbers = [str(index) for index in range(len(model))]
    if is_unnamed(model) and all(name in numbers for name in data):
        if "0" not in data:
            pairs = ", ".join(f"{name}={number}" for name, number in zip(model, numbers, strict=True))
            raise InputError(
                f"the model does not name its classes and none of the data is called 0: its first class "
                f"may be 0 or {min(data, key=int)}: say which is which with {spell('labels')}, as in {pairs}"
            )
        order = np.array([int(name) for name in data])
        rest = ", LABEL_1 for 1" if len(model) == 2 else ", and so on"
        return order, f"the model does not name its classes: LABEL_0 is taken for the data's class 0{rest}"
    known, theirs = ", ".join(model), ", ".join(data)
    raise InputError(f"the model knows the classes {known}; the data have {theirs}: {remedy(model, data)}")


def is_unnamed(model: Sequence[str]) -> bool:
    """Whether the classes are LABEL_0, LABEL_1, …"""
    matches = [UNNAMED.fullmatch(name) for name in model]
    return all(match is not None and int(match[1]) == index for index, match in enumerate(matches))


def remedy(model: Sequence[str], data: Sequence[str]) -> str:
    """The mapping written out, to copy and to check."""
    if len(model) != len(data):
        return f"these are {len(data)} classes for {len(model)}: keep those that the model knows"
    pairs = ", ".join(f"{mine}={theirs}" for mine, theirs in zip(model, data, strict=True))
    return f"say which is which with {spell('labels')}, as in {pairs} (check the order)"
