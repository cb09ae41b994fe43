"""The maps of images, for their own question and for another one, and what is left of an answer without the
parts that they put first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.audits.measuring.class_scores import choose_prediction_side, token_order
from glasshead.audits.measuring.removal_curves import PredictionSide, ValueDrops, in_float32
from glasshead.audits.measuring.view import ModelView
from glasshead.data import EncodedTextsWithImages, TextWithImages, encode
from glasshead.explainers import REMOVALS, ExplanationContext, make_context
from glasshead.tasks import about_ends

PERCENTS, DRAWS = (10, 25, 50), 3
"""Per cent of the parts of an image that are erased, the first of an order; random orders of these."""


class Falls(NamedTuple):
    """The falls of ŷ without the first parts of an image: by its map, by that of another question, by how
    near the centre is, and at random. NaN of what is not known."""

    own: float = np.nan
    other: float = np.nan
    centre: float = np.nan
    random: float = np.nan


class MapNumbers(NamedTuple):
    """The falls by each type of deletion; what both maps share, and would by chance, NaN if not known."""

    falls: tuple[Falls, ...]
    shared: float
    by_chance: float


def measure_maps(view: ModelView, audit: str, removals: Sequence[str]) -> Iterator[MapNumbers]:
    """The numbers of each text, with the random numbers of an ``audit``, by types of deletion; a text has
    none by those that cannot remove several parts of its image."""
    encoded = view.explanation.encoded
    assert isinstance(encoded, EncodedTextsWithImages)
    context, side = in_float32(view), choose_prediction_side(view)
    drops = [drops_by_text(context, one, side) for one in removals]
    own, others = token_order(view).scores, scores_of_others(view)
    for row in range(len(view.texts)):
        parts, rng = np.flatnonzero(encoded.in_image(row)), view.rng(audit, row)
        distances, other = encoded.images_of(row).distances_from_centre, others[row]
        centre = None if distances is None else -distances
        random = [rng.random(len(parts)) for _ in range(DRAWS)]
        maps, ties = [own[row, parts], other, centre, *random], rng.random(len(parts))
        falls = tuple(falls_without(*one[row], parts, maps, ties) if row in one else Falls() for one in drops)
        yield MapNumbers(falls, *shared_part(own[row, parts], other, rng))


def drops_by_text(
    context: ExplanationContext, removal: str, side: PredictionSide
) -> dict[int, tuple[ValueDrops, int]]:
    """How drops are measured in each text, and the number of the text there, without texts from which this
    type of deletion cannot remove several parts of the image at once."""
    rows = [
        row
        for row in range(len(context.encoded.ids))
        if REMOVALS[removal].no_sets_reason(context.some(torch.tensor([row]))) is None
    ]
    if not rows:
        return {}
    own = side._replace(target=side.target[rows], sign=side.sign[rows])
    drops = ValueDrops(context.some(torch.tensor(rows, dtype=torch.long)), removal, own)
    return {row: (drops, place) for place, row in enumerate(rows)}


def scores_of_others(view: ModelView) -> list[Floats | None]:
    """What the explanation gives the parts of each image where the other question is put before the same
    answer; None where there is no other."""
    encoded, (texts, _) = view.explanation.encoded, view.inputs_read or ((), None)
    assert isinstance(encoded, EncodedTextsWithImages)
    assert encoded.given is not None
    others = [text.other for text in texts if isinstance(text, TextWithImages)]
    rows = [row for row, other in enumerate(others) if other is not None]
    found: list[Floats | None] = [None] * len(others)
    if not rows:
        return found
    asked = encode(view.explanation.tokenizer, [others[row] for row in rows], unit=encoded.unit)
    assert isinstance(asked, EncodedTextsWithImages)
    assert asked.given is not None
    prompts = asked.given[:, 1]
    asked = about_ends(asked, (asked.mask.sum(dim=1) - prompts).tolist())
    given = torch.stack([encoded.given[rows, 0], prompts], dim=1)
    own, selector = view.explanation, view.explanation.attention_selector
    asked = replace(asked, images=encoded.images, given=given)
    context = make_context(own.model, asked, own.tokenizer, attention_selector=selector, reads_attention=True)
    scores = token_order(replace(view.some(np.array(rows)), explanation=context)).scores
    for place, row in enumerate(rows):
        found[row] = scores[place, asked.in_image(place)]
    return found


def falls_without(
    drops: ValueDrops,
    row: int,
    parts: NDArray[np.int64],
    maps: Sequence[Floats | None],
    ties: Floats,
) -> Falls:
    """The mean falls of ŷ of one text without the first of its parts, by each of some maps; parts of equal
    scores are in one random order."""
    counts = np.unique([max(percent * len(parts) // 100, 1) for percent in PERCENTS])
    removed = np.zeros((len(maps), len(counts), drops.words.shape[1]), dtype=bool)
    for number, scores in enumerate(maps):
        order = parts[np.lexsort((ties, np.zeros(len(parts)) if scores is None else -scores))]
        for size, count in enumerate(counts):
            removed[number, size, order[:count]] = True
    falls = drops(np.full(len(maps) * len(counts), row), removed.reshape(-1, removed.shape[-1]))
    means = falls.reshape(len(maps), -1).mean(axis=1).tolist()
    known = [np.nan if scores is None else fall for scores, fall in zip(maps, means, strict=True)]
    own, other, centre, *random = known
    return Falls(own, other, centre, float(np.mean(random)))


def shared_part(own: Floats, other: Floats | None, rng: np.random.Generator) -> tuple[float, float]:
    """The part of a map that the other question's map has, too, and by chance."""
    if other is None or not np.abs(own).sum() or not np.abs(other).sum():
        return np.nan, np.nan
    p, q = np.abs(own) / np.abs(own).sum(), np.abs(other) / np.abs(other).sum()
    by_chance = [np.minimum(rng.permutation(p), q).sum() for _ in range(DRAWS)]
    return float(np.minimum(p, q).sum()), float(np.mean(by_chance))
