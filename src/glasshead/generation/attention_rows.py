"""The attention that each token of an answer was written with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError, pluralise
from glasshead.explainers import Rollout, find_explainer
from glasshead.generation.call_kinds import CROSS, DECODER, ENCODER, first_calls, kinds_of
from glasshead.generation.method import RowMethod
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.results import WrittenMap
from glasshead.trace import (
    AttentionSelector,
    AttentionSite,
    LayerRecord,
    ReadRows,
    combine_heads,
    find_layer,
    find_site,
    find_site_among,
    no_shares,
    record,
    record_stack,
)


class AttentionRows(RowMethod):
    """a_{t−1,j} of one head, or of all heads of a layer as they are combined: token t is written from row
    t − 1, which attends to every token before t. Only these rows are computed.

    A layer of an encoder–decoder has two such rows, and each sums to one: that of its cross-attention stands
    at the tokens of the source, that of its own attention at those that the decoder has written.
    """

    description = "attention weights of the row that each token was written from"
    citation = "Clark et al. 2019"
    reads_attention = True
    reads_target = False

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        site = site_of(text, selector)
        (layer,) = row_layers(text, [site.layer])
        return attention_map(text, layer, site, name)

    def all_maps(self, text: ReadText) -> list[WrittenMap]:
        maps = []
        last = site_of(text, AttentionSelector())
        for layer in row_layers(text, None):
            heads = layer.weights.shape[1]
            site = replace(last, layer=layer.number, num_heads=heads, head=None)
            maps.append(attention_map(text, layer, site, "attention"))
            maps += [
                attention_map(text, layer, replace(site, head=head), "attention") for head in range(heads)
            ]
        return maps


class RolloutRows(RowMethod):
    """R of attention rollout at the row that each token was written from, with residual 0.5."""

    description = "attention multiplied through all layers, with the residual paths"
    citation = "Abnar and Zuidema 2020"
    reads_attention = True
    reads_target = False

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        site = site_of(text, selector)
        rollout = find_explainer("rollout")
        assert isinstance(rollout, Rollout)
        if text.source:
            rows = source_rollout(text, site, rollout.residual, name)
        else:
            stack = record_stack(text.classifier, text.inputs, site, ReadRows.by_name("last"))
            rows = rollout.all_rows(stack)[0, text.rows]
        head = site.head if site.head is not None else site.heads
        return WrittenMap(
            name, text.triangle(rows), False, layer=site.layer, head=head,
            reading=reading(text, site, up_to=True), settings=f"residual {rollout.residual:g}",
        )  # fmt: skip


@dataclass(frozen=True)
class RowLayer:
    """A layer with the weights of the rows that the answer was written from, over everything before."""

    number: int
    weights: Float[Tensor, "1 h answer read"]
    signed: bool
    has_sinks: bool = False


def site_of(text: ReadText, selector: AttentionSelector) -> AttentionSite:
    """The attention that is chosen, found on the first tokens of the text; in an encoder–decoder, a layer of
    the decoder.

    Raises:
        InputError: if the model has no such layer or head.
    """
    if text.source:
        calls = first_calls(text)
        crosses = [call for call, kind in zip(calls, kinds_of(text, calls), strict=True) if kind == CROSS]
        chosen = find_layer(
            [replace(call, layer=number) for number, call in enumerate(crosses)],
            len(crosses) - 1 if selector.layer is None else selector.layer,
        )
        of_cross = replace(selector, layer=crosses[chosen.layer].layer)
        site = find_site_among(text.model, calls, calls, of_cross, "token")
        return replace(site, layer=chosen.layer, num_layers=len(crosses))
    answer_site = find_site(text.classifier, text.beginning, selector)
    assert answer_site is not None  # no pooled classifier writes
    return answer_site


def row_layers(text: ReadText, layers: list[int] | None) -> list[RowLayer]:
    """The layers of one pass, each with the rows that the answer was written from."""
    if text.source:
        made = source_layers(text)
        return made if layers is None else [made[number] for number in layers]
    with torch.no_grad(), record(text.classifier, layers, rows=text.rows) as trace:
        text.classifier(**text.inputs)
    return [
        RowLayer(one.layer, one.weights.detach(), bool(mechanism.signed), mechanism.activation.has_sinks)
        for one in trace.only
        for mechanism in [one.call.mechanism]
    ]


def source_layers(text: ReadText) -> list[RowLayer]:
    """The layers of a decoder that reads a source: cross-attention, then attention to what it has written."""
    own, cross = (calls_of(text)[kind] for kind in (DECODER, CROSS))
    return [
        RowLayer(
            number,
            torch.cat([cross_layer.weights, own_layer.weights], dim=-1)[:, :, text.decoder_rows],
            bool(own_layer.call.mechanism.signed),
        )
        for number, (own_layer, cross_layer) in enumerate(zip(own, cross, strict=True))
    ]


def calls_of(text: ReadText) -> dict[str, list[LayerRecord]]:
    """The calls of a whole pass of an encoder–decoder, by kind."""
    with torch.no_grad(), record(text.model) as trace:
        text.model(**text.inputs)
    calls = list(trace.only)
    kinds = kinds_of(text, calls)
    return {
        wanted: [call for call, kind in zip(calls, kinds, strict=True) if kind == wanted]
        for wanted in (ENCODER, DECODER, CROSS)
    }


def source_rollout(
    text: ReadText, site: AttentionSite, residual: float, name: str
) -> Float[Tensor, "answer read"]:
    """R of an encoder–decoder over source and answer: the layers of the encoder, then for each layer of the
    decoder a step from what was written before and one from the source, all with the ``residual`` next to it.

    Raises:
        InputError: if weights do not sum to one.
    """
    calls = calls_of(text)
    length, read = text.source, text.before.shape[1]
    start = torch.eye(read, device=text.ids.device)
    source, answer = start[:length], start[length:]

    def step(call: LayerRecord, states: Tensor, attended: Tensor) -> Tensor:
        every = torch.ones(1, call.weights.shape[2], dtype=torch.bool, device=call.weights.device)
        if (reason := no_shares(call, call.weights, every)) is not None:
            raise InputError(
                f"{reason}, and {name!r} needs weights that sum to one: choose 'erasure-mean-embedding'"
            )
        return (1 - residual) * combine_heads(call.weights, site)[0] @ attended + residual * states

    for call in calls[ENCODER]:
        source = step(call, source, source)
    for own, cross in zip(calls[DECODER][: site.layer + 1], calls[CROSS], strict=False):
        answer = step(own, answer, answer)
        answer = step(cross, answer, source)
    return answer[text.decoder_rows]


def attention_map(text: ReadText, layer: RowLayer, site: AttentionSite, name: str) -> WrittenMap:
    """The weights of a site as a matrix."""
    weights: Float[Tensor, "answer read"] = combine_heads(layer.weights, site)[0]
    head: int | str = site.head if site.head is not None else site.heads
    return WrittenMap(
        name, text.triangle(weights), layer.signed,
        layer=site.layer, head=head, reading=reading(text, site),
        has_learned_sinks=layer.has_sinks and head in (site.head, "mean"),
    )  # fmt: skip


def reading(text: ReadText, site: AttentionSite, *, up_to: bool = False) -> str:
    """Which attention, in words."""
    several = f"{site.heads} of {pluralise(site.num_heads, 'head')}"
    head = several if site.head is None else f"head {site.head}"
    layers = f"layers 0 to {site.layer}" if up_to else f"layer {site.layer}"
    if text.source:
        layers = f"encoder, decoder {layers}" if up_to else f"decoder {layers}"
    words = layers if site.num_heads == 1 else f"{layers}, {head}"
    if text.source and not up_to:
        words += ", cross-attention to the source and own attention to the answer, each summing to one"
    return words
