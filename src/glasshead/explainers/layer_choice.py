"""For each text the attention map that is most faithful to its prediction, among many."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.explainers.erasure import value_changes
from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.readings import READINGS, not_square
from glasshead.explainers.removals import REMOVALS, Removal, removable
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.trace import SUMMARY, AttentionStack, StackLayer

READ = ("from", "to", "mean-columns", "max-columns")
"""The readings that are tried: of softmax the mean of rows says nothing, and the authors try these."""
TIE = 1e-9
"""Candidates whose faithfulness differs by less are one: the first is taken."""
TIE_UNITS = 16
"""Sizes that differ by so many units of rounding are one."""


class LayerChoice(StackExplainer):
    """The candidate with the largest F = Σ_i s_i Δ_i / r_i, where Δ_i = ŷ(x) − ŷ(x without i), s_i is the
    sign of a_i and r_i the number of tokens with at least |a_i|; a signed a_i of 0 adds −|Δ_i| / r_i.

    Candidates are a layer, the mean of all or their product, by a head or the mean of all, by a reading of
    the map (`glasshead.explainers.readings`); "without i" means that i becomes the unknown token. The authors
    call this Optimus Label, and F ranked faithful truthfulness. What was chosen by removals is favoured by
    every measure that removes tokens.
    """

    description = "for each text the attention map whose largest weights change ŷ most when removed"
    citation = "Mylonas, Mollas and Tsoumakas 2023"
    reads_target_fn = True
    combines_heads = False
    mirrors_classes = False
    sign_is_gauge = True

    def signed(self, context: ExplanationContext) -> bool:
        return context.observation.signed

    def own_removal(self, context: ExplanationContext) -> str:
        return removal_of(context).name

    def adds_up(self, context: ExplanationContext) -> bool:
        return True

    def read_in_words(self, context: ExplanationContext) -> str:
        return f"one map for each {context.encoded.nouns.text}"

    def settings(self, context: ExplanationContext) -> str | None:
        names: tuple[str, ...] = context.cache.get(f"{self.name} names", ())
        chosen: dict[int, int] = context.cache.get(f"{self.name} chosen", {})
        if not names:
            return None
        text = f"chosen among {len(names)} maps"
        return f"{text}: {names[chosen[0]]}" if len(chosen) == 1 else text

    def caveat(self, context: ExplanationContext) -> str:
        nouns = context.encoded.nouns
        return (
            f"the map of each {nouns.text} was chosen by the effect of removing {nouns.a_token}, so "
            "measures by deletion favour it"
        )

    def tokens(
        self, context: ExplanationContext, stack: AttentionStack, texts: Tensor
    ) -> Float[Tensor, "b n"]:
        if not stack.is_square or stack.site.above is not None:
            raise not_square(context.model, self.name)
        names, numbers = zip(*candidates(stack), strict=True)
        of_tokens = torch.stack([stack.layout.tokens(own) for own in numbers]).cpu()
        size = of_tokens.shape[-1]
        owner = context.encoded.owner[texts, :size]
        of_units = torch.zeros_like(of_tokens).scatter_add(-1, owner.expand_as(of_tokens), of_tokens)
        changes = value_changes(context, removal_of(context).logits_of_each(context))[texts, :size]
        faithful = ranked_faithfulness(
            of_units if self.signed(context) else of_units.abs(),
            changes.to(of_units),
            removable(context)[texts, :size],
            signed=self.signed(context),
        )
        best = (faithful >= faithful.amax(dim=0) - TIE).int().argmax(dim=0)  # the first of equal ones
        context.cache[f"{self.name} names"] = names
        context.cache.setdefault(f"{self.name} chosen", {}).update(
            zip(texts.tolist(), best.tolist(), strict=True)
        )
        return of_tokens[best, torch.arange(len(texts))]

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        raise NotImplementedError("the choice of a map needs the texts")


def ranked_faithfulness(
    numbers: Float[Tensor, "*c b n"],
    changes: Float[Tensor, "b n"],
    among: Bool[Tensor, "b n"],
    *,
    signed: bool,
) -> Float[Tensor, "*c b"]:
    """F of each text (`LayerChoice`), over the tokens ``among`` which it is asked; unsigned numbers all speak
    for the prediction."""
    sizes = numbers.abs().masked_fill(~among, torch.inf)
    smallest = sizes * (1 - TIE_UNITS * torch.finfo(sizes.dtype).eps)
    below = torch.searchsorted(sizes.sort(dim=-1).values, smallest.contiguous())
    ranks = among.sum(dim=-1, keepdim=True) - below
    signs = numbers.sign() if signed else torch.ones_like(numbers)
    gains = torch.where(signs == 0, -changes.abs(), signs * changes)
    return torch.where(among, gains / ranks, 0.0).sum(dim=-1)


def candidates(stack: AttentionStack) -> Iterator[tuple[str, Float[Tensor, "r k"]]]:
    """The numbers of the tokens by every map and reading, with a name: the mean of the layers and their
    product first, and of the heads their mean. Where a head was chosen, that one alone."""
    below = [layer for layer in stack.layers if layer.target != SUMMARY]
    rows = stack.row_shares.to(stack.logits)
    if len(below) < len(stack.layers):  # a learned query reads these rows
        rows = stack.read(stack.combine(stack.canonical_weights(stack.top)).to(stack.logits))
    single = [heads_of_layer(stack, layer) for layer in below]
    alike = len({own.shape for own in single}) == 1
    across = single if alike else [own[:, :1] for own in single]
    layers = {
        "mean of the layers": torch.stack(across).mean(dim=0),
        "product of the layers": reduce(lambda lower, own: own @ lower, across),
        **{f"layer {layer.record.layer}": own for layer, own in zip(below, single, strict=True)},
    }
    for where, maps in layers.items():
        for number, own in enumerate(maps.unbind(dim=1)):
            head = f"head {number - 1}" if number else f"{stack.site.heads} of the heads"
            words = where if stack.site.head is not None else f"{where}, {head}"
            for reading in READ:
                yield f"{words}, {reading}", READINGS[reading].read(own, rows, stack.mask)


def heads_of_layer(stack: AttentionStack, layer: StackLayer) -> Float[Tensor, "r m n n"]:
    """The combined map of the heads of a layer, then that of each; of a chosen head its own."""
    size = stack.mask.shape[1]
    weights = stack.canonical_weights(layer).to(stack.logits)[:, :, :size, :size]
    combined = stack.combine(weights)[:, None]
    return combined if stack.site.head is not None else torch.cat([combined, weights], dim=1)


def removal_of(context: ExplanationContext) -> Removal:
    """The unknown token instead of one; without such a token, what takes parts out of these inputs."""
    unknown = REMOVALS["unknown-token"]
    if unknown.unsupported_reason(context) is None:
        return unknown
    return REMOVALS[context.encoded.erasure.removeprefix("erasure-")]


register("layer-chosen", LayerChoice())
