"""How what a model says of variants of texts is computed: all at once, or in parts elsewhere."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

Context = Any
"""An `ExplanationContext`, which holds one of these."""
PartFunction = Callable[[Context, Tensor, Tensor], Tensor]
"""(some texts, which of them each variant is of [V], its tokens that go [V, n]) → numbers of each variant."""
InParts = Callable[[PartFunction, Context, Tensor, Tensor], Tensor]
"""Computes a function of variants of texts, in whatever parts and wherever."""


def in_one_part(function: PartFunction, context: Context, texts: Tensor, removed: Tensor) -> Tensor:
    """Here, all at once."""
    return function(context, texts, removed)
