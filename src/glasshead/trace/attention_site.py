"""Which attention of a model is read: which call, which head, the row of which query."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import LearnedQueryAttention, Mechanism
from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.huggingface import MECHANISM
from glasshead.models import EncodedClassifier, HierarchicalClassifier, PooledClassifier
from glasshead.registry import did_you_mean
from glasshead.trace.record import record
from glasshead.trace.records import LayerRecord

ROWS = ("first", "last", "mean", "pooled")
LEVELS = ("word", "sentence")
NO_SENTENCES = (
    "this model reads a text as a whole, not by sentences: leave `level` out, or train `model='hierarchical'`"
)


@dataclass(frozen=True)
class AttentionSelector:
    """Where attention is read.

    ``layer`` is the number of an attention call in the order of a pass, or the name of its module; ``head`` a
    number, or None for the mean. ``row`` is whose attention is read: that of the "first" or the "last" token,
    the "mean" of all real tokens, or "pooled", which is the one learned query of a pooling. None is what the
    model's own prediction rests on: its pooling, else the first token in the last layer (the last token in a
    causal model). ``level`` chooses between words and sentences in models that read both.

    Raises:
        InputError: on a row or a level that no model has.
    """

    layer: int | str | None = None
    head: int | None = None
    row: str | None = None
    level: str = "word"

    def __post_init__(self) -> None:
        for value, known in ((self.row, ROWS), (self.level, LEVELS)):
            if value is not None and value not in known:
                kind = "row" if known is ROWS else "level"
                raise InputError(f"unknown {kind} {value!r}: {did_you_mean(value, known)}")

    @property
    def is_customised(self) -> bool:
        """Whether anything but the level is told."""
        return (self.layer, self.head, self.row) != (None, None, None)


KeyUnit = Literal["token", "packed", "sentence"]


@dataclass(frozen=True)
class AttentionSite:
    """A reading, settled for one model: everything in it exists.

    ``unit`` says what the keys of the call are: the tokens of a text as they stand, the tokens of one segment
    of it, or its sentences. ``above`` is the attention to sentences whose weights multiply those of words.
    """

    layer: int
    layers: int
    name: str
    head: int | None
    heads: int
    row: str
    unit: KeyUnit
    mechanism: Mechanism
    above: "AttentionSite | None" = None

    @property
    def describe(self) -> str:
        """In words."""
        heads = f"mean of {self.heads} heads, " if self.head is None else f"head {self.head}, "
        if self.heads == 1:
            heads = ""
        rows = {
            "pooled": "the learned query",
            "first": "row of the first token",
            "last": "row of the last token",
            "mean": "mean of all rows",
        }
        text = f"layer {self.layer} ({self.name}), {heads}{rows[self.row]}"
        return text if self.above is None else f"{text}, times that of the sentence: {self.above.describe}"


def forward(model: PreTrainedModel, inputs: Inputs, *, rows: str | None = None) -> Any:
    """What the model gives. Where more is read than the row of the first token, no layer leaves rows out."""
    if rows in ("mean", "last") and isinstance(model, EncodedClassifier):
        return model(**inputs, output_attentions=True)
    return model(**inputs)


def logits_of(model: PreTrainedModel, inputs: Inputs, *, rows: str | None = None) -> Tensor:
    """The logits."""
    logits: Tensor = forward(model, inputs, rows=rows).logits
    return logits


def list_attention_calls(model: PreTrainedModel, inputs: Inputs) -> list[LayerRecord]:
    """One record for every attention call of a pass.

    Raises:
        InputError: if the model shows no attention.
    """
    if not any(isinstance(getattr(module, MECHANISM, None), Mechanism) for module in model.modules()):
        raise InputError(
            f"{type(model).__name__} shows no attention: plug(model, 'softmax') makes it readable (or train "
            "it with `attention`), and the methods 'gradient' and 'erasure-delete' need none"
        )
    with torch.no_grad(), record(model) as trace:
        forward(model, inputs, rows="mean")
    return list(trace.only)


def resolve(model: PreTrainedModel, inputs: Inputs, reading: AttentionSelector) -> AttentionSite | None:
    """What the reading means for this model, found out on a short input; None for a pooled classifier.

    Raises:
        InputError: if there is no such layer, head, row or level; the message says what there is.
    """
    if isinstance(model, PooledClassifier):
        if reading.layer not in (None, 0, "pooling") or reading.head not in (None, 0):
            raise InputError("a pooled model has one attention with one head: leave `layer` and `head` out")
        if reading.row not in (None, "pooled") or reading.level != "word":
            raise InputError("a pooled model has one learned query over words: leave `row` and `level` out")
        return None
    records = list_attention_calls(model, inputs)
    if not isinstance(model, HierarchicalClassifier):
        if reading.level != "word":
            raise InputError(NO_SENTENCES)
        unit: KeyUnit = "packed" if isinstance(model, EncodedClassifier) and model.texts > 1 else "token"
        return resolve_site(model, records, records, reading, unit)
    words = [record for record in records if record.name.startswith("words.")]
    sentences = [record for record in records if record.name.startswith("sentences.")]
    top = resolve_site(model, records, sentences, AttentionSelector(), "sentence")
    layer = None if reading.layer is None else find_layer(records, reading.layer).layer
    if reading.level == "sentence":
        if layer is not None and layer < len(words):
            raise InputError(
                f"layer {layer} reads words: choose from "
                + ", ".join(f"{record.layer} {record.name}" for record in sentences)
            )
        return resolve_site(model, records, sentences, reading, "sentence")
    if layer is not None and layer >= len(words):
        return resolve_site(model, records, sentences, reading, "sentence")
    return resolve_site(model, records, words, reading, "packed", top)


def resolve_site(
    model: PreTrainedModel, records: list[LayerRecord], among: list[LayerRecord], reading: AttentionSelector,
    unit: KeyUnit,
    above: AttentionSite | None = None,
) -> AttentionSite:  # fmt: skip
    """The reading among some of the calls of a pass."""
    call = among[-1] if reading.layer is None else find_layer(records, reading.layer)
    module = dict(model.named_modules())[call.name] if call.name else model
    later = call.call.mask.causal or getattr(model.config, "is_encoder_decoder", False)
    if call.call.mask.causal and getattr(model.config, "is_encoder_decoder", False):
        raise InputError(
            f"layer {call.layer} ({call.name}) reads what the decoder has written, not the text: "
            "choose a layer of the encoder or one of cross-attention"
        )
    known: tuple[str, ...] = ("pooled",)
    if not isinstance(module, LearnedQueryAttention):
        known = ("last", "first", "mean") if later else ("first", "last", "mean")
    row = reading.row or known[0]
    if row not in known:
        raise InputError(
            f"layer {call.layer} ({call.name}) has no row {row!r}: it has {' and '.join(map(repr, known))}"
        )
    heads = call.call.q.shape[1]
    if reading.head is not None and not 0 <= reading.head < heads:
        known_heads = "one head, 0" if heads == 1 else f"heads 0 to {heads - 1}"
        raise InputError(f"layer {call.layer} ({call.name}) has no head {reading.head}: it has {known_heads}")
    return AttentionSite(
        call.layer, len(records), call.name, reading.head, heads, row, unit, call.call.mechanism, above
    )


def find_layer(records: list[LayerRecord], layer: int | str) -> LayerRecord:
    """The call of that number or name."""
    if isinstance(layer, str):
        names = {record.name: record for record in reversed(records)}
        if layer not in names:
            raise InputError(f"there is no attention layer {layer!r}: {did_you_mean(layer, names)}")
        return names[layer]
    if not 0 <= layer < len(records):
        listed = ", ".join(f"{record.layer} {record.name}" for record in records)
        raise InputError(f"there is no attention layer {layer}: choose from {listed}")
    return records[layer]
