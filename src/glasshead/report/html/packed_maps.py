"""The maps of all heads as bytes that a browser unpacks: rounded, and cut where there are too many."""

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.escaping import one_line, visible
from glasshead.report.number_format import count, share
from glasshead.results import HeadLayer, HeadReport, HeadText

Floats = NDArray[np.floating[Any]]
BUDGET = 4_000_000
"""Letters that the maps of a page may take; the page itself takes some hundred thousand more."""
LARGEST = (None, 128, 64, 48, 32, 24, 20, 16, 12, 10, 8, 6, 4, 3, 2, 1)
"""How many weights of a row are kept: all, or as many as there is room for."""
THUMBNAIL = 32
"""Rows and columns of a small map."""
PEAK_STEPS, STEPS, SIGNED_STEPS = 65535, 255, 127
WORD_STARTS = "\u2581\u0120"
"""What SentencePiece and byte-level tokenizers write for the blank before a word."""
FURTHEST = 255
"""The largest step from one kept weight to the next."""


@dataclass(frozen=True)
class PackedText:
    """One text as the browser reads it, and how many letters that takes."""

    data: dict[str, Any]
    letters: int


def data_script(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or opens a comment."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def pack_texts(report: HeadReport, budget: int = BUDGET) -> list[PackedText]:
    """All texts, the short ones first in line: each may take its share of what is left."""
    order = sorted(range(len(report.texts)), key=lambda place: weights_in(report.texts[place]))
    packed: dict[int, PackedText] = {}
    for rank, place in enumerate(order):
        packed[place] = pack_text(report.texts[place], report.layers, budget // (len(order) - rank))
        budget -= packed[place].letters
    return [packed[place] for place in range(len(report.texts))]


def weights_in(text: HeadText) -> int:
    """How many weights the maps of a text have."""
    return sum(weights.size for weights in text.weights.values())


def pack_text(text: HeadText, layers: Sequence[HeadLayer], budget: int) -> PackedText:
    """The maps of one text, with as many of the largest weights of each row as fit into the budget, and
    queries and keys where there is room for them too."""
    axes: dict[str, Any] = {}
    frame = {
        layer.layer: {
            **layer_axes(text, layer, axes),
            "mask": pack_mask(text.weights[layer.layer]),
            "thumbnails": pack_thumbnails(text.weights[layer.layer]),
            "signed": bool((text.weights[layer.layer] < 0).any()),
        }
        for layer in layers
        if layer.layer in text.weights
    }
    data = {"text": visible(text.text), "axes": axes, "layers": frame}
    data |= {} if text.image is None else {"image": text.image, "boxes": text.boxes}
    fixed = len(data_script(data))
    maps, largest = pack_within(text, list(frame), budget - fixed)
    for layer, heads in maps.items():
        frame[layer]["heads"] = heads
    letters = fixed + sum(len(head["map"]) for heads in maps.values() for head in heads)
    vectors = pack_vectors(text)
    more = sum(len(own["vectors"]) for heads in vectors.values() for own in heads)
    fits = letters + more <= budget
    for layer, own in vectors.items() if fits else ():
        for head, packed in zip(maps[layer], own, strict=True):
            head |= packed
    kept = float(np.mean([head["kept"] for heads in maps.values() for head in heads]))
    data["remark"] = "" if largest is None else kept_in_words(largest, kept)
    data["withheld"] = "" if fits else f"They would take {more / 1e6:.1f} MB of this page."
    return PackedText(data, letters + more * fits)


def kept_in_words(largest: int, kept: float) -> str:
    """What was left out of the maps."""
    weights = f"{largest} largest weights" if largest > 1 else "largest weight"
    part = ">\u00a099\u00a0%" if 0.995 <= kept < 1 else share(kept)
    return f"In each row the {weights} {'are' if largest > 1 else 'is'} kept, {part} of the attention."


def pack_within(
    text: HeadText, layers: Sequence[int], room: int
) -> tuple[dict[int, list[dict[str, Any]]], int | None]:
    """Maps that fit into the room, and how many weights of a row they have; None if all."""
    longest = max((text.weights[layer].shape[-1] for layer in layers), default=1)
    rows = sum(text.weights[layer][..., 0].size for layer in layers)
    for largest in LARGEST:
        if largest != LARGEST[-1] and rows * min(largest or longest, longest) > room:
            continue  # a kept weight takes more than one letter
        maps = {layer: [pack_map(each, largest) for each in text.weights[layer]] for layer in layers}
        if sum(len(head["map"]) for heads in maps.values() for head in heads) <= room:
            break
    return maps, largest if largest is not None and largest < longest else None


def pack_map(weights: Floats, largest: int | None) -> dict[str, Any]:
    """One map: the peak of every row in 16 bits, and the kept weights in steps of 1/255 of it (of 1/127 where
    they have signs), each with its distance from the one before it."""
    sizes = np.abs(np.nan_to_num(weights))
    signed = bool((weights < 0).any())
    steps = SIGNED_STEPS if signed else STEPS
    peaks, peak = sizes.max(axis=-1), float(sizes.max()) or 1.0
    stored = np.ceil(peaks / peak * PEAK_STEPS).astype("<u2")
    row_peaks = np.maximum(stored * (peak / PEAK_STEPS), np.finfo(float).tiny)[:, None]
    kept = sizes
    if largest is not None and largest < sizes.shape[-1]:
        best = np.argpartition(sizes, -largest, axis=-1)[:, -largest:]
        kept = np.zeros_like(sizes)
        np.put_along_axis(kept, best, np.take_along_axis(sizes, best, axis=-1), axis=-1)
    levels = np.rint(np.sign(np.nan_to_num(weights)) * kept / row_peaks * steps).astype(np.int16).ravel()
    gaps, values = distances(levels)
    whole = float(sizes.sum())
    return {
        "signed": signed,
        "peak": peak,
        "kept": round(float(kept.sum()) / whole, 4) if whole else 1.0,
        "map": deflate(stored.tobytes(), gaps.tobytes(), values.astype(np.int8 if signed else np.uint8)),
    }


def distances(levels: NDArray[np.int16]) -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """What is not zero with its distance from the one before; a long way has zeros as stations."""
    places = np.flatnonzero(levels)
    gaps = np.diff(places, prepend=-1)
    stations = (gaps - 1) // FURTHEST
    ends = np.cumsum(stations + 1) - 1
    steps = np.full(int((stations + 1).sum()), FURTHEST, dtype=np.uint8)
    values = np.zeros(len(steps), dtype=np.int16)
    steps[ends] = gaps - FURTHEST * stations
    values[ends] = levels[places]
    return steps, values


def pack_mask(weights: Floats) -> str:
    """Which queries may look at which keys, a bit each; empty where every one may."""
    allowed = np.isfinite(weights).any(axis=0)
    return "" if allowed.all() else deflate(np.packbits(allowed, axis=-1).tobytes())


def pack_thumbnails(weights: Floats) -> dict[str, Any]:
    """Small maps of all heads of a layer: square roots of mean weights, the largest of each head 127."""
    means = block_means(block_means(np.nan_to_num(weights), 1), 2)
    peaks = np.abs(means).max(axis=(1, 2), keepdims=True)
    roots = np.sign(means) * np.sqrt(np.abs(means) / np.where(peaks > 0, peaks, 1.0))
    levels = np.rint(roots * SIGNED_STEPS).astype(np.int8)
    return {"rows": means.shape[1], "columns": means.shape[2], "bytes": deflate(levels.tobytes())}


def block_means(values: Floats, axis: int) -> Floats:
    """Means over blocks along an axis, as many as a small map has lines at most."""
    size = values.shape[axis]
    edges = np.linspace(0, size, min(size, THUMBNAIL) + 1).astype(int)
    shape = [1] * values.ndim
    shape[axis] = -1
    means: Floats = np.add.reduceat(values, edges[:-1], axis=axis) / np.diff(edges).reshape(shape)
    return means


def pack_vectors(text: HeadText) -> dict[int, list[dict[str, Any]]]:
    """Queries and keys of every head in 8 bits, each with one scale; heads may share their keys."""
    packed = {}
    for layer, queries in text.query_vectors.items():
        keys = text.key_vectors.get(layer)
        if keys is None or layer not in text.weights:
            continue
        packed[layer] = [
            vector_bytes(own, keys[head * len(keys) // len(queries)]) for head, own in enumerate(queries)
        ]
    return packed


def vector_bytes(queries: Floats, keys: Floats) -> dict[str, Any]:
    """The vectors of one head."""
    queries, keys = np.nan_to_num(queries), np.nan_to_num(keys)
    scales = [float(np.abs(each).max()) or 1.0 for each in (queries, keys)]
    parts = [
        np.rint(each / scale * SIGNED_STEPS).astype(np.int8).tobytes()
        for each, scale in zip((queries, keys), scales, strict=True)
    ]
    return {"size": queries.shape[-1], "scales": scales, "vectors": deflate(*parts)}


def deflate(*parts: bytes | NDArray[Any]) -> str:
    """Bytes one behind the other, packed, as letters."""
    return b64encode(zlib.compress(b"".join(bytes(part) for part in parts), 9)).decode()


def layer_axes(text: HeadText, layer: HeadLayer, axes: dict[str, Any]) -> dict[str, str]:
    """The names of the axes of a layer; each axis is written once into ``axes``."""
    _, queries, keys = text.weights[layer.layer].shape
    decodes = bool(text.decoder_tokens)
    wanted = {
        "queries": ("decoder" if decodes and layer.kind in ("causal", "cross") else "text", queries),
        "keys": ("decoder" if decodes and layer.kind == "causal" else "text", keys),
    }
    names = {}
    for side, (name, size) in wanted.items():
        axis = token_axis(text, name)
        if len(axis["tokens"]) != size:
            name, axis = f"numbers-{size}", numbered_axis(size, "query" if side == "queries" else "key")
        axes.setdefault(name, axis)
        names[side] = name
    return names


def token_axis(text: HeadText, name: str) -> dict[str, Any]:
    """The tokens of a text, or of what a decoder wrote, with their words and sides."""
    if name == "text":
        return axis(text.tokens, text.words, text.sides)
    return axis(text.decoder_tokens, text.decoder_words, ())


def numbered_axis(size: int, name: str) -> dict[str, Any]:
    """What has no tokens: a learned query, latent positions."""
    return axis([name if size == 1 else f"{name} {number}" for number in range(size)], range(size), ())


def axis(tokens: Sequence[str], words: Sequence[int], sides: Sequence[int]) -> dict[str, Any]:
    """Tokens, the unit of each, what the units are called, and their sides; special ones have −1 as word."""
    words = list(words) or list(range(len(tokens)))
    units: list[int] = []
    names: list[str] = []
    for place, (token, word) in enumerate(zip(tokens, words, strict=True)):
        if place == 0 or word == -1 or word != words[place - 1]:
            names.append(token)
        else:
            names[-1] += token.removeprefix("##")
        units.append(len(names) - 1)
    return {
        "tokens": [one_line(token) for token in tokens],
        "units": units,
        "words": [one_line(name.lstrip(WORD_STARTS) or name) for name in names],
        "sides": [int(side) for side in sides] or [0] * len(tokens),
        "special": [int(word == -1) for word in words],
    }


def rounding_in_words(texts: Sequence[PackedText]) -> str:
    """How exact the weights of the page are."""
    signed = any(layer["signed"] for text in texts for layer in text.data["layers"].values())
    steps = SIGNED_STEPS if signed else STEPS
    return (
        f"Weights are rounded to 8 bits: steps of 1/{count(steps)} of the largest weight of their row; "
        "queries and keys to 1/127 of the largest number of their head."
    )
