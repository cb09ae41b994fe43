"""The farthest weights that give the same output of the head: between what was found and a bound."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from glasshead.arrays import AnyFloats, Floats
from glasshead.audits.adversary import draws
from glasshead.audits.adversary.distances import Distance
from glasshead.audits.adversary.free import MAP_BASES, Found, Seeds, Texts
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.adversary.waves import AGREE, SAME
from glasshead.audits.measuring.map_intervals import rows_for_site
from glasshead.audits.measuring.null_weights import random_weights, same_mass
from glasshead.identifiability import WEIGHT_DOMAINS, AttentionRow, SameOutput, attention_rows

OBJECTIVES, WAVES, ASCENTS = 16, 4, 20
GAIN = 1e-9  # what an ascent must still gain to go on
MAPS = 12  # of a text; of more a random part is asked


def same_output_distances(setting: Setting, texts: Texts, seeds: Seeds) -> tuple[Found, AnyFloats]:
    """The distance of the farthest weights that were found with the same output of their head, from the
    model's own, from random and from uniform ones, of texts with a seed each, and the bound for the first:
    means over the maps of each text, NaN where it has none."""
    found, bounds = Found.empty(MAP_BASES, len(texts)), np.full(len(texts), np.nan)
    for place, (text, seed) in enumerate(zip(texts.tolist(), seeds.tolist(), strict=True)):
        rng = np.random.default_rng([seed, draws.SAME_OUTPUT])
        rows = list(rows_of(setting, text))
        if len(rows) > MAPS:
            rows = [rows[number] for number in np.sort(rng.choice(len(rows), MAPS, replace=False))]
        if not rows:
            continue
        own = [farthest_same_output(row, setting.distance, setting.largest, rng) for row in rows]
        found.distances["own"][place] = np.mean([one.distance for one in own])
        bounds[place] = np.mean([one.bound for one in own])
        found.converged[place] = all(one.converged for one in own)
        found.starts[place] = sum(one.starts for one in own)
        others = [null_rows(row, rng) for row in rows]
        for base in ("random", "uniform"):
            found.distances[base][place] = np.mean(
                [
                    farthest_same_output(
                        replace(row, weights=other[base]), setting.distance, setting.largest, rng
                    ).distance
                    for row, other in zip(rows, others, strict=True)
                ]
            )
    return found, bounds


def rows_of(setting: Setting, text: int) -> Iterator[AttentionRow]:
    """The rows of a text that are read, of a pass of its own."""
    context, site = setting.context, setting.context.explanation.site
    selector = rows_for_site(site)
    if site is not None:
        heads = None if site.head is None else (site.head,)
        selector = replace(selector, layers=(site.layer,), heads=heads)
    encoded = context.explanation.encoded.some(np.array([text]))
    for batch in attention_rows(context.trained_model, encoded, selector):
        yield from batch


def null_rows(row: AttentionRow, rng: np.random.Generator) -> dict[str, Floats]:
    """Random and uniform weights [n] of the same mass as those of a row."""
    mask, one_part = np.ones((1, len(row.weights)), dtype=bool), np.zeros((1, len(row.weights)), np.int64)
    drawn = random_weights(mask, WEIGHT_DOMAINS[row.kind].signed, rng)[:, None].astype(float)
    nulls = {"random": drawn, "uniform": np.ones_like(drawn)}
    scaled = {base: same_mass(maps, row.weights[None], one_part) for base, maps in nulls.items()}
    return {base: np.asarray(maps[0, 0], dtype=np.float64) for base, maps in scaled.items()}


@dataclass(frozen=True)
class SameOutputMap:
    """The largest ``distance`` that was found, a ``bound`` that none exceeds, and the ``weights`` [n] of the
    first; how many linear functions the search began with, and whether it ``converged``."""

    distance: float
    bound: float
    weights: Floats
    starts: int = 0
    converged: bool = True


def farthest_same_output(
    row: AttentionRow, distance: Distance, largest: float, rng: np.random.Generator
) -> SameOutputMap:
    """max d(a, a′) over the weights with a′ T = a T.

    d is convex and a sum over tokens, so between the ends of the interval of a weight its term lies below the
    chord; the largest sum of chords, a linear program, is the bound. From its weights, and those of random
    linear functions, the ascent goes on to the maximum of w = ∂d/∂a′ at what it has: no such step loses, but
    where it stops another vertex may be farther still. So it begins with more functions until `AGREE` of them
    end at the same distance, or at the bound. Both are 0 where the weights are identifiable; the bound is NaN
    where an interval was not found, and at most ``largest``, which no distance exceeds.
    """
    program = SameOutput.of(row.T, row.weights, kind=row.kind, embed_dim=row.embed_dim, eps=row.eps)
    if program is None:
        return SameOutputMap(0.0, 0.0, row.weights)
    own = torch.from_numpy(row.weights)

    def distances(weights: Floats) -> Floats:
        return np.asarray(distance(own, torch.from_numpy(weights)).sum(dim=-1), dtype=np.float64)

    def slopes(weights: Floats) -> Floats:
        others = torch.from_numpy(weights).requires_grad_()
        (slope,) = torch.autograd.grad(distance(own, others).sum(), others)
        return np.asarray(slope, dtype=np.float64)

    chords, offset = chords_of(row, distance)
    bound = offset + float(row.intervals(functions=chords[None]).high[0])
    ends, reached = row.weights[None], np.zeros(1)
    for wave in range(1, WAVES + 1):
        random = rng.standard_normal((OBJECTIVES, len(own)))
        best = program.extremes(random if wave > 1 else np.concatenate([chords[None], random]))
        values = distances(best)
        for _ in range(ASCENTS):
            further = program.extremes(slopes(best))
            farther = distances(further)
            rising = farther > values + GAIN
            if not rising.any():
                break
            best[rising], values[rising] = further[rising], farther[rising]
        ends, reached = np.concatenate([ends, best]), np.concatenate([reached, values])
        agree = int((reached >= reached.max() - SAME * largest).sum())
        converged = agree >= AGREE or bool(reached.max() >= bound - SAME * largest)
        if converged:
            break
    top = int(reached.argmax())
    value = float(reached[top])
    return SameOutputMap(
        value, float(np.clip(bound, value, largest)), ends[top], wave * OBJECTIVES + 1, converged
    )


def chords_of(row: AttentionRow, distance: Distance) -> tuple[Floats, float]:
    """Σ_i d_i(a_i, x_i) ≤ Σ_i c_i x_i + offset for all weights x in their intervals: c [n] and the offset."""
    intervals = row.intervals()
    ends = torch.from_numpy(np.stack([intervals.low, intervals.high]))
    low, high = np.asarray(distance(torch.from_numpy(row.weights), ends), dtype=np.float64)
    width = intervals.high - intervals.low
    slope = np.divide(high - low, width, out=np.zeros_like(width), where=width > 0)
    return slope, float((low - slope * intervals.low).sum())
