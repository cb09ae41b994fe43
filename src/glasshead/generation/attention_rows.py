"""The attention that each token of an answer was written with."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explainers import Rollout, find_explainer
from glasshead.generation.method import RowMethod
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.results import WrittenMap
from glasshead.trace import (
    AttentionSelector,
    AttentionSite,
    LayerRecord,
    combine_heads,
    find_site,
    record,
    record_stack,
)


class AttentionRows(RowMethod):
    """a_{t−1,j} of one head, or of all heads of a layer as they are combined: token t is written from row
    t − 1, which attends to every token before t. Only these rows are computed."""

    description = "attention weights of the row that each token was written from"
    citation = "Clark et al. 2019"
    reads_attention = True
    reads_target = False

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        site = site_of(text, selector)
        (layer,) = attention_rows(text, [site.layer])
        return attention_map(text, layer, site, name)

    def all_maps(self, text: ReadText) -> list[WrittenMap]:
        maps = []
        last = site_of(text, AttentionSelector())
        for layer in attention_rows(text, None):
            site = replace(last, layer=layer.layer, name=layer.name, num_heads=len(layer.heads), head=None)
            maps.append(attention_map(text, layer, site, "attention"))
            maps += [
                attention_map(text, layer, replace(site, head=head), "attention") for head in layer.heads
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
        stack = record_stack(text.classifier, text.inputs, site)
        rows = rollout.all_rows(stack)[0, text.rows]
        head = site.head if site.head is not None else site.heads
        return WrittenMap(
            name, text.triangle(rows), False, layer=site.layer, head=head,
            reading=reading(site, up_to=True), settings=f"residual {rollout.residual:g}",
        )  # fmt: skip


def site_of(text: ReadText, selector: AttentionSelector) -> AttentionSite:
    """The attention that is chosen, found on the first tokens of the text.

    Raises:
        InputError: if the model has no such layer or head.
    """
    inputs = {name: tensor[:, :2] for name, tensor in text.inputs.items()}
    site = find_site(text.classifier, inputs, selector)
    assert site is not None  # no pooled classifier writes
    return site


def attention_rows(text: ReadText, layers: list[int] | None) -> list[LayerRecord]:
    """The layers of one pass, each with the rows that the answer was written from."""
    with torch.no_grad(), record(text.classifier, layers, rows=text.rows) as trace:
        text.classifier(**text.inputs)
    return list(trace.only)


def attention_map(text: ReadText, layer: LayerRecord, site: AttentionSite, name: str) -> WrittenMap:
    """The weights of a site as a matrix."""
    weights: Float[Tensor, "answer read"] = combine_heads(layer.weights.detach(), site)[0]
    head: int | str = site.head if site.head is not None else site.heads
    return WrittenMap(
        name, text.triangle(weights), bool(layer.call.mechanism.signed),
        layer=site.layer, head=head, reading=reading(site),
    )  # fmt: skip


def reading(site: AttentionSite, *, up_to: bool = False) -> str:
    """Which attention, in words."""
    head = f"head {site.head}" if site.head is not None else f"{site.heads} of {site.num_heads} heads"
    layers = f"layers 0 to {site.layer}" if up_to else f"layer {site.layer}"
    return layers if site.num_heads == 1 else f"{layers}, {head}"
