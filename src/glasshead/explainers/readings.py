"""What one number per token is taken from a map of attention.

A [q, k] is the weight of token k in the row of token q, s [q] the share of each row in what is read (BERT: 1
at [CLS]), and n the number of tokens of the text, special ones included.

    from           Σ_q s_q A_qi      what the selected rows give token i
    to             Σ_k A_ik s_k      what its own row gives them
    mean-columns   Σ_q A_qi / n      what all tokens give it
    mean-rows      Σ_k A_ik / n      what its row gives all tokens: 1/n for softmax
    max-columns    max_q A_qi        the most that a token gives it
    max-rows       max_k A_ik        the most that its row gives a token

Mylonas, Mollas and Tsoumakas (2023), of [CLS].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.registry import did_you_mean

Map = Float[Tensor, "r q k"]
FROM = "from"


class Reading(NamedTuple):
    """How a map is read, in words and as a function (map, shares of its rows [r, q], real tokens [r, n]) →
    [r, n]. A token's number is of its column or else its row, and may be linear in the map."""

    words: str
    read: Callable[[Map, Float[Tensor, "r q"], Bool[Tensor, "r n"]], Float[Tensor, "r n"]]
    of_columns: bool
    is_linear: bool


READINGS = {
    FROM: Reading("{rows}", lambda maps, rows, real: (rows[:, None] @ maps)[:, 0], True, True),
    "to": Reading(
        "columns instead of rows ({rows})",
        lambda maps, rows, real: (maps @ rows[..., None])[..., 0],
        False,
        True,
    ),
    "mean-columns": Reading(
        "mean of each column", lambda maps, rows, real: mean_over(maps.mT, real), True, True
    ),
    "mean-rows": Reading("mean of each row", lambda maps, rows, real: mean_over(maps, real), False, True),
    "max-columns": Reading(
        "largest weight of each column", lambda maps, rows, real: max_over(maps.mT, real), True, False
    ),
    "max-rows": Reading(
        "largest weight of each row", lambda maps, rows, real: max_over(maps, real), False, False
    ),
}


def mean_over(maps: Map, real: Bool[Tensor, "r k"]) -> Float[Tensor, "r q"]:
    """The mean of each row over the tokens of its text."""
    sums = (maps * real[:, None].to(maps)).sum(dim=-1)
    return sums / real.sum(dim=-1, keepdim=True).clamp(min=1).to(sums)


def max_over(maps: Map, real: Bool[Tensor, "r k"]) -> Float[Tensor, "r q"]:
    """The largest of each row over the tokens of its text; 0 if there is none."""
    largest = maps.masked_fill(~real[:, None], -torch.inf).amax(dim=-1)
    return torch.where(real.any(dim=-1, keepdim=True), largest, 0.0)


def check_reading(name: object) -> str:
    """The name, if it is that of a reading.

    Raises:
        InputError: if there is no such reading.
    """
    if name not in READINGS:
        raise InputError(f"unknown reading {name!r}: {did_you_mean(str(name), READINGS)}")
    return str(name)


def not_square(model: PreTrainedModel, method: str) -> InputError:
    """Why a method cannot read columns: rows and columns of some map are not the same tokens."""
    return InputError(
        f"{class_name(model)} has attention between two sequences, and {method!r} "
        "reads self-attention only: use 'attention'"
    )
