"""All attention calls between the tokens of a text and the row that a prediction reads, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import LearnedQueryAttention
from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.models import HierarchicalClassifier
from glasshead.trace.attention_site import AttentionSite, combine_heads, forward, is_causal
from glasshead.trace.head_gauges import head_signs_of
from glasshead.trace.hooks import attach_hook
from glasshead.trace.post_norm import BlockNorm, NormWatcher
from glasshead.trace.read_rows import ReadRows
from glasshead.trace.record import record
from glasshead.trace.records import ForwardPass, LayerRecord
from glasshead.trace.token_layout import TokenLayout, token_layout
from glasshead.trace.word_map import word_pieces

TEXT, DECODER, SUMMARY = "text", "decoder", "summary"
"""Streams of vectors: those of a text, those of a decoder that reads what stands before, and the one vector
of a learned query."""
ROW_SUM_TOLERANCE = 1e-4


@dataclass(frozen=True)
class StackLayer:
    """One attention call: vectors of the stream ``target`` look at those of ``source``.

    ``is_first`` says that the target has no earlier state: a learned query has no residual.
    ``gradient`` [r, h, q, k] is the derivative of the explained score with respect to the weights, ``norm``
    the layer norm behind the call. Both exist only if requested.
    """

    record: LayerRecord
    source: str
    target: str
    is_first: bool
    gradient: Float[Tensor, "r h q k"] | None = None
    norm: BlockNorm | None = None

    @property
    def weights(self) -> Float[Tensor, "r h q k"]:
        """The weights, computed anew each time, so that only one layer is in memory."""
        record = self.record
        if record.scores_and_weights is not None:
            return record.scores_and_weights[1].detach()
        return record.call.mechanism.weights(record.call, record.call.mechanism.scores(record.call))

    @property
    def description(self) -> str:
        """The layer's name, for messages."""
        return f"layer {self.record.layer} ({self.record.name})"


@dataclass(frozen=True)
class AttentionStack:
    """The attention calls of one pass over a batch, up to the selected one, in their order.

    ``start`` holds for each stream what its vectors know about the tokens before any attention [r, stream,
    k]: a vector of a text knows its own token, one of a decoder the previous token. The states that a
    method follows through the layers have the same shape. Encoder–decoders have the streams text and
    decoder; cross-attention leads from the one to the other.

    ``pieces`` exists at the level of words (`by_word`): the keys of each stream that are one word. Methods
    then `join` the columns of a word before any nonlinear step, and `spread` the result, so that a word is
    one key.
    """

    model: PreTrainedModel
    inputs: Inputs
    site: AttentionSite
    layers: tuple[StackLayer, ...]
    layout: TokenLayout
    row_shares: Float[Tensor, "r q"]
    """The share of each row of the last layer in what is read: one row, or several with their weights."""
    logits: Float[Tensor, "b classes"]
    start: Mapping[str, Float[Tensor, "r stream k"]] = field(repr=False)
    pieces: Mapping[str, Bool[Tensor, "r w k"]] | None = field(default=None, repr=False)

    @property
    def mask(self) -> Bool[Tensor, "r k"]:
        """The real tokens of each row."""
        return self.layout.mask

    @property
    def top(self) -> StackLayer:
        """The selected layer."""
        return self.layers[-1]

    @property
    def has_decoder(self) -> bool:
        """Whether a decoder reads the text a second time."""
        return any(layer.target == DECODER for layer in self.layers)

    @property
    def reads_answer(self) -> bool:
        """Whether a decoder reads an answer instead, whose vectors are not tokens of the text."""
        return decodes_answer(self.model) and DECODER in self.start

    def places(self, keys: NDArray[np.integer[Any]]) -> dict[str, NDArray[np.integer[Any]]]:
        """The vectors of each stream that are not padding, from the real tokens of a text."""
        answer = np.arange(self.start[DECODER].shape[1]) if self.reads_answer else keys
        return {TEXT: keys, DECODER: answer, SUMMARY: np.array([0])}

    @property
    def is_square(self) -> bool:
        """Whether every call, except that of a learned query on top, is self-attention over the tokens of a
        text."""
        below = [layer for layer in self.layers if layer.target != SUMMARY]
        return bool(below) and all(layer.source == layer.target == TEXT for layer in below)

    @property
    def is_causal(self) -> bool:
        """Whether the vectors of a text see no later tokens."""
        own = [layer.record for layer in self.layers if layer.source == layer.target == TEXT]
        return bool(own) and all(is_causal(record, self.mask) for record in own)

    def combine(self, maps: Float[Tensor, "r h q k"]) -> Float[Tensor, "r q k"]:
        """One map: that of one head, or of all heads as the site combines them.

        Raises:
            InputError: if a layer has no such head.
        """
        if maps.shape[1] == 1:
            return maps[:, 0]
        if self.site.head is not None and self.site.head >= maps.shape[1]:
            raise InputError(f"not every layer has a head {self.site.head}: choose one below {maps.shape[1]}")
        return combine_heads(maps, self.site)

    def by_word(self, words: Sequence[Sequence[int]]) -> AttentionStack:
        """The stack at the level of words, given the word of each token of each text."""
        shifted: dict[str, Sequence[Sequence[int]]] = {TEXT: words, DECODER: [[-1, *own] for own in words]}
        if self.reads_answer:
            shifted[DECODER] = [range(self.start[DECODER].shape[1])] * len(words)
        pieces = {
            stream: word_pieces(shifted[stream], start.shape[1]) for stream, start in self.start.items()
        }
        return replace(self, pieces={stream: own.to(self.mask.device) for stream, own in pieces.items()})

    def join(self, layer: StackLayer, maps: Float[Tensor, "r *h k"]) -> Float[Tensor, "r *h k"]:
        """The sum of the keys of each word at its first token, zeros at the others; tokens as they are."""
        if self.pieces is None:
            return maps
        return torch.einsum("r...k,rwk->r...w", maps, self.pieces[layer.source].to(maps))

    def join_vectors(
        self, layer: StackLayer, vectors: Float[Tensor, "r *q k d"]
    ) -> Float[Tensor, "r *q k d"]:
        """Join a vector for each key."""
        return self.join(layer, vectors.movedim(-2, -1)).movedim(-1, -2)

    def spread(self, layer: StackLayer, maps: Float[Tensor, "r q k"]) -> Float[Tensor, "r q k"]:
        """Equal shares of the number of each word for its pieces; tokens as they are."""
        if self.pieces is None:
            return maps
        pieces = self.pieces[layer.source].to(maps)
        return maps @ (pieces / pieces.sum(dim=-1, keepdim=True).clamp(min=1))

    def canonical_weights(self, layer: StackLayer) -> Float[Tensor, "r h q k"]:
        """The weights of a layer with the canonical sign of each head, where one was fixed."""
        signs = head_signs_of(self.model, layer.record.layer)
        return layer.weights if signs is None else layer.weights * signs.to(layer.weights)[:, None, None]

    def real_rows(self, layer: StackLayer) -> Bool[Tensor, "r q"]:
        """Which queries of a layer are not padding."""
        queries = layer.record.call.q.shape[2]
        if layer.target == SUMMARY or (layer.target == DECODER and self.reads_answer):
            return self.mask.any(dim=1, keepdim=True).expand(-1, queries)
        return self.mask[:, :queries]

    def check_rows(
        self, layer: StackLayer, weights: Float[Tensor, "r h q k"], method: str, instead: str
    ) -> None:
        """Raise InputError if the weights of a layer do not sum to one.

        Raises:
            InputError: if a row has negative weights or does not sum to one.
        """
        if (reason := no_shares(layer.record, weights, self.real_rows(layer))) is not None:
            raise InputError(
                f"{reason}, and {method!r} needs weights that sum to one: use {instead!r}, which "
                "takes the sizes of the weights and scales every row to one"
            )

    def read(self, state: Float[Tensor, "r q k"]) -> Float[Tensor, "r k"]:
        """The share of every key in the selected rows."""
        return torch.einsum("rq,rqk->rk", self.row_shares.to(state), state)[:, : self.mask.shape[1]]

    def follow(
        self, step: Callable[[StackLayer, dict[str, Tensor]], Float[Tensor, "r q k"]]
    ) -> Float[Tensor, "r q k"]:
        """What the target of the last layer knows after every layer has made its ``step`` from the states
        of all streams to the new state of its target."""
        states = dict(self.start)
        for layer in self.layers:
            states[layer.target] = step(layer, states)
        return states[self.top.target]


def record_stack(
    model: PreTrainedModel,
    inputs: Inputs,
    site: AttentionSite,
    rows: ReadRows,
    texts: Int[Tensor, " b"] | slice = slice(None),
    score: Callable[[Float[Tensor, "b classes"]], Tensor] | None = None,
    *,
    norms: bool = False,
    run: tuple[Float[Tensor, "b classes"], ForwardPass] | None = None,
) -> AttentionStack:
    """The stack of a batch up to and including the selected attention. ``rows`` are the selected rows in
    all texts, and ``texts`` says which of them make the batch.

    With ``score``, from logits to a number for each text, every layer has the gradient of the sum of these
    numbers with respect to its weights; with ``norms`` it has the layer norm behind it. ``run`` has the
    logits and the calls of an earlier pass over the batch; it is reused if neither is requested.

    Raises:
        InputError: if a decoder reads something other than the text, or the last layer computes only one row.
    """
    if site.row == "asked":
        raise InputError(
            "methods through all layers need every row, but this model computes only the row of the target "
            "token in its last layer: use 'attention', a gradient or an erasure"
        )
    watcher = NormWatcher(model)
    if run is None or norms or score is not None:
        grad = torch.no_grad() if score is None else torch.enable_grad()
        watching = attach_hook(watcher) if norms else nullcontext()
        with grad, watching, record(model, keep_graph=score is not None) as trace:
            run = forward(model, inputs, rows="mean").logits, trace.only
    logits, calls = run
    records = [one for one in calls if one.layer <= site.layer and reads_same_unit(model, one, site)]
    gradients: list[Tensor | None] = [None] * len(records)
    if score is not None:
        slopes = torch.autograd.grad(
            score(logits).sum(), [one.weights for one in records], allow_unused=True, materialize_grads=True
        )
        gradients = [slope.detach() for slope in slopes]
    layout = token_layout(model, inputs, site.key_unit)
    layers = tuple(
        replace(layer, norm=watcher.blocks.get(layer.record.layer))
        for layer in connect(model, records, gradients, layout.mask)
    )
    refuse_merging(layers)
    shares = rows.of(texts, layout, records[-1].call.q.shape[2])
    start = start_of(model, layers, layout.mask)
    return AttentionStack(model, inputs, site, layers, layout, shares.to(start[TEXT]), logits.detach(), start)


def refuse_merging(layers: Sequence[StackLayer]) -> None:
    """Raise InputError where a layer gives fewer vectors than it reads, as one that pools tokens does: what
    a vector knew before it cannot be followed."""
    for layer in layers:
        call = layer.record.call
        made, read = call.q.shape[2], call.k.shape[2]
        if layer.source == layer.target == TEXT and made != read:
            raise InputError(
                f"{layer.description} makes {made} vectors of {read}, so tokens cannot be followed through "
                "all layers: choose 'attention', a gradient or an erasure"
            )


def reads_same_unit(model: PreTrainedModel, layer: LayerRecord, site: AttentionSite) -> bool:
    """Whether a layer reads what the site reads: words or, in a model of documents, sentences."""
    if not isinstance(model, HierarchicalClassifier):
        return True
    return layer.name.split(".")[0] == site.name.split(".")[0]


def connect(
    model: PreTrainedModel,
    records: list[LayerRecord],
    gradients: list[Tensor | None],
    mask: Bool[Tensor, "r k"],
) -> Iterator[StackLayer]:
    """Which stream looks at which. In an encoder–decoder, calls from the first causal one on are the
    decoder's, and those of them that are not causal read the encoder."""
    encoder_decoder = getattr(model.config, "is_encoder_decoder", False)
    own_mask = None if decodes_answer(model) else mask
    modules = dict(model.named_modules())
    target = TEXT
    known = {TEXT, DECODER}
    for one, gradient in zip(records, gradients, strict=True):
        source = TEXT
        if isinstance(modules.get(one.name), LearnedQueryAttention):
            source, target = target, SUMMARY
        elif encoder_decoder and is_causal(one, own_mask):
            source = target = DECODER
        elif target == DECODER:
            source = TEXT
        yield StackLayer(one, source, target, target not in known, gradient)
        known.add(target)


def no_shares(
    record: LayerRecord, weights: Float[Tensor, "r h q k"], rows: Bool[Tensor, "r q"]
) -> str | None:
    """Why the weights of some ``rows`` of a layer are not shares of a whole, if they are not."""
    mask = record.call.mask.allowed(weights.device)  # once for heads that share it
    allowed = (mask.any(dim=-1) & rows[:, None]).expand(weights.shape[:-1])
    if record.call.mechanism.signed and bool((weights < -ROW_SUM_TOLERANCE).any()):
        return f"the weights of layer {record.layer} ({record.name}) have signs"
    if bool(((weights.sum(dim=-1) - 1).abs()[allowed] > ROW_SUM_TOLERANCE).any()):
        return f"the weights of layer {record.layer} ({record.name}) do not sum to one"
    return None


def start_of(
    model: PreTrainedModel, layers: tuple[StackLayer, ...], mask: Bool[Tensor, "r k"]
) -> dict[str, Float[Tensor, "r stream k"]]:
    """What each stream knows of the tokens before any attention."""
    first = layers[0].record
    size = first.call.k.shape[2]
    dtype = first.output.dtype if first.output.dtype == torch.float64 else torch.float32
    own = torch.eye(size, dtype=dtype, device=mask.device).expand(len(mask), -1, -1)
    start = {TEXT: own}
    decoders = [layer.record.call.q.shape[2] for layer in layers if layer.target == DECODER]
    if decoders and decodes_answer(model):
        start[DECODER] = own.new_zeros(len(mask), decoders[0], size)
    elif decoders:
        start[DECODER] = torch.diag_embed(torch.ones(size - 1), offset=-1).to(own).expand(len(mask), -1, -1)
    return start


def decodes_answer(model: PreTrainedModel) -> bool:
    """Whether a decoder reads an answer, not the text that the encoder reads."""
    return bool(getattr(model, "decodes_answer", False))
