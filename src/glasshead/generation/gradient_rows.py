"""Gradients of every target of an answer with respect to the embeddings of what stands before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError
from glasshead.explainers import REDUCTIONS, embedding_leaves
from glasshead.generation.method import RowMethod, target_map
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.huggingface import class_name
from glasshead.results import WrittenMap
from glasshead.trace import AttentionSelector, slopes_of


class GradientRows(RowMethod):
    """e_jᵀ ∂y_t/∂e_j or, with a ``reduction``, the mean entry, mean size or length of ∂y_t/∂e_j.

    One pass forward, then one backward for each target; parameters have no gradient.
    """

    def __init__(self, reduction: str | None) -> None:
        self.reduction = reduction
        self.description = (
            "derivative along the token itself, e·∂y/∂e"
            if reduction is None
            else REDUCTIONS[reduction][2].replace("ŷ", "y")
        )
        self.citation = "Denil et al. 2014; Li et al. 2016; Atanasova et al. 2020"

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        with torch.enable_grad(), embedding_leaves(text.model) as lookups:
            values = target(text.logits())[0]
        if [len(ids[0]) for ids, _ in lookups] != text.sizes:
            raise InputError(
                f"{class_name(text.model)} does not look up one vector for each token, so tokens have no "
                "separate gradients: use the method 'erasure-mean-embedding'"
            )
        vectors = [leaf for _, leaf in lookups]
        scores = torch.stack([self.reduce(own, vectors) for own in value_gradients(text, values, vectors)])
        signed = self.reduction is None or REDUCTIONS[self.reduction][1]
        return target_map(text, target, scores.cpu(), values.detach().cpu(), name=name, signed=signed)

    def reduce(
        self, gradient: Float[Tensor, "read d"], vectors: Sequence[Float[Tensor, "1 some d"]]
    ) -> Float[Tensor, " read"]:
        """One number for each token."""
        if self.reduction is None:
            return (gradient * torch.cat([*vectors], dim=1)[0].detach()).sum(dim=-1)
        return REDUCTIONS[self.reduction][0](gradient)


def value_gradients(
    text: ReadText, values: Float[Tensor, " values"], vectors: Sequence[Float[Tensor, "1 some d"]]
) -> Iterator[Float[Tensor, "read d"]]:
    """∂y/∂e of each value, one at a time, of the tokens of all look-ups."""
    for number, value in enumerate(values):
        keep = number + 1 < len(values)
        yield torch.cat(slopes_of(text.model, value, vectors, retain_graph=keep), dim=1)[0]
        text.progress(number + 1, len(values))
