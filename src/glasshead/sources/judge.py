"""Which passages a statement came from, and in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glasshead.results import REMOVED, PassagePair, SourceEffect
from glasshead.sources.effects import Effects

LEAST = 0.1
"""Nats that a source changes at least: an answer 1.1 times as probable is the same answer."""
SHARE = 0.1
"""And of what all passages add to the statement together."""

PLURAL = ("Passages", "matter", "they are")


MOST_NAMED = 5
"""So many passages are named in a sentence on another way to remove them."""


@dataclass(frozen=True)
class Removals:
    """log p of a statement behind all passages and behind none; by how much it falls without each passage and
    without pairs, and rises with each by itself."""

    log_p: float
    without_any: float
    alone: Sequence[float]
    by_itself: Sequence[float]
    pairs: Mapping[tuple[int, int], float]

    @property
    def gain(self) -> float:
        """What all passages add."""
        return self.log_p - self.without_any

    @property
    def least(self) -> float:
        """What a removal changes at least where it matters."""
        return max(LEAST, SHARE * self.gain)

    def matters(self, passage: int) -> bool:
        """Whether the statement is less probable without a passage, where passages add to it."""
        adds = self.gain > LEAST or self.by_itself[passage] > LEAST
        return adds and self.alone[passage] > self.least

    def is_enough(self, passage: int) -> bool:
        """Whether a passage by itself makes the statement half as probable as all of them do, or more."""
        return self.gain > LEAST and self.by_itself[passage] > max(LEAST, self.gain - math.log(2))


def find_pairs(removals: Removals) -> tuple[PassagePair, ...]:
    """Passages that depend on each other.

    One is enough where each is by itself, and without both more is lost than without the one and without the
    other. Both are needed where without either nearly as much is lost as without both.
    """
    found = []
    for (first, second), both in removals.pairs.items():
        one, other = removals.alone[first], removals.alone[second]
        enough = removals.is_enough(first) and removals.is_enough(second)
        if enough and both > max(one, 0.0) + max(other, 0.0) + max(removals.least, both / 2):
            found.append(PassagePair(first, second, "repeat", both))
        elif min(one, other) > max(removals.least, both / 2):
            found.append(PassagePair(first, second, "together", both))
    return tuple(found)


def judge_sources(
    effects: Effects, scale: float, removals: Removals, pairs: Sequence[PassagePair]
) -> tuple[SourceEffect, ...]:
    """Each passage with what is shown of it.

    The interval of a source lies above `SHARE` of what all passages add (``scale``, in the units of the
    effect), and it matters where it stands, or is enough by itself: without it log p falls by `SHARE` of what
    all passages add or more (where all add nothing, it must add something by itself), or it alone makes the
    statement half as probable as all do. A passage that repeats another one is a source, too. Nothing below
    `LEAST` counts.
    """
    repeated = {place for pair in pairs if pair.kind == "repeat" for place in (pair.first, pair.second)}
    lows = effects.values if effects.low is None else effects.low

    def is_source(passage: int) -> bool:
        shown = bool(lows[passage] > max(LEAST, SHARE * scale))
        return passage in repeated or (shown and (removals.matters(passage) or removals.is_enough(passage)))

    return tuple(
        SourceEffect(
            passage,
            float(value),
            effects.interval(passage),
            removals.alone[passage],
            removals.by_itself[passage],
            is_source(passage),
        )
        for passage, value in enumerate(effects.values)
    )


def says(
    removals: Removals,
    judged: Sequence[SourceEffect],
    pairs: Sequence[PassagePair],
    without_sources: float,
    names: Sequence[str],
    subject: str,
) -> tuple[str, ...]:
    """What it comes to: first which passages, then by how much, then what they are to each other."""
    sources = sorted((one for one in judged if one.is_source), key=lambda one: -one.effect)
    gain = removals.gain
    if not sources:
        if gain <= LEAST and any(one.by_itself > LEAST for one in judged):
            return (
                f"No passage is shown to be where {lower(subject)} comes from",
                "Some passages make it more probable and others less; together they add nothing.",
            )
        if gain <= LEAST:
            return (
                f"{subject} comes from none of the passages",
                f"The model also gives it without them: {times(-gain)} as probable."
                if gain < -LEAST
                else "Without any of them it is as probable.",
            )
        return (
            f"No passage is shown to be where {lower(subject)} comes from",
            f"All of them together make it {times(gain)} as probable, but no single one is shown to matter.",
        )
    listed = join([names[one.passage] for one in sources])
    noun = "passage" if len(sources) == 1 else "passages"
    lost = removals.log_p - without_sources
    it = "it" if len(sources) == 1 else "them"
    sentences = [
        f"{subject} comes from {noun} {listed}",
        f"Without {it} {lower(subject)} is {fraction(lost)} as probable."
        if lost > LEAST
        else f"Without {it}, other passages compensate.",
    ]
    for pair in pairs:
        both = f"Passages {names[pair.first]} and {names[pair.second]}"
        sentences.append(
            f"Either of passages {names[pair.first]} and {names[pair.second]} is enough."
            if pair.kind == "repeat"
            else f"{both} are both needed."
        )
    return tuple(sentences)


def compare_removals(
    removals: Removals, removal: str, other: Mapping[str, Sequence[float]], names: Sequence[str]
) -> tuple[str, ...]:
    """Which passages matter on their own by one way to take them away and not by another."""
    found = []
    for way, falls in other.items():
        for one, first, two, second in (
            (removal, removals.alone, way, falls),
            (way, falls, removal, removals.alone),
        ):
            least = removals.least
            only = [
                n
                for n in range(len(names))
                if first[n] > 2 * least
                and second[n] <= least / 2
                and (removals.gain > LEAST or removals.by_itself[n] > LEAST)
            ][:MOST_NAMED]
            if only:
                noun, verb, they = ("Passage", "matters", "it is") if len(only) == 1 else PLURAL
                listed = join([names[n] for n in only])
                when, else_when = (f"{they} {REMOVED[how]}" for how in (one, two))
                found.append(f"{noun} {listed} {verb} only when {when}, not when {else_when}.")
    return tuple(found)


def times(nats: float) -> str:
    """By which factor something is more probable."""
    factor = math.exp(min(nats, 50.0))
    if factor < 9.95:
        return f"{factor:.1f} times"
    return f"{float(f'{factor:.2g}'):,.0f} times" if factor < 1e6 else "over a million times"


def fraction(nats: float) -> str:
    """By which part something is as probable: ``1/12``."""
    factor = math.exp(min(nats, 50.0))
    if factor < 1.05:
        return "just"
    if factor < 2.0:
        return f"{100 / factor:.0f} %"
    if factor >= 1e6:
        return "less than a millionth"
    return f"1/{float(f'{factor:.2g}'):,.0f}"


def lower(subject: str) -> str:
    """A subject inside a sentence."""
    return subject[0].lower() + subject[1:]


def join(names: Sequence[str]) -> str:
    """``1, 2 and 3``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
