"""The attention of some heads of a run to one text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from glasshead.attention import DistanceAware
from glasshead.data import Encoded, check_utf8, encode, join_pair
from glasshead.errors import InputError
from glasshead.explainers import head_signs_of
from glasshead.models import EncodedClassifier, HierarchicalClassifier, PooledClassifier, SegmentLayout
from glasshead.pictures.distance_positions import layer_name
from glasshead.pictures.distance_positions import title as layer_title
from glasshead.report import UNIFORM, HeadMap, drawn, heads_figure, nearly_uniform, share
from glasshead.trace import LayerRecord, record
from glasshead.training import Run, load_run

MOST_TOKENS = 60
"""More rows than that cannot be read."""
DEFAULT_HEADS = 4
LONGEST_LABEL = 16
SENTENCES = "sentences"
"""The part of a hierarchical model whose tokens are sentences."""


@dataclass(frozen=True)
class Block:
    """One row of the batch that a layer saw: a name for each of its real tokens."""

    row: int
    labels: list[str]


def heads_picture(
    folder: Path,
    kind: str,
    text: str,
    *,
    pair: str | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
) -> tuple[bytes, str]:
    """Heat maps of weights, one for each of some heads, and a remark on what is left out ("" if nothing is).

    By default the first distance-aware layer (else the first one), and its two lowest and two highest w_h
    (else the first four heads). Signed weights are multiplied by the canonical sign of their head, and the
    title says so; "raw signs" where none was fixed.

    Raises:
        InputError: on a folder that is no run, a model without heads, an empty text or one of more than 60
            tokens, and layers or heads that do not exist.

    Source: Wu, Wu and Huang (2021), Fig. 8.
    """
    run = load_run(folder)
    if isinstance(run.model, PooledClassifier):
        raise InputError(f"{folder} has one learned query and no heads: explain a prediction instead")
    check_utf8(text, pair or "")
    encoded = encoding(run, text, pair)
    seen, segments = recorded(run, encoded)
    chosen = layer_of(seen, layer)
    numbers = heads_of(chosen, heads)
    above = chosen.name.split(".")[0] == SENTENCES
    part = "sentence" if isinstance(run.model, HierarchicalClassifier) and not above else "text"
    labels = named(encoded, join_pair(text, pair), run)
    blocks, note = readable(blocks_of(chosen, segments, labels), part, "sentences" if above else "tokens")
    signed = chosen.call.mechanism.signed
    signs, gauge = gauged(run.model, chosen) if signed else (np.ones(len(chosen.heads)), "")
    turns = signs[list(numbers)][:, None, None]
    weights = chosen.weights[:, list(numbers)].numpy() * turns  # [B, h, Q, K]
    labels = [label for block in blocks for label in block.labels]
    rows = ["pooling"] if weights.shape[2] == 1 < weights.shape[3] else labels
    allowed = chosen.allowed.numpy()[:, list(numbers)]
    maps = [
        HeadMap(
            title(chosen, head),
            joint(weights[:, rank], blocks),
            flat(weights[:, rank], allowed[:, rank], blocks),
        )
        for rank, head in enumerate(numbers)
    ]
    if len(blocks) > 1:
        note = f"Each {part} stands in a block of its own: no head looks across."
    note = " ".join(part for part in (note, warning(maps, numbers)) if part)
    name = layer_title(run.model, layer_name(chosen.name)) + gauge
    return drawn(heads_figure(maps, rows, labels, name, signed=signed), kind), note


def gauged(model: PreTrainedModel, layer: LayerRecord) -> tuple[np.ndarray, str]:
    """The canonical sign of every head of a layer of signed weights, and a word on it for the title."""
    sign = head_signs_of(model, layer.layer)
    if sign is None:
        return np.ones(len(layer.heads)), ", raw signs"
    return sign.numpy(), ", canonical signs"


def encoding(run: Run, text: str, pair: str | None) -> Encoded:
    """One text, or two for a model of pairs.

    Raises:
        InputError: if there is nothing to read, or not as many texts as the model reads.
    """
    texts = getattr(run.model, "texts", None)
    if texts == 2 and pair is None:
        raise InputError(f"{run.folder} compares two texts: give the second one with `pair`")
    if texts == 1 and pair is not None:
        raise InputError(f"{run.folder} reads one text: leave `pair` out")
    encoded = encode(run.tokenizer, [text], None if pair is None else [pair])
    if not text.strip() or (encoded.words >= 0).sum() == 0:
        raise InputError("the text is empty: there is nothing to draw")
    return encoded


@torch.inference_mode()
def recorded(run: Run, encoded: Encoded) -> tuple[list[LayerRecord], SegmentLayout | None]:
    """Every attention call of one forward pass, and where the segments of the text went."""
    inputs = encoded.inputs()
    ours = isinstance(run.model, EncodedClassifier)
    with record(run.model) as trace:
        # Of our models the last layer works out every row only where weights are wanted.
        run.model(**inputs, **({"output_attentions": True} if ours else {}))
    segments = None
    if isinstance(run.model, EncodedClassifier):
        mask = inputs["attention_mask"].bool()
        segments = run.model.segments(inputs["input_ids"], mask, inputs.get("token_type_ids"))
    return list(trace), segments


def layer_of(seen: Sequence[LayerRecord], layer: int | None) -> LayerRecord:
    """The layer asked for, else the first distance-aware one, else the first."""
    if layer is None:
        return next(
            (each for each in seen if isinstance(each.call.mechanism.position, DistanceAware)), seen[0]
        )
    if layer >= len(seen):
        names = ", ".join(f"{rank} ({each.name})" for rank, each in enumerate(seen))
        raise InputError(f"there is no layer {layer}: choose from {names}")
    return seen[layer]


def heads_of(layer: LayerRecord, heads: Sequence[int] | None) -> list[int]:
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


def title(layer: LayerRecord, head: int) -> str:
    """``head 3``, with what it has learned about distance."""
    position = layer.call.mechanism.position
    if not isinstance(position, DistanceAware):
        return f"head {head}"
    learned = [f"{name} = {float(each[head].detach()):.2g}" for name, each in position.named_parameters()]
    return f"head {head}:  {',  '.join(learned)}".replace("-", "−")


def named(encoded: Encoded, text: str, run: Run) -> list[str]:
    """Every token of the text as it stands there; special tokens by their names."""
    ids = encoded.ids[0][encoded.mask[0]].tolist()
    spans, words = encoded.offsets[0], encoded.words[0]
    tokens = run.tokenizer.convert_ids_to_tokens(ids)
    return [
        short(text[slice(*spans[place])] if words[place] >= 0 else token)
        for place, token in enumerate(tokens)
    ]


def short(label: str) -> str:
    """A label that fits beside a heat map."""
    label = " ".join(label.split()) or "·"
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def blocks_of(layer: LayerRecord, segments: SegmentLayout | None, labels: list[str]) -> list[Block]:
    """What the layer read: the text, its segments, or (one level up) the sentences as tokens."""
    if segments is None:
        return [Block(0, labels)]
    row = (segments.places // segments.mask.shape[1]).tolist()
    parts = [
        Block(number, [label for label, at in zip(labels, row, strict=True) if at == number])
        for number in range(len(segments.mask))
    ]
    if layer.name.split(".")[0] == SENTENCES:
        return [
            Block(0, [short(f"{rank} {' '.join(part.labels)}") for rank, part in enumerate(parts, start=1)])
        ]
    return parts


def readable(blocks: list[Block], part: str, units: str) -> tuple[list[Block], str]:
    """All blocks if they fit into one picture, else the longest, and a remark on that; ``part`` is what a
    block is, a text or a sentence, ``units`` what is in it.

    Raises:
        InputError: if that one does not fit either.
    """
    if sum(len(block.labels) for block in blocks) <= MOST_TOKENS:
        return blocks, ""
    longest = max(blocks, key=lambda block: len(block.labels))
    if len(longest.labels) > MOST_TOKENS:
        raise InputError(
            f"{len(longest.labels)} {units} cannot be read in a picture: "
            f"give a {part} of at most {MOST_TOKENS}"
        )
    return [longest], f"Drawn is {part} {longest.row + 1} of {len(blocks)}, the longest."


def flat(weights: np.ndarray, allowed: np.ndarray, blocks: Sequence[Block]) -> bool:
    """Whether the weights [B, Q, K] of a head are `nearly_uniform` in every row of the blocks."""
    rows = [(block.row, slice(len(block.labels))) for block in blocks]
    seen, may = (np.concatenate([each[row] for row in rows]) for each in (weights, allowed))
    return nearly_uniform(seen, may)


def warning(maps: Sequence[HeadMap], numbers: Sequence[int]) -> str:
    """A remark on heads that look at everything alike; empty if there are none."""
    alike = [str(head) for head, each in zip(numbers, maps, strict=True) if each.uniform]
    if not alike:
        return ""
    heads = f"head {alike[0]}" if len(alike) == 1 else f"heads {', '.join(alike)}"
    return (
        f"Nearly uniform: {heads}. In every row the entropy is above {share(UNIFORM)} of the largest "
        "possible, so the shades are small differences."
    )


def joint(weights: np.ndarray, blocks: Sequence[Block]) -> np.ndarray:
    """The weights [B, Q, K] of the blocks along the diagonal of one matrix; NaN where nothing looks."""
    sizes = [len(block.labels) for block in blocks]
    starts = np.cumsum([0, *sizes])
    if weights.shape[1] == 1 < weights.shape[2]:  # one query, that of a pooling
        return np.concatenate(
            [weights[block.row, :, :size] for block, size in zip(blocks, sizes, strict=True)], 1
        )
    whole = np.full((starts[-1], starts[-1]), np.nan)
    for block, start, size in zip(blocks, starts, sizes, strict=False):
        whole[start : start + size, start : start + size] = weights[block.row, :size, :size]
    return whole
