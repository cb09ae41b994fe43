"""How what a model says of variants of texts is computed: all at once, or in parts elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from jaxtyping import Bool, Int
from torch import Tensor

if TYPE_CHECKING:
    from glasshead.explainers.explainer import ExplanationContext

PartFunction = Callable[["ExplanationContext", Tensor, Tensor], Tensor]
"""(some texts, which of them each variant is of [V], its tokens that go [V, n]) → numbers of each variant."""


class InParts(Protocol):
    """Computes a function of variants of texts, in whatever parts and wherever."""

    def __call__(
        self,
        function: PartFunction,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Tensor: ...


def in_one_part(
    function: PartFunction,
    context: ExplanationContext,
    texts: Int[Tensor, " variants"],
    removed: Bool[Tensor, "variants tokens"],
) -> Tensor:
    """Here, all at once."""
    return function(context, texts, removed)
