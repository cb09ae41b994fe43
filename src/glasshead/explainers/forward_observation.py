"""Attention anywhere in any model, questioned by further forward passes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import AttentionInputs
from glasshead.data import Encoded, Inputs, batches
from glasshead.explainers.attention_observation import AttentionObservation
from glasshead.explainers.hierarchical_erasure import erase_words
from glasshead.models import HierarchicalClassifier
from glasshead.trace import (
    AttentionSite,
    Edit,
    LayerRecord,
    TokenLayout,
    head_signs_of,
    intervene,
    logits_of,
    record,
    target_score,
    token_layout,
)

Weigh = Callable[[LayerRecord, Bool[Tensor, "r q k"]], Float[Tensor, "r h q k"]]
"""(recorded layer, which rows and keys are read) → the weights of its heads, one way or another."""


@dataclass(frozen=True)
class ForwardObservation(AttentionObservation):
    """The weights that are read [N, n], and the model to be asked what would be if they were others.

    Contributions are of first order: Σ A ∂z/∂A over the heads and rows that are read, which is a_i o_i where
    the outputs are linear in the weights.
    """

    model: PreTrainedModel
    encoded: Encoded
    place: AttentionSite
    logits: Float[Tensor, "texts classes"]
    mask: Bool[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    is_sign_flipped: Float[Tensor, "texts tokens"]

    exact = False

    @property
    def signed(self) -> bool:
        return self.place.mechanism.signed

    @property
    def gauged(self) -> bool:
        return head_signs(self.model, self.place) is not None

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.is_sign_flipped

    def shares(self) -> Float[Tensor, "texts tokens"]:
        shares = self.mask.to(self.weights.dtype)
        for places, inputs in batches(self.encoded):
            n = inputs["input_ids"].shape[1]
            shares[places, :n] = token_layout(self.model, inputs, self.place.unit).shares(shares.dtype)
        return shares

    def contributions(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self._pull_back(target)[0]

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self._pull_back(target)[1]

    @cached_property
    def _cache(self) -> dict[bytes, tuple[Tensor, Tensor]]:
        """Contributions and slopes by target: audits ask for the same ones again and again."""
        return {}

    def _pull_back(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> tuple[Float[Tensor, "texts tokens"], Float[Tensor, "texts tokens"]]:
        """Σ A ∂z/∂A and, with the canonical signs, Σ ∂z/∂A of every token."""
        if target.ndim == 2:  # every token has a target of its own: one pass for each class
            results = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
            for k in target[self.mask].unique().tolist():
                for result, found in zip(
                    results, self._pull_back(torch.full((len(target),), k)), strict=True
                ):
                    result[target == k] = found[target == k]
            return results
        key = target.cpu().numpy().tobytes()
        if key not in self._cache:
            self._cache[key] = self._pull(target)
        return self._cache[key]

    def _pull(self, target: Int[Tensor, " texts"]) -> tuple[Tensor, Tensor]:
        results = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        sign = head_signs(self.model, self.place)
        turn = 1.0 if sign is None else sign.to(self.weights)[:, None, None].to(self.model.device)
        maps = self.place.heads * self.place.layers
        for places, inputs in batches(self.encoded, device=self.model.device, maps=maps):
            with torch.enable_grad(), record(self.model, [self.place.layer], keep_graph=True) as trace:
                logits = logits_of(self.model, inputs, rows=self.place.row)
            value = target_score(logits, target[places].to(logits.device))
            seen, where = trace.only[self.place.layer], token_layout(self.model, inputs, self.place.unit)
            (slopes,) = torch.autograd.grad(value.sum(), seen.weights)
            there = query_row_mask(slopes, where.mask, self.place)[:, None, :, None] * seen.allowed
            for result, pulls in zip(results, (seen.weights.detach() * slopes, turn * slopes), strict=True):
                tokens = where.tokens((mask_heads(pulls, self.place) * there).sum(dim=(1, 2)))
                result[places, : tokens.shape[1]] = tokens.cpu().to(result.dtype)
        # A sentence has its slope once, and each of its tokens that of the whole.
        shares = self.shares()
        return results[0], results[1] / torch.where(shares > 0, shares, 1.0)

    def zero_weight(self) -> Float[Tensor, "texts tokens classes"]:
        """The weights of the token's key become zero in the heads that are read, in all rows."""

        def without(weights: Tensor, call: AttentionInputs, gone: Tensor) -> Tensor:
            return weights.masked_fill(gone, 0.0)

        return self._without(without)

    def renormalise(self) -> Float[Tensor, "texts tokens classes"]:
        """The weights are computed anew under a mask without the token's key; no distance changes by it."""

        def without(weights: Tensor, call: AttentionInputs, gone: Tensor) -> Tensor:
            pairs = call.mask.allowed(weights.device) & ~gone
            narrowed = replace(
                call, mask=replace(call.mask, attn_mask=pairs.expand(-1, -1, weights.shape[2], -1))
            )
            return call.mechanism.weights(narrowed, call.mechanism.scores(call))

        return self._without(without)

    @torch.no_grad()
    def _without(self, change: Callable[[Tensor, AttentionInputs, Tensor], Tensor]) -> Tensor:
        """Logits for every token, or sentence, that is left out; padding keeps the text's own."""

        def edit_without(gone: Tensor) -> Edit:
            return lambda layer, weights, call: replace_heads(
                weights, change(weights, call, gone), self.place
            )

        result = self.logits[:, None, :].repeat(1, self.mask.shape[1], 1)
        if isinstance(self.model, HierarchicalClassifier) and self.place.unit == "packed":
            for one, tokens, logits in erase_words(self.model, self.encoded, self.place.layer, edit_without):
                result[one, tokens] = logits.to(result.dtype)
            return result
        owner = self.owners()
        text, token = (owner == torch.arange(owner.shape[1])).logical_and(self.mask).nonzero(as_tuple=True)
        for places, inputs in batches(self.encoded, text, self.model.device, maps=self.place.heads):
            where = token_layout(self.model, inputs, self.place.unit)
            removed = torch.zeros_like(where.real)
            removed[torch.arange(len(places)), token[places]] = True
            edit = edit_without(where.keys(removed)[:, None, None, :])
            with intervene(self.model, edit, [self.place.layer]):
                logits = logits_of(self.model, inputs)
            result[text[places], token[places]] = logits.cpu().to(result.dtype)
        return result.gather(1, owner[..., None].expand_as(result))

    def owners(self) -> Int[Tensor, "texts tokens"]:
        """The first of the tokens that share a key with each token: itself, or the first of its sentence."""
        n = self.mask.shape[1]
        owner = torch.arange(n).expand(self.mask.shape).clone()
        if self.place.unit != "sentence":
            return owner
        for places, inputs in batches(self.encoded):
            where = token_layout(self.model, inputs, self.place.unit)
            assert where.segments is not None
            row = where.row()
            text, column = where.real.nonzero(as_tuple=True)
            first = torch.full((len(where.segments.mask),), n).scatter_reduce(0, row, column, "amin")
            owner[places[text], column] = first[row]
        return owner


def observe_by_forward(
    model: PreTrainedModel, encoded: Encoded, place: AttentionSite, logits: Float[Tensor, "texts classes"]
) -> ForwardObservation:
    """Read the weights."""
    raw, turned = weighted_readings(
        model, encoded, place, logits.dtype, raw_weights, partial(canonical, model)
    )
    return ForwardObservation(model, encoded, place, logits, encoded.mask, raw, turned)


def weighted_readings(
    model: PreTrainedModel, encoded: Encoded, place: AttentionSite, dtype: torch.dtype, *ways: Weigh
) -> list[Float[Tensor, "texts tokens"]]:
    """What is read for each token, once for each way to weigh: the mean over heads and rows, times that of
    the sentence where the place has one above."""
    results = [torch.zeros(encoded.mask.shape, dtype=dtype) for _ in ways]
    layers = [place.layer] if place.above is None else [place.layer, place.above.layer]
    maps = place.heads * len(layers)
    for where_to, inputs in batches(encoded, device=model.device, maps=maps):
        with torch.no_grad(), record(model, layers) as trace:
            logits_of(model, inputs, rows=place.row)
        for result, weigh in zip(results, ways, strict=True):
            tokens = read(trace.only[place.layer], token_layout(model, inputs, place.unit), place, weigh)
            if place.above is not None:
                above = token_layout(model, inputs, "sentence")
                share = read(trace.only[place.above.layer], above, place.above, weigh)
                tokens = tokens * share / above.shares(share.dtype).clamp(min=1e-9)
            result[where_to, : tokens.shape[1]] = tokens.cpu().to(result.dtype)
    return results


def raw_weights(seen: LayerRecord, pairs: Bool[Tensor, "r q k"]) -> Float[Tensor, "r h q k"]:
    """As the model computes them."""
    return seen.weights


def canonical(
    model: PreTrainedModel, seen: LayerRecord, pairs: Bool[Tensor, "r q k"]
) -> Float[Tensor, "r h q k"]:
    """In the canonical gauge, where one was fixed."""
    return apply_head_signs(model, seen, seen.weights)


def apply_head_signs(
    model: PreTrainedModel, seen: LayerRecord, weights: Float[Tensor, "r h q k"]
) -> Float[Tensor, "r h q k"]:
    """Numbers of the heads of a layer with the canonical sign of each head, where one was fixed."""
    sign = head_signs_of(model, seen.layer)
    return weights if sign is None else weights * sign.to(weights)[None, :, None, None]


def read(seen: LayerRecord, where: TokenLayout, place: AttentionSite, weigh: Weigh) -> Float[Tensor, "b n"]:
    """The mean weight of the heads and rows that are read, for each token."""
    wanted = query_row_mask(seen.weights, where.mask, place)
    weights = mask_heads(weigh(seen, wanted[:, :, None] & where.mask[:, None]), place)
    mean = weights.sum(dim=1) / (place.heads if place.head is None else 1)
    row = wanted.to(mean.dtype)
    row = row / row.sum(dim=1, keepdim=True).clamp(min=1.0)
    return where.tokens(torch.einsum("rq,rqk->rk", row, mean))


def head_signs(model: PreTrainedModel, place: AttentionSite) -> Int[Tensor, " heads"] | None:
    """The canonical sign of each head of the layer; None where none was fixed."""
    return head_signs_of(model, place.layer)


def mask_heads(weights: Float[Tensor, "r h q k"], place: AttentionSite) -> Float[Tensor, "r h q k"]:
    """The weights of the heads that are read; zeros for the others."""
    if place.head is None:
        return weights
    mine = torch.arange(weights.shape[1], device=weights.device) == place.head
    return weights * mine[:, None, None]


def replace_heads(
    before: Float[Tensor, "r h q k"], after: Float[Tensor, "r h q k"], place: AttentionSite
) -> Float[Tensor, "r h q k"]:
    """New weights for the heads that are read; the others keep theirs."""
    if place.head is None:
        return after
    mine = torch.arange(before.shape[1], device=before.device) == place.head
    return torch.where(mine[:, None, None], after, before)


def query_row_mask(
    weights: Float[Tensor, "r h q k"], mask: Bool[Tensor, "r k"], place: AttentionSite
) -> Bool[Tensor, "r q"]:
    """Which queries are read."""
    queries = weights.shape[2]
    there = torch.zeros(len(weights), queries, dtype=torch.bool, device=weights.device)
    if place.row in ("first", "pooled"):
        there[:, 0] = True
    elif place.row == "mean":
        there |= mask
    else:
        last = (mask * torch.arange(1, mask.shape[1] + 1, device=mask.device)).amax(dim=1).sub(1).clamp(min=0)
        there[torch.arange(len(weights)), last] = True
    return there


def logits_with_edit(seen: ForwardObservation, inputs: Inputs, edit: Edit) -> Float[Tensor, "b classes"]:
    """Logits of a batch whose weights, in the heads that are read, are what the edit makes of them."""

    def mine(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return replace_heads(weights, edit(layer, weights, call), seen.place)

    with torch.no_grad(), intervene(seen.model, mine, [seen.place.layer]):
        return logits_of(seen.model, inputs).cpu()
