"""What attention brings to every target of an answer from each token before it, by the direct path."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.generation.attention_rows import calls_of
from glasshead.generation.call_kinds import CROSS, ENCODER
from glasshead.generation.method import RowMethod, target_map
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.huggingface import arithmetic_of
from glasshead.inside import HeadWeights, direct_path
from glasshead.results import WrittenMap
from glasshead.trace import AttentionSelector


class DirectRows(RowMethod):
    """Σ a_tj ∂y_t/∂a_tj over all heads, the derivative through no later head and no later MLP: of a logit
    what heads bring to it from token j. The MLPs and the last token's own vector are left out: what they add
    belongs to no token.

    One pass forward, one backward for all targets: on this path no row reaches the target of another.
    """

    description = "what all heads add to the logit from the token, directly: Σ a·T·w"
    citation = "Elhage et al. 2021"

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        exact = torch.promote_types(arithmetic_of(text.model), torch.float32)
        with direct_path(text.model, (), exact) as path:
            logits = text.logits()
        values = target(logits)[0]
        leaves = [one.weights for one in path.heads]
        slopes = torch.autograd.grad(values.sum(), leaves, allow_unused=True, materialize_grads=True)
        rows = text.decoder_rows
        first = places_of_keys(text, path.heads)
        scores = torch.zeros(len(rows), text.before.shape[1], dtype=values.dtype, device=values.device)
        for one, slope in zip(path.heads, slopes, strict=True):
            if one.call in first:
                own: Float[Tensor, "answer k"] = (one.weights * slope)[0].sum(dim=0)[rows].detach()
                start = first[one.call]
                scores[:, start : start + own.shape[1]] += own
        if target.whole:
            scores = scores.sum(dim=0, keepdim=True)
        return target_map(text, target, scores.cpu(), values.detach().cpu(), name=name, signed=True)


def places_of_keys(text: ReadText, heads: list[HeadWeights]) -> dict[int, int]:
    """By attention call where the first token stands that it looks at; an encoder's calls write no token."""
    if not text.source:
        return {one.call: 0 for one in heads}
    return {
        call.layer: 0 if kind == CROSS else text.source
        for kind, calls in calls_of(text).items()
        for call in calls
        if kind != ENCODER
    }
