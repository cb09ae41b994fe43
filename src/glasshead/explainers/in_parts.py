"""How what a model says of variants of texts is computed: all at once, or in parts elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from jaxtyping import Bool, Int
from torch import Tensor

Context = Any
"""An `ExplanationContext`, which holds one of these."""
PartFunction = Callable[[Context, Tensor, Tensor], Tensor]
"""(some texts, which of them each variant is of [V], its tokens that go [V, n]) → numbers of each variant."""


class InParts(Protocol):
    """Computes a function of variants of texts, in whatever parts and wherever."""

    def __call__(
        self,
        function: PartFunction,
        context: Context,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Tensor: ...


def in_one_part(
    function: PartFunction,
    context: Context,
    texts: Int[Tensor, " variants"],
    removed: Bool[Tensor, "variants tokens"],
) -> Tensor:
    """Here, all at once."""
    return function(context, texts, removed)
