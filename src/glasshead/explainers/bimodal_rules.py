"""What two streams of vectors know of each other: the rules of Chefer et al. for models of two modalities."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.trace import SUMMARY, AttentionStack, StackLayer

Relevance = dict[tuple[str, str], Tensor]
"""R of a stream about a stream [r, vectors, vectors], by both names."""


def normalise_relevance(own: Float[Tensor, "r s s"]) -> Float[Tensor, "r s s"]:
    """R̄ = (R − I) with rows scaled to one, plus I; a row of zeros stays (rules 8 and 9)."""
    identity = torch.eye(own.shape[-1], dtype=own.dtype, device=own.device)
    added = own - identity
    totals = added.sum(dim=-1, keepdim=True)
    return added / torch.where(totals == 0, 1.0, totals) + identity


def attend_to_own(relevance: Relevance, stream: str, weights: Float[Tensor, "r s s"]) -> Relevance:
    """R_s· + Ā_ss R_s· of everything that a stream knows (rules 6 and 7)."""
    return {
        names: known + weights @ known if names[0] == stream else known for names, known in relevance.items()
    }


def attend_to_other(
    relevance: Relevance, stream: str, source: str, weights: Float[Tensor, "r s q"]
) -> Relevance:
    """R_sq + R̄_ssᵀ Ā_sq R̄_qq and R_ss + Ā_sq R_qs, of a stream s that attends to a source q (rules 10, 11).

    Source: Chefer, Gur and Wolf (2021), "Generic attention-model explainability".
    """
    own, others = (
        normalise_relevance(relevance[stream, stream]),
        normalise_relevance(relevance[source, source]),
    )
    return relevance | {
        (stream, source): relevance[stream, source] + own.transpose(-1, -2) @ weights @ others,
        (stream, stream): relevance[stream, stream] + weights @ relevance[source, stream],
    }


def follow_streams(
    stack: AttentionStack, weights_of: Callable[[StackLayer], Float[Tensor, "r q k"]]
) -> Float[Tensor, "r q k"]:
    """What the vectors of the last stream know of the tokens of the text, but for their own token at the
    start; ``weights_of`` a layer is Ā."""
    sizes = {stream: start.shape[1] for stream, start in stack.start.items()}
    like = next(iter(stack.start.values()))
    relevance: Relevance = {
        (one, other): like.new_zeros(len(stack.mask), sizes[one], sizes[other])
        + (torch.eye(sizes[one]).to(like) if one == other else 0.0)
        for one in sizes
        for other in sizes
    }
    for layer in stack.layers:
        weights = weights_of(layer).to(like)
        if layer.target == SUMMARY:
            return sum(
                weights @ known @ stack.start[other].to(like)
                for (one, other), known in relevance.items()
                if one == layer.source
            )  # type: ignore[return-value]
        if layer.target == layer.source:
            relevance = attend_to_own(relevance, layer.target, weights)
        else:
            relevance = attend_to_other(relevance, layer.target, layer.source, weights)
    top = stack.top.target
    about = [
        (known - torch.eye(sizes[top]).to(known) if other == top else known) @ stack.start[other].to(like)
        for (one, other), known in relevance.items()
        if one == top
    ]
    return torch.stack(about).sum(dim=0)
