"""The weights of one attention anywhere in any model; what if they were others, by further forward passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import AttentionInputs
from glasshead.data import Encoded, Inputs, batch_size, batches, length_of
from glasshead.explainers.attention_observation import (
    AttentionChange,
    AttentionObservation,
    OnTexts,
    not_watched,
)
from glasshead.explainers.first_pass import FirstPass
from glasshead.explainers.hierarchical_erasure import erase_words
from glasshead.models import HierarchicalClassifier
from glasshead.trace import (
    AttentionSite,
    Edit,
    ForwardPass,
    KnownStates,
    LayerRecord,
    ReadRows,
    ResumedPasses,
    Shortcut,
    TokenLayout,
    combine_heads,
    find_shortcut_for,
    head_signs_of,
    logits_of,
    not_known,
    record,
    target_score,
    token_layout,
    word_pieces,
)

WeightFunction = Callable[[LayerRecord, Bool[Tensor, "r q k"]], Float[Tensor, "r h q k"]]
"""(recorded layer, which rows and keys are read) → weights of its heads: raw, canonical or effective."""


@dataclass(frozen=True)
class ForwardObservation(AttentionObservation):
    """The selected weights [N, n], and the model, which runs again with other weights.

    Contributions are of first order: Σ A ∂z/∂A over the selected heads and rows, which is a_i o_i where the
    outputs are linear in the weights.
    """

    model: PreTrainedModel
    encoded: Encoded
    site: AttentionSite
    rows: ReadRows
    logits: Float[Tensor, "texts classes"]
    mask: Bool[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    canonical_weights: Float[Tensor, "texts tokens"]
    progress: OnTexts = not_watched
    first_pass: FirstPass | None = None
    known: KnownStates | None = None

    exact = False

    @property
    def signed(self) -> bool:
        return self.site.mechanism.signed

    @property
    def has_gauge(self) -> bool:
        return head_signs(self.model, self.site) is not None

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.canonical_weights

    def shares(self) -> Float[Tensor, "texts tokens"]:
        shares = self.mask.to(self.weights.dtype)
        for rows, inputs in batches(self.encoded):
            n = length_of(inputs)
            shares[rows, :n] = token_layout(self.model, inputs, self.site.key_unit).shares(shares.dtype)
        return shares

    def contributions(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self._gradient_sums(target)[0]

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self._gradient_sums(target)[1]

    @cached_property
    def _cache(self) -> dict[bytes, tuple[Tensor, Tensor]]:
        """Contributions and slopes by target: audits ask for the same ones again and again."""
        return {}

    def _gradient_sums(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> tuple[Float[Tensor, "texts tokens"], Float[Tensor, "texts tokens"]]:
        """Σ A ∂z/∂A and, with the canonical signs, Σ ∂z/∂A of every token."""
        if target.ndim == 1:
            return self._sums_by_target([target])[0]
        # Every token has a target of its own: all classes that occur.
        results = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        classes = target[self.mask].unique()
        by_class = self._sums_by_target([torch.full((len(target),), k) for k in classes.tolist()])
        for k, sums in zip(classes, by_class, strict=True):
            for result, values in zip(results, sums, strict=True):
                result[target == k] = values[target == k]
        return results

    def _sums_by_target(self, targets: list[Int[Tensor, " texts"]]) -> list[tuple[Tensor, Tensor]]:
        """The sums for each target, those that were not asked for before in one pass."""
        keys = [target.cpu().numpy().tobytes() for target in targets]
        missing = {key: t for key, t in zip(keys, targets, strict=True) if key not in self._cache}
        if missing:
            new = self._compute_gradient_sums(torch.stack(list(missing.values())))
            self._cache.update(zip(missing, zip(*new, strict=True), strict=True))
        return [self._cache[key] for key in keys]

    def _compute_gradient_sums(
        self, targets: Int[Tensor, "targets texts"]
    ) -> tuple[Float[Tensor, "targets texts tokens"], Float[Tensor, "targets texts tokens"]]:
        """Gradient sums of several targets, whose gradients are taken of one pass."""
        results = tuple(self.weights.new_zeros(len(targets), *self.weights.shape) for _ in range(2))
        signs = head_signs(self.model, self.site)
        sign = 1.0 if signs is None else signs.to(self.weights)[:, None, None].to(self.model.device)
        maps = self.site.num_heads * self.site.num_layers
        for texts, inputs in batches(self.encoded, device=self.model.device, maps=maps):
            logits, layer = self._layer_in_graph(inputs)
            layout = token_layout(self.model, inputs, self.site.key_unit)
            read = self.rows.of(texts, layout, layer.weights.shape[2]) > 0
            some = read.any(dim=0)  # rows that no text reads count nowhere
            counted = read[:, None, some, None] * layer.allowed[:, :, some]
            for number, target in enumerate(targets[:, texts].to(logits.device)):
                value = target_score(logits, target).sum()
                more = number < len(targets) - 1 or self.first_pass is not None
                (slopes,) = torch.autograd.grad(
                    value, layer.weights, retain_graph=more, allow_unused=True, materialize_grads=True
                )
                slopes = slopes[:, :, some]
                terms = layer.weights.detach()[:, :, some] * slopes, sign * slopes
                for result, heads in zip(results, terms, strict=True):
                    tokens = layout.tokens((mask_heads(heads, self.site) * counted).sum(dim=(1, 2)))
                    result[number, texts, : tokens.shape[1]] = tokens.cpu().to(result.dtype)
        # A sentence has its slope once, and each of its tokens that of the whole.
        shares = self.shares()
        return results[0], results[1] / torch.where(shares > 0, shares, 1.0)

    def _layer_in_graph(self, inputs: Inputs) -> tuple[Tensor, LayerRecord]:
        """The logits of a batch, and the selected layer, from which they can be differentiated."""
        if self.first_pass is not None and self.first_pass.layer == self.site.layer:
            return self.first_pass.logits, self.first_pass.calls[self.site.layer]

        def run() -> tuple[Tensor, tuple[Tensor, LayerRecord]]:
            with torch.enable_grad(), record(self.model, [self.site.layer], keep_graph=True) as trace:
                logits = logits_of(self.model, inputs, rows=self.site.row)
            return logits, (logits, trace.only[self.site.layer])

        return run()[1] if self.known is None else self.known.read(self.model, inputs, self.site.layer, run)

    @cached_property
    def shortcut(self) -> Shortcut:
        """What does not have to run again when the attention of the layer is edited."""
        find = find_shortcut_for if self.known is None else self.known.shortcut
        return find(self.model, self.encoded, self.site.layer)

    def passes(self, inputs: Inputs) -> ResumedPasses:
        """Passes over a batch of texts with other weights in the layer."""
        known = not_known if self.known is None else self.known.skip
        return ResumedPasses(self.model, inputs, self.shortcut, known)

    @torch.no_grad()
    def without(
        self,
        change: AttentionChange,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """The keys are removed from the selected heads, in all rows; distances stay."""
        result = self.logits.new_zeros(len(texts), self.logits.shape[1])
        which, number = texts.unique(return_inverse=True)
        done = 0
        # Few texts at a time, so that what is kept of them is no more than a batch of their variants.
        for places, inputs in batches(self.encoded, which, self.model.device, maps=self.site.num_heads):
            passes, length = self.passes(inputs), length_of(inputs)
            place = torch.full((len(which),), -1)
            place[places] = torch.arange(len(places))
            (variants,) = (place[number] >= 0).nonzero(as_tuple=True)
            for part in variants.split(batch_size(length, self.site.num_heads)):
                row = place[number[part]]
                layout = token_layout(self.model, passes.some(row), self.site.key_unit)
                gone = layout.keys(removed[part, :length].to(layout.real.device))
                edit = removal_edit(self.site, change, gone[:, None, None, :])
                result[part] = passes.logits(edit, row).cpu().to(result.dtype)
            done += len(places)
            self.progress(done, len(which))
        return result

    @torch.no_grad()
    def without_each(self, change: AttentionChange) -> Float[Tensor, "texts tokens classes"]:
        result = self.logits[:, None, :].repeat(1, self.mask.shape[1], 1)
        model, tokens_alone = self.model, not self.encoded.has_larger_units
        if tokens_alone and isinstance(model, HierarchicalClassifier) and self.site.key_unit == "packed":
            erased = erase_words(
                model, self.encoded, self.site.layer, partial(removal_edit, self.site, change)
            )
            for index, tokens, logits in erased:
                result[index, tokens] = logits.to(result.dtype)
            return result
        owner = self.owners()
        columns = torch.arange(owner.shape[1])
        text, token = (owner == columns).logical_and(self.mask).nonzero(as_tuple=True)
        result[text, token] = self.without(change, text, (owner[text] == token[:, None]) & self.mask[text])
        return result.gather(1, owner[..., None].expand_as(result))

    def owners(self) -> Int[Tensor, "texts tokens"]:
        """The first of the tokens that share a key with each token: itself, or the first of its sentence."""
        n = self.mask.shape[1]
        owner = self.encoded.owner.clone()
        if self.site.key_unit != "sentence":
            return owner
        for rows, inputs in batches(self.encoded):
            layout = token_layout(self.model, inputs, self.site.key_unit)
            assert layout.segments is not None
            segment = layout.row_of_tokens()
            text, column = layout.real.nonzero(as_tuple=True)
            first = torch.full((len(layout.segments.mask),), n).scatter_reduce(0, segment, column, "amin")
            owner[rows[text], column] = first[segment]
        return owner


def observe_by_forward(
    model: PreTrainedModel,
    encoded: Encoded,
    site: AttentionSite,
    rows: ReadRows,
    logits: Float[Tensor, "texts classes"],
    progress: OnTexts = not_watched,
    first_pass: FirstPass | None = None,
    known: KnownStates | None = None,
) -> ForwardObservation:
    """Read the weights, those of a single text in the pass that there was."""
    functions = raw_weights, partial(canonical_weights, model)
    calls = None if first_pass is None else first_pass.calls
    raw, canonical = observe_weights(
        model, encoded, site, rows, logits.dtype, *functions, calls=calls, known=known
    )
    mask = encoded.mask
    return ForwardObservation(
        model, encoded, site, rows, logits, mask, raw, canonical, progress, first_pass, known
    )


def observe_weights(
    model: PreTrainedModel,
    encoded: Encoded,
    site: AttentionSite,
    rows: ReadRows,
    dtype: torch.dtype,
    *weight_functions: WeightFunction,
    by_word: bool = False,
    calls: ForwardPass | None = None,
    known: KnownStates | None = None,
) -> list[Float[Tensor, "texts tokens"]]:
    """The weight of each token, once for each weight function: of the heads combined, in the ``rows`` that
    are read, times that of the sentence where the site has one above. ``by_word`` sums those of each head
    over the tokens of a word first. ``calls`` are those of the pass, where there was one."""
    results = [torch.zeros(encoded.mask.shape, dtype=dtype) for _ in weight_functions]
    layers = [site.layer] if site.above is None else [site.layer, site.above.layer]
    maps = site.num_heads * len(layers)
    for texts, inputs in batches(encoded, device=model.device, maps=maps):
        records = calls
        if records is None:

            def run(inputs: Inputs = inputs) -> tuple[Tensor, ForwardPass]:
                with torch.no_grad(), record(model, layers) as trace:
                    logits = logits_of(model, inputs, rows=site.row)
                return logits, trace.only

            records = run()[1] if known is None else known.read(model, inputs, min(layers), run)
        words = encoded.words[texts.numpy()].tolist()
        for result, function in zip(results, weight_functions, strict=True):
            weigh = partial(word_weights, function, words) if by_word else function
            layout = token_layout(model, inputs, site.key_unit)
            tokens = mean_weights(records[site.layer], layout, site, rows, texts, weigh)
            if site.above is not None:
                sentences = token_layout(model, inputs, "sentence")
                assert rows.above is not None
                share = mean_weights(
                    records[site.above.layer], sentences, site.above, rows.above, texts, weigh
                )
                tokens = tokens * share / sentences.shares(share.dtype).clamp(min=1e-9)
            result[texts, : tokens.shape[1]] = tokens.detach().cpu().to(result.dtype)
    return results


def raw_weights(layer: LayerRecord, pairs: Bool[Tensor, "r q k"]) -> Float[Tensor, "r h q k"]:
    """Weights as the model computes them."""
    return layer.weights


def canonical_weights(
    model: PreTrainedModel, layer: LayerRecord, pairs: Bool[Tensor, "r q k"]
) -> Float[Tensor, "r h q k"]:
    """Weights in the canonical gauge, where one was fixed."""
    return apply_head_signs(model, layer, layer.weights)


def word_weights(
    weigh: WeightFunction,
    words: Sequence[Sequence[int]],
    layer: LayerRecord,
    pairs: Bool[Tensor, "r q k"],
) -> Float[Tensor, "r h q k"]:
    """The sum over the tokens of each word, at its first token."""
    weights = weigh(layer, pairs)
    pieces = word_pieces(words, weights.shape[-1])
    return torch.einsum("rhqk,rwk->rhqw", weights, pieces.to(weights))


def apply_head_signs(
    model: PreTrainedModel, layer: LayerRecord, weights: Float[Tensor, "r h q k"]
) -> Float[Tensor, "r h q k"]:
    """Numbers of the heads of a layer with the canonical sign of each head, where one was fixed."""
    sign = head_signs_of(model, layer.layer)
    return weights if sign is None else weights * sign.to(weights)[None, :, None, None]


def mean_weights(
    layer: LayerRecord,
    layout: TokenLayout,
    site: AttentionSite,
    rows: ReadRows,
    texts: Int[Tensor, " b"],
    weigh: WeightFunction,
) -> Float[Tensor, "b n"]:
    """The weight of each token: that of the selected heads and rows, combined."""
    shares = rows.of(texts, layout, layer.weights.shape[2])
    weights = weigh(layer, (shares > 0)[:, :, None] & layout.mask[:, None])
    some = (shares > 0).any(dim=0)  # rows that no text reads count nowhere
    combined = combine_heads(weights[:, :, some], site)
    return layout.tokens(torch.einsum("rq,rqk->rk", shares[:, some].to(combined), combined))


def head_signs(model: PreTrainedModel, site: AttentionSite) -> Int[Tensor, " heads"] | None:
    """The canonical sign of each head of the layer; None where none was fixed."""
    return head_signs_of(model, site.layer)


def mask_heads(weights: Float[Tensor, "r h q k"], site: AttentionSite) -> Float[Tensor, "r h q k"]:
    """The weights of the selected heads; zeros for the others."""
    if site.head is None:
        return weights
    is_read = torch.arange(weights.shape[1], device=weights.device) == site.head
    return weights * is_read[:, None, None]


def replace_heads(
    before: Float[Tensor, "r h q k"], after: Float[Tensor, "r h q k"], site: AttentionSite
) -> Float[Tensor, "r h q k"]:
    """New weights for the selected heads; the others keep theirs."""
    if site.head is None:
        return after
    is_read = torch.arange(before.shape[1], device=before.device) == site.head
    return torch.where(is_read[:, None, None], after, before)


def removal_edit(site: AttentionSite, change: AttentionChange, gone: Bool[Tensor, "r 1 1 k"]) -> Edit:
    """The edit that takes keys out of the selected heads, or of all heads where their values go."""

    def edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        if change == "zero-value":
            return weights.masked_fill(gone, 0.0)
        changed = (
            renormalise_weights(call, gone) if change == "renormalise" else weights.masked_fill(gone, 0.0)
        )
        return replace_heads(weights, changed, site)

    return edit


def renormalise_weights(call: AttentionInputs, gone: Bool[Tensor, "r 1 1 k"]) -> Float[Tensor, "r h q k"]:
    """The weights under a mask that forbids some keys."""
    pairs = call.mask.allowed(call.q.device) & ~gone
    queries = call.q.shape[2]
    narrowed = replace(call, mask=replace(call.mask, attn_mask=pairs.expand(-1, -1, queries, -1)))
    return call.mechanism.weights(narrowed, call.mechanism.scores(call))


def edit_read_heads(site: AttentionSite, edit: Edit) -> Edit:
    """Apply the edit to the selected heads; the others keep their weights."""
    return lambda layer, weights, call: replace_heads(weights, edit(layer, weights, call), site)
