"""Attention rollout: attention maps multiplied layer by layer, with the residual path next to each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.arrays import AnyFloats
from glasshead.errors import InputError
from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.models import PooledClassifier
from glasshead.statistics import mean_interval
from glasshead.trace import ROW_SUM_TOLERANCE, AttentionStack, StackLayer

RESIDUAL, DISCARD = 0.5, 0.0
ROW_ROUNDING = 1e-9
"""So much less than a whole number of keys is that number: 0.53 · 100 is 52.99999… even in float64."""

TIE_UNITS = 16
"""Weights that differ by so many units of rounding are alike: those of several heads were added up."""
NO_DIFFERENCE = 1e-6
"""Shares of this size come from rounding."""

Shares = Callable[[StackLayer], Float[Tensor, "r q k"]]
"""The map of a layer, whose rows sum to one."""


class Rollout(StackExplainer):
    """R_ℓ = (1 − r) A_ℓ R_{ℓ−1} + r R_{ℓ−1} with R_0 = I, A_ℓ the combined map of the heads, r the share of
    the residual path (0.5). Values and the rest of a layer are not counted.

    ``discard`` d sets the smallest weights of each row to zero and scales the rest to one. It removes at
    most the share d of the keys, and none as large as one that stays. Rows must be non-negative and sum to
    one: ``absolute`` uses |a| / Σ|a| where they do not. A decoder adds two steps for each of its layers,
    one from its own past and one from the encoder; a learned query has no residual.
    """

    citation = "Abnar and Zuidema 2020"

    def __init__(
        self, *, absolute: bool = False, residual: float = RESIDUAL, discard: float = DISCARD
    ) -> None:
        self.absolute, self.residual, self.discard = absolute, residual, discard
        self.description = "attention multiplied through all layers, with the residual paths" + (
            ", of the sizes of the weights" if absolute else ""
        )

    def with_options(self, options: dict[str, float | str]) -> Rollout:
        defaults = {"residual": self.residual, "discard": self.discard}
        shares = take_options(self.name, options, defaults)
        for option, value in shares.items():
            if isinstance(value, str) or not 0 <= value < 1:
                raise InputError(f"{option} must be a share from 0 to below 1, not {value}")
        return Rollout(absolute=self.absolute, **shares)

    def settings(self, context: ExplanationContext) -> str | None:
        parts = [] if isinstance(context.model, PooledClassifier) else [f"residual {self.residual:g}"]
        if self.discard:
            parts.append(f"smallest {self.discard:.0%} of each row discarded")
        return ", ".join(parts) or None

    def caveat(self, context: ExplanationContext) -> str | None:
        """Through causal layers, everything drifts to the first token."""
        self.importance(context)
        drift: list[Tensor] = context.cache[f"{self.name} drift"]
        return drift_in_words(*torch.cat(drift).T.numpy()) if drift else None

    def adds_up(self, context: ExplanationContext) -> bool:
        return super().adds_up(context) and not self.discard and not has_signed_sizes(context, self.absolute)

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        context.cache[f"{self.name} drift"] = []
        return discard_smallest(pooling_shares(context, self.name, absolute=self.absolute), self.discard)

    def tokens(
        self, context: ExplanationContext, stack: AttentionStack, texts: Tensor
    ) -> Float[Tensor, "b n"]:
        result = super().tokens(context, stack, texts)
        drift = context.cache.setdefault(f"{self.name} drift", [])
        if stack.is_causal and context.site is not None and stack.site is context.site:
            null = stack.layout.tokens(self.roll(stack, uniform_shares))
            several = stack.inputs["attention_mask"].sum(dim=1) > 1
            drift.append(torch.stack([result[several, 0], null[several, 0]], dim=1).double().cpu())
        return result

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        return self.roll(stack, self.shares_of(stack))

    def all_rows(self, stack: AttentionStack) -> Float[Tensor, "r q k"]:
        """R of the selected layer: the share of every key in each of its rows."""
        return self.follow(stack, self.shares_of(stack))

    def shares_of(self, stack: AttentionStack) -> Shares:
        """How the map of a layer is computed."""
        method = None if self.absolute else self.name
        return lambda layer: layer_shares(stack, layer, self.discard, method)

    def roll(self, stack: AttentionStack, shares: Shares) -> Float[Tensor, "r k"]:
        """The selected rows of the product of the maps that ``shares`` gives. The rows are multiplied by
        one map after the other, from the last to the first, so that only vectors are stored."""
        rows = {stack.top.target: stack.row_shares.to(stack.logits)}
        for layer in reversed(stack.layers):
            if layer.target not in rows:
                continue
            own = rows.pop(layer.target)
            attended = torch.einsum("rq,rqk->rk", own, shares(layer))
            if not layer.is_first:
                rows[layer.target] = self.residual * own
                attended = (1 - self.residual) * attended
            rows[layer.source] = rows[layer.source] + attended if layer.source in rows else attended
        known = [torch.einsum("rs,rsk->rk", own, stack.start[name].to(own)) for name, own in rows.items()]
        return torch.stack(known).sum(dim=0)[:, : stack.mask.shape[1]]

    def follow(self, stack: AttentionStack, shares: Shares) -> Float[Tensor, "r q k"]:
        """The product of the maps that ``shares`` gives."""

        def step(layer: StackLayer, states: dict[str, Tensor]) -> Tensor:
            attended = shares(layer) @ states[layer.source].to(stack.logits)
            if layer.is_first:
                return attended
            return (1 - self.residual) * attended + self.residual * states[layer.target].to(attended)

        return stack.follow(step)


def layer_shares(
    stack: AttentionStack, layer: StackLayer, discard: float = DISCARD, method: str | None = None
) -> Float[Tensor, "r q k"]:
    """Sizes of the combined weights of a layer, every row scaled to one; rows without weight stay zero.

    Raises:
        InputError: if a ``method`` takes them for shares of a whole, and they are none.
    """
    weights = layer.weights
    if method is not None:
        stack.check_rows(layer, weights, method, f"{method.split('+')[0]}-absolute")
    joined = stack.join(layer, weights)
    sizes = stack.combine(joined.abs() if layer.record.call.mechanism.signed else joined).to(stack.logits)
    return stack.spread(layer, discard_smallest(scale_rows(sizes), discard))


def has_signed_sizes(context: ExplanationContext, absolute: bool) -> bool:
    """Whether sizes are taken of weights with signs, which those of a divided word's tokens may not share."""
    return absolute and context.site is not None and context.site.mechanism.signed


def uniform_shares(layer: StackLayer) -> Float[Tensor, "r q k"]:
    """Equal weights of all keys that a query may look at."""
    return scale_rows(layer.record.allowed[:, 0].to(layer.record.output.dtype))


def scale_rows(weights: Float[Tensor, "*r k"]) -> Float[Tensor, "*r k"]:
    """Rows that sum to one, or to zero."""
    total = weights.sum(dim=-1, keepdim=True)
    return weights / torch.where(total > 0, total, 1.0)


def discard_smallest(weights: Float[Tensor, "*r k"], share: float) -> Float[Tensor, "*r k"]:
    """Rows without the smallest ``share`` of the keys that have weight, scaled to one again. All stay that
    are as large as the smallest that stays: no order of the text decides between them."""
    if not share:
        return weights
    keys = (weights > 0).sum(dim=-1, keepdim=True)
    discarded = (share * keys.double() + ROW_ROUNDING).floor().long()
    last = (keys - discarded - 1).clamp(min=0)
    smallest = weights.sort(dim=-1, descending=True).values.gather(-1, last)
    kept = weights >= smallest * (1 - TIE_UNITS * torch.finfo(weights.dtype).eps)
    return scale_rows(weights * kept)


def drift_in_words(own: AnyFloats, uniform: AnyFloats) -> str | None:
    """The share of the first token in texts, compared with uniform attention of causal layers."""
    difference = mean_interval(own - uniform, rng=np.random.default_rng(0))
    if not difference.n:
        return None
    compared, baseline = "to be compared with", "one text"
    if (ends_of_difference := difference.interval_or_point) is not None:
        low, high = ends_of_difference
        compared = "which is not shown to differ from"
        if low > NO_DIFFERENCE or high < -NO_DIFFERENCE:
            compared = "more than" if low > 0 else "less than"
        mean, *ends = (f"{100 * value + 0.0:.1f}" for value in ((own - uniform).mean(), low, high))
        baseline = f"difference {mean} points [{', '.join(ends)}], {difference.n} texts".replace("-", "−")
    return (
        f"the first token has {own.mean():.0%} of these numbers, {compared} the {uniform.mean():.0%} that "
        f"causal layers would leave there if all attention were uniform ({baseline})"
    )


def pooling_shares(
    context: ExplanationContext, method: str, *, absolute: bool
) -> Float[Tensor, "texts tokens"]:
    """The weights of the one attention of a pooled classifier, as shares of a whole.

    Raises:
        InputError: if they are none, unless sizes are taken.
    """
    weights = context.observation.weights
    total = weights.sum(dim=-1)[context.encoded.mask.any(dim=-1)]
    if not absolute and (context.observation.signed or bool(((total - 1).abs() > ROW_SUM_TOLERANCE).any())):
        raise InputError(
            "the weights of this model have signs or do not sum to one, and "
            f"{method!r} needs weights that sum to one: use {method.split('+')[0] + '-absolute'!r}"
        )
    return scale_rows(weights.abs())


register("rollout", Rollout())
register("rollout-absolute", Rollout(absolute=True))
