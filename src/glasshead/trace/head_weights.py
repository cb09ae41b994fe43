"""The attention of some heads of a model to one text, as matrices that can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.attention import DistanceAware
from glasshead.data import Encoded, UnitReader, check_utf8, join_pair, token_names
from glasshead.errors import InputError
from glasshead.huggingface import Inputs, ask_usual
from glasshead.models import HierarchicalClassifier, PooledClassifier, SegmentLayout, TransformerClassifier
from glasshead.results import NOT_USED, HeadMap, HeadMaps
from glasshead.spelling import spell
from glasshead.trace.attention_use import entropies
from glasshead.trace.distance_layers import layer_name, layer_title
from glasshead.trace.head_gauges import head_signs_of
from glasshead.trace.record import record
from glasshead.trace.records import LayerRecord

MAX_TOKENS, MAX_PATCHES = 60, 65
"""More rows than that cannot be read; of patches, whose names follow each other, a class token and 8 × 8."""
DEFAULT_HEADS = 4
LONGEST_LABEL = 16
SENTENCE_LAYER = "sentences"
"""The part of a hierarchical model whose tokens are sentences."""


@dataclass(frozen=True)
class TokenBlock:
    """One row of the batch that a layer saw: a name for each of its real tokens."""

    row: int
    labels: list[str]


def head_maps(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    text: Any,
    pair: str | None = None,
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
) -> HeadMaps:
    """The weights of some heads of a layer for a text or an image, with a remark on what is left out ("" if
    nothing is).

    By default the first distance-aware layer (else the first one), and its two lowest and two highest w_h
    (else the first four heads). Signed weights are multiplied by the canonical sign of their head, and the
    name of the layer says so; "raw signs" if none was fixed.

    Raises:
        InputError: on a model without heads, an empty text or one of more than 60 tokens, and layers or heads
            that do not exist.

    Source: Wu, Wu and Huang (2021), Fig. 8.
    """
    if isinstance(model, PooledClassifier):
        raise InputError("this model has one learned query and no heads: explain a prediction instead")
    check_utf8(str(text), pair or "")
    encoded = encode_text(model, tokenizer, text, pair)
    most = MAX_TOKENS if encoded.in_line else MAX_PATCHES
    if not encoded.in_line and encoded.ids.shape[1] > most:
        raise InputError(
            f"{encoded.ids.shape[1]} {encoded.nouns.tokens} cannot be read as rows: "
            f"{spell('glasshead.heads')} shows where each looks in the image"
        )
    records, segments = record_layers(model, encoded)
    layer_record = select_layer(records, layer)
    numbers = choose_heads(layer_record, heads)
    above = layer_record.name.split(".")[0] == SENTENCE_LAYER
    nouns = encoded.nouns
    part = "sentence" if isinstance(model, HierarchicalClassifier) and not above else nouns.text
    labels = token_labels(encoded, join_pair(str(text), pair), tokenizer)
    blocks, remark = fit_blocks(
        read_blocks(layer_record, segments, labels),
        part,
        "sentences" if above else nouns.tokens,
        most,
    )
    signed = layer_record.call.mechanism.signed
    signs, gauge = signs_of(model, layer_record) if signed else (np.ones(len(layer_record.heads)), "")
    weights = layer_record.weights[:, numbers].cpu().numpy() * signs[numbers][:, None, None]  # [B, h, Q, K]
    allowed = layer_record.allowed.cpu().numpy()[:, numbers]
    labels = [label for block in blocks for label in block.labels]
    rows = ["pooling"] if weights.shape[2] == 1 < weights.shape[3] else labels
    maps = [
        HeadMap(
            head_title(layer_record, head),
            block_diagonal(weights[:, rank], blocks),
            is_uniform(weights[:, rank], allowed[:, rank], blocks),
        )
        for rank, head in enumerate(numbers)
    ]
    if len(blocks) > 1:
        remark = f"Each {part} is a separate block: no head looks across."
    remark = " ".join(sentence for sentence in (remark, uniform_remark(maps, numbers)) if sentence)
    name = layer_title(model, layer_name(layer_record.name)) + gauge
    return HeadMaps(name, maps, rows, labels, signed, remark)


def nearly_uniform(weights: NDArray[np.floating[Any]], allowed: NDArray[np.bool_]) -> bool:
    """Whether no row [rows, keys] clearly prefers any of the n keys that it may look at.

    `entropies` above `NOT_USED` in every row with n > 1; False if there is no such row, or if one has no
    weight at all.
    """
    values = entropies(torch.as_tensor(weights), torch.as_tensor(allowed))
    values = values[torch.as_tensor(allowed.sum(axis=-1) > 1)]
    return len(values) > 0 and bool((values > NOT_USED).all())


def signs_of(model: PreTrainedModel, layer: LayerRecord) -> tuple[np.ndarray, str]:
    """The canonical sign of every head of a layer of signed weights, and a word on it for the title."""
    sign = head_signs_of(model, layer.layer)
    if sign is None:
        return np.ones(len(layer.heads)), ", raw signs"
    return sign.numpy(), ", canonical signs"


def encode_text(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | UnitReader, text: Any, pair: str | None
) -> Encoded:
    """One text, two for a model of pairs, or an image.

    Raises:
        InputError: if there is nothing to read, or not as many texts as the model reads.
    """
    texts = getattr(model, "texts_per_example", None)
    if texts == 2 and pair is None:
        raise InputError(f"this model compares two texts: give the second one with {spell('pair')}")
    if texts == 1 and pair is not None:
        raise InputError(f"this model reads one text: leave {spell('pair')} out")
    encoded = ask_usual(model, Inputs.read(tokenizer, [text], None if pair is None else [pair]))
    if not str(text).strip() or (encoded.words >= 0).sum() == 0:
        raise InputError("the text is empty: there is nothing to draw")
    return encoded


@torch.inference_mode()
def record_layers(model: PreTrainedModel, encoded: Encoded) -> tuple[list[LayerRecord], SegmentLayout | None]:
    """Every attention call of one forward pass, and where the segments of the text went."""
    inputs = encoded.inputs()
    ours = isinstance(model, TransformerClassifier)
    with record(model) as trace:
        # Of our models the last layer works out every row only where weights are wanted.
        model(**inputs, **({"output_attentions": True} if ours else {}))
    segments = None
    if isinstance(model, TransformerClassifier):
        mask = inputs["attention_mask"].bool()
        segments = model.segments(inputs["input_ids"], mask, inputs.get("token_type_ids"))
    return list(trace), segments


def select_layer(records: Sequence[LayerRecord], layer: int | None) -> LayerRecord:
    """The layer asked for, else the first distance-aware one, else the first."""
    if layer is None:
        return next(
            (one for one in records if isinstance(one.call.mechanism.position, DistanceAware)), records[0]
        )
    if not -len(records) <= layer < len(records):
        names = ", ".join(f"{rank} ({one.name})" for rank, one in enumerate(records))
        raise InputError(f"there is no layer {layer}: choose from {names}")
    return records[layer]


def choose_heads(layer: LayerRecord, heads: Sequence[int] | None) -> list[int]:
    """The heads asked for, else those of extreme w_h from the lowest on, else the first four."""
    count = len(layer.heads)
    if heads is not None:
        missing = [head for head in heads if head >= count]
        if missing:
            raise InputError(f"{layer.name} has no head {missing[0]}: its heads are 0 to {count - 1}")
        return list(heads)
    position = layer.call.mechanism.position
    if count <= DEFAULT_HEADS or not isinstance(position, DistanceAware):
        return list(range(min(count, DEFAULT_HEADS)))
    order = position.get_parameter("w").detach().argsort().tolist()
    half = DEFAULT_HEADS // 2
    return [*order[:half], *order[-half:]]


def head_title(layer: LayerRecord, head: int) -> str:
    """``head 3``, with what it has learned about distance."""
    position = layer.call.mechanism.position
    if not isinstance(position, DistanceAware):
        return f"head {head}"
    learned = [f"{name} = {float(value[head].detach()):.2g}" for name, value in position.named_parameters()]
    return f"head {head}:  {',  '.join(learned)}".replace("-", "−")


def token_labels(encoded: Encoded, text: str, tokenizer: PreTrainedTokenizerBase | UnitReader) -> list[str]:
    """Every token of the text as it stands there; special tokens, and what is not part of a text, by their
    names."""
    ids = encoded.ids[0][encoded.mask[0]].tolist()
    spans, words = encoded.offsets[0], encoded.words[0]
    return [
        fit_label((text[slice(*spans[index])] if words[index] >= 0 else "") or name)
        for index, name in enumerate(token_names(tokenizer, ids))
    ]


def fit_label(label: str) -> str:
    """A label that fits next to a heat map."""
    label = " ".join(label.split()) or "·"
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def read_blocks(layer: LayerRecord, segments: SegmentLayout | None, labels: list[str]) -> list[TokenBlock]:
    """What the layer read: the text, its segments, or (one level up) the sentences as tokens."""
    if segments is None:
        return [TokenBlock(0, labels)]
    row = (segments.places // segments.mask.shape[1]).tolist()
    parts = [
        TokenBlock(number, [label for label, at in zip(labels, row, strict=True) if at == number])
        for number in range(len(segments.mask))
    ]
    if layer.name.split(".")[0] == SENTENCE_LAYER:
        return [
            TokenBlock(
                0, [fit_label(f"{rank} {' '.join(part.labels)}") for rank, part in enumerate(parts, start=1)]
            )
        ]
    return parts


def fit_blocks(blocks: list[TokenBlock], part: str, units: str, most: int) -> tuple[list[TokenBlock], str]:
    """All blocks if they fit into one picture of at ``most`` so many rows, else the longest, and a remark on
    that; ``part`` is what a block is, a text or a sentence, ``units`` what is in it.

    Raises:
        InputError: if that one does not fit either.
    """
    if sum(len(block.labels) for block in blocks) <= most:
        return blocks, ""
    longest = max(blocks, key=lambda block: len(block.labels))
    if len(longest.labels) > most:
        raise InputError(
            f"{len(longest.labels)} {units} cannot be read in a picture: give a {part} of at most {most}"
        )
    return [longest], f"The drawing shows {part} {longest.row + 1} of {len(blocks)}, the longest."


def is_uniform(weights: np.ndarray, allowed: np.ndarray, blocks: Sequence[TokenBlock]) -> bool:
    """Whether the weights [B, Q, K] of a head are `nearly_uniform` in every row of the blocks."""
    rows = [(block.row, slice(len(block.labels))) for block in blocks]
    return nearly_uniform(
        np.concatenate([weights[row] for row in rows]), np.concatenate([allowed[row] for row in rows])
    )


def uniform_remark(maps: Sequence[HeadMap], numbers: Sequence[int]) -> str:
    """A remark on heads that look at everything alike; empty if there are none."""
    alike = [str(head) for head, one in zip(numbers, maps, strict=True) if one.uniform]
    if not alike:
        return ""
    heads = f"head {alike[0]}" if len(alike) == 1 else f"heads {', '.join(alike)}"
    return (
        f"Nearly uniform: {heads}. In every row the entropy is above {100 * NOT_USED:.0f}\u00a0% of the "
        "largest possible, so the shades are small differences."
    )


def block_diagonal(weights: np.ndarray, blocks: Sequence[TokenBlock]) -> np.ndarray:
    """The weights [B, Q, K] of the blocks along the diagonal of one matrix; NaN where nothing looks."""
    sizes = [len(block.labels) for block in blocks]
    starts = np.cumsum([0, *sizes])
    if weights.shape[1] == 1 < weights.shape[2]:  # one query, that of a pooling
        return np.concatenate(
            [weights[block.row, :, :size] for block, size in zip(blocks, sizes, strict=True)], 1
        )
    full = np.full((starts[-1], starts[-1]), np.nan)
    for block, start, size in zip(blocks, starts, sizes, strict=False):
        full[start : start + size, start : start + size] = weights[block.row, :size, :size]
    return full
