"""Which attention of a model is read: which call, which head, the row of which query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import LearnedQueryAttention, Mechanism
from glasshead.data import Inputs
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import MECHANISM, class_name, lacks_attention, no_attention
from glasshead.models import HierarchicalClassifier, PooledClassifier, TransformerClassifier
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.trace.record import record
from glasshead.trace.records import LayerRecord

ROWS = ("first", "last", "mean", "pooled", "asked")
READ = "read"
"""The rows that a prediction reads, as they are measured, where none is named."""
ONLY_ROWS = ("pooled", "asked")
"""Rows that are the only ones of their layer."""
LEVELS = ("word", "sentence")
HEAD_COMBINATIONS: dict[str, Callable[[Float[Tensor, "r h q k"]], Float[Tensor, "r q k"]]] = {
    "mean": lambda maps: maps.mean(dim=1),
    "max": lambda maps: maps.amax(dim=1),
    "min": lambda maps: maps.amin(dim=1),
    "sum": lambda maps: maps.sum(dim=1),
}


def no_sentences() -> str:
    """Why most models have no numbers of sentences."""
    return (
        f"this model reads a text as a whole, not by sentences: leave {spell('level')} out, or train "
        f"{spell('model', 'hierarchical')}"
    )


@dataclass(frozen=True)
class AttentionSelector:
    """Which attention is used: layer, head and rows.

    ``layer`` is the number of an attention call in the order of a pass (−1: the last), or the name of its
    module; ``head`` a number, or how the maps of all heads become one: "max", "min", "sum", or None for their
    mean. ``row`` is the query whose attention is used: that of the "first" or the "last" token, the "mean" of
    all real tokens, or "pooled", which is the one learned query of a pooling, or that of the token that is
    "asked" about, in the last layer of a token classifier. None means the rows that the prediction uses,
    measured text by text (`glasshead.trace.read_rows`); if no layer is chosen, those of the last one that
    it reads (`glasshead.trace.find_read_attention`). ``level`` chooses between words and sentences in
    models that read both.

    Raises:
        InputError: on a row, a level or a combination of heads that no model has.
    """

    layer: int | str | None = None
    head: int | str | None = None
    row: str | None = None
    level: str = "word"

    def __post_init__(self) -> None:
        if self.head == "mean":
            object.__setattr__(self, "head", None)
        if isinstance(self.head, str) and self.head not in HEAD_COMBINATIONS:
            *most, last = HEAD_COMBINATIONS
            raise ParameterError("head", f"must be a number, {', '.join(most)} or {last}, not {self.head!r}")
        for kind, value, known in (("row", self.row, ROWS), ("level", self.level, LEVELS)):
            if value is not None and value not in known:
                raise InputError(f"unknown {kind} {value!r}: {did_you_mean(value, known)}")

    @classmethod
    def of(cls, request: Any) -> "AttentionSelector":
        """The selection of a request."""
        return cls(request.layer, request.head, request.row, getattr(request, "level", "word"))

    @property
    def is_customised(self) -> bool:
        """Whether anything but the level is chosen."""
        return (self.layer, self.head, self.row) != (None, None, None)

    @property
    def combines_heads(self) -> bool:
        """Whether all heads are combined by something other than the mean."""
        return isinstance(self.head, str)


KeyUnit = Literal["token", "packed", "sentence"]


@dataclass(frozen=True)
class AttentionSite:
    """An `AttentionSelector` resolved for one model: everything in it exists.

    ``row`` is one of `ROWS`, or `READ` if none was named and the layer has several. ``key_unit`` says what
    the keys of the call are: the tokens of a text, the tokens of one segment of it, or its sentences.
    ``above`` is the attention to sentences whose weights multiply those of words.
    """

    layer: int
    num_layers: int
    name: str
    head: int | None
    num_heads: int
    row: str
    key_unit: KeyUnit
    mechanism: Mechanism
    above: "AttentionSite | None" = None
    has_values: bool = True
    """Whether the values are known that the weights read; not where the softmax of a model is caught."""
    heads: str = "mean"
    """How the maps of all heads become one, where no ``head`` is chosen."""
    causal: bool = False
    """Whether no token reads what stands behind it."""

    @property
    def row_is_chosen(self) -> bool:
        """Whether one row of several was named."""
        return self.row not in (READ, *ONLY_ROWS)

    @property
    def measured(self) -> "AttentionSite":
        """The site with the rows that the prediction reads, even if another row was chosen."""
        return replace(self, row=READ) if self.row_is_chosen else self

    @property
    def heads_add_up(self) -> bool:
        """Whether the selected map is linear in those of the heads."""
        return self.head is not None or self.num_heads == 1 or self.heads in ("mean", "sum")

    @property
    def description(self) -> str:
        """Layer and heads in words."""
        head = f", {self.heads} of {self.num_heads} heads" if self.head is None else f", head {self.head}"
        return f"layer {self.layer} ({self.name})" + ("" if self.num_heads == 1 else head)


def forward(model: PreTrainedModel, inputs: Inputs, *, rows: str | None = None) -> Any:
    """The output of the model. Unless only the row of the first token is needed, all layers compute all
    rows."""
    if rows in ("mean", "last") and isinstance(model, TransformerClassifier):
        return model(**inputs, output_attentions=True)
    return model(**inputs)


def logits_of(model: PreTrainedModel, inputs: Inputs, *, rows: str | None = None) -> Tensor:
    """The logits."""
    logits: Tensor = forward(model, inputs, rows=rows).logits
    return logits


def modules_with_attention(model: PreTrainedModel) -> list[str]:
    """The names of the modules that compute their attention by a mechanism; these can be recorded."""
    return [
        name
        for name, module in model.named_modules()
        if isinstance(getattr(module, MECHANISM, None), Mechanism)
    ]


def list_attention_calls(model: PreTrainedModel, inputs: Inputs) -> list[LayerRecord]:
    """One record for every attention call of a pass.

    Raises:
        InputError: if the model shows no attention.
    """
    if not modules_with_attention(model):
        if lacks_attention(model):
            raise InputError(no_attention(model))
        raise InputError(
            f"{class_name(model)} shows no attention: plug(model, 'softmax') makes it readable (or train "
            f"it with {spell('attention')}), and the methods 'gradient' and 'erasure-delete' need none"
        )
    with torch.no_grad(), record(model) as trace:
        forward(model, inputs, rows="mean")
    return list(trace.only)


def check_one_pass(model: PreTrainedModel) -> None:
    """Raise InputError for a model that reads a text twice, since no single attention determines its
    output."""
    if remedy := getattr(model, "reads_twice", ""):
        raise InputError(
            f"{class_name(model)} reads a text once for each of two answers, so no single attention "
            f"determines the contrast: {remedy}"
        )


def find_site(
    model: PreTrainedModel,
    inputs: Inputs,
    selector: AttentionSelector,
    calls: Sequence[LayerRecord] | None = None,
) -> AttentionSite | None:
    """What a selector means in this model, found with an input, or among the attention ``calls`` of an
    earlier pass; None for a pooled classifier. Without a layer it means the last one, whether or not the
    prediction reads it (`glasshead.trace.find_read_attention` measures that).

    Raises:
        InputError: if there is no such layer, head, row or level; the message lists those that exist.
    """
    if isinstance(model, PooledClassifier):
        heads = (None, 0, *HEAD_COMBINATIONS)
        if selector.layer not in (None, 0, -1, "pooling") or selector.head not in heads:
            raise InputError(
                f"a pooled model has one attention with one head: leave {spell('layer')} and "
                f"{spell('head')} out"
            )
        if selector.row not in (None, "pooled") or selector.level != "word":
            raise InputError(
                f"a pooled model has one learned query over words: leave {spell('row')} and "
                f"{spell('level')} out"
            )
        return None
    check_one_pass(model)
    records = list_attention_calls(model, inputs) if calls is None else list(calls)
    if not isinstance(model, HierarchicalClassifier):
        if selector.level != "word":
            raise InputError(no_sentences())
        key_unit: KeyUnit = (
            "packed" if isinstance(model, TransformerClassifier) and model.packs_segments else "token"
        )
        site = find_site_among(model, records, records, selector, key_unit)
        if key_unit == "token":
            check_keys(records[site.layer], inputs)
        return site
    words = [record for record in records if record.name.startswith("words.")]
    sentences = [record for record in records if record.name.startswith("sentences.")]
    top = find_site_among(model, records, sentences, AttentionSelector(), "sentence")
    layer = None if selector.layer is None else find_layer(records, selector.layer).layer
    if selector.level == "sentence":
        if layer is not None and layer < len(words):
            raise InputError(
                f"layer {layer} reads words: choose from "
                + ", ".join(f"{record.layer} {record.name}" for record in sentences)
            )
        return find_site_among(model, records, sentences, selector, "sentence")
    if layer is not None and layer >= len(words):
        return find_site_among(model, records, sentences, selector, "sentence")
    return find_site_among(model, records, words, selector, "packed", top)


def check_keys(record: LayerRecord, inputs: Inputs) -> None:
    """Raise InputError if a layer has scores for something else than the tokens that were given."""
    tokens, keys = inputs.get("input_ids"), record.call.k.shape[2]
    if tokens is not None and tokens.shape[1] != keys:
        raise InputError(
            f"layer {record.layer} ({record.name}) has {keys} scores for {tokens.shape[1]} tokens, and some "
            "belong to no token: use 'gradient' or 'erasure-delete', which need no attention"
        )


def find_site_among(
    model: PreTrainedModel, records: list[LayerRecord], among: list[LayerRecord],
    selector: AttentionSelector, key_unit: KeyUnit,
    above: AttentionSite | None = None,
) -> AttentionSite:  # fmt: skip
    """Find the site among some of the calls of a pass."""
    record = among[-1] if selector.layer is None else find_layer(records, selector.layer)
    module = dict(model.named_modules())[record.name] if record.name else model
    causal, encoder_decoder = is_causal(record), getattr(model.config, "is_encoder_decoder", False)
    if causal and encoder_decoder:
        raise InputError(
            f"layer {record.layer} ({record.name}) reads the output of the decoder, not the text: choose a "
            "layer of the encoder or one of cross-attention"
        )
    rows: tuple[str, ...] = ("first", "last", "mean")
    if isinstance(module, LearnedQueryAttention):
        rows = ("pooled",)
    elif getattr(model, "asks_about_token", False) and record.layer == len(records) - 1:
        rows = ("asked",)
    row = selector.row or (rows[0] if len(rows) == 1 else READ)
    if row != READ and row not in rows:
        raise InputError(
            f"layer {record.layer} ({record.name}) has no row {row!r}: it has {' and '.join(map(repr, rows))}"
        )
    heads = record.call.q.shape[1]
    head = selector.head if isinstance(selector.head, int) else None
    if head is not None and not 0 <= head < heads:
        valid = "one head, 0" if heads == 1 else f"heads 0 to {heads - 1}"
        raise InputError(f"layer {record.layer} ({record.name}) has no head {head}: it has {valid}")
    return AttentionSite(
        record.layer, len(records), record.name, head, heads, row, key_unit,
        record.call.mechanism, above, record.call.v.shape[-1] > 0,
        selector.head if isinstance(selector.head, str) else "mean", causal,
    )  # fmt: skip


def combine_heads(maps: Float[Tensor, "r h q k"], site: AttentionSite) -> Float[Tensor, "r q k"]:
    """One map: that of the selected head, or of all heads."""
    return HEAD_COMBINATIONS[site.heads](maps) if site.head is None else maps[:, site.head]


def is_causal(layer: LayerRecord, mask: Bool[Tensor, "r k"] | None = None) -> bool:
    """Whether no query sees later tokens, for any reason: a flag, a window, a mask or a bias of the model.
    ``mask`` says which tokens are real (None: all)."""
    if layer.call.mask.causal:
        return True
    queries, keys = layer.call.q.shape[2], layer.call.k.shape[2]
    if keys < 2 or queries != keys:
        return False
    allowed = layer.call.mask.allowed(layer.call.q.device)  # once for heads that share it
    ahead = allowed.triu(diagonal=1)
    if mask is not None:
        if mask.shape[1] != allowed.shape[-1]:
            return False
        ahead = ahead & mask[:, None, :, None]
    return not bool(ahead.any())


def find_layer(records: list[LayerRecord], layer: int | str) -> LayerRecord:
    """The call of that number or name; −1 is the last one."""
    if isinstance(layer, str):
        names = {record.name: record for record in reversed(records)}
        if layer not in names:
            raise InputError(f"there is no attention layer {layer!r}: {did_you_mean(layer, names)}")
        return names[layer]
    if not -len(records) <= layer < len(records):
        listed = ", ".join(f"{record.layer} {record.name}" for record in records)
        raise InputError(f"there is no attention layer {layer}: choose from {listed}")
    return records[layer]
