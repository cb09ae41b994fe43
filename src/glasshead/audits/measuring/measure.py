"""One map over shards of inputs: every audit measures every input once, wherever that is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.judge import REFERENCE, SUFFIXES, Wanted
from glasshead.audits.judging.base import Measured
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.estimate import Estimate
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.reference import Reference
from glasshead.audits.measuring.view import ModelView
from glasshead.durations import rough_duration
from glasshead.nouns import Nouns

SHARD, SHARD_TOKENS = 32, 4096
"""Inputs of a shard: so many, or as many as have so many tokens, the longest counted for each."""
FIRST_SHARD = 2
"""Inputs of the first two shards where there is much to do, or a budget: the time that is left follows from
them. Workers take such shards until one is measured."""
QUICK = 2e9
"""Parameters × tokens of a pass over all inputs, up to which nobody waits for an estimate."""
LONG = 10.0
"""Seconds from which on an estimate is worth a line."""
WARM = 5.0
"""Seconds after which the first shard is enough for it: what is done once is little next to them."""
Clock = Callable[[], float]


class Part(NamedTuple):
    """Some inputs of a shard, by their places in the sample, and what they lack."""

    places: NDArray[np.int64]
    wanted: Sequence[Wanted]


Shard = Sequence[Part]
Answer = tuple[Measured, float]
"""The rows of an audit for the inputs of a part, and the seconds that they took."""
Executor = Callable[[Iterator[Shard]], Iterator[tuple[Shard, Iterable[Answer]]]]
"""Measures shards, in this process or in others: of each shard an answer for what each part wants, in
order."""


class Measurer:
    """Puts what inputs lack before a model, shard by shard, in random order.

    ``most`` is how many inputs each audit asks at most, by the settings of a view. ``workers`` measure at the
    same time. ``deadline`` is when, by the ``clock``, no further shard begins, but for a first one;
    ``is_enough`` says of the inputs that were measured whether others are needed.
    """

    def __init__(
        self,
        sample: Sample,
        wanted: Sequence[Wanted],
        kept: Measurements,
        most: Mapping[str, int | None],
        *,
        workers: int = 1,
        deadline: float | None = None,
        is_enough: Callable[[NDArray[np.int64]], bool] | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.sample, self.wanted, self.kept = sample, wanted, kept
        self.workers, self.deadline, self.is_enough, self.clock = workers, deadline, is_enough, clock
        known = {one.key: kept.ids(one.key) for one in wanted}
        self.missing = {
            key: ~np.isin(sample.ids, ids) & sample.asked(most[key]) for key, ids in known.items()
        }
        self.others = max((int((~np.isin(ids, sample.ids)).sum()) for ids in known.values()), default=0)
        self.tokens = sample.encoded.mask.sum(dim=1).numpy()
        self.estimate, self.begun = Estimate(self.missing, self.tokens), clock()

    def measure(self, executor: Executor, stages: StageProgress) -> None:
        """Measure until nothing is missing, or the time is spent."""
        incomplete = np.any([*self.missing.values()], axis=0)
        done, total, is_warm = 0, int(incomplete.sum()), False
        stages.begin("measuring")
        if self.others:
            nouns = stages.nouns
            more = f"{self.others:,} other {nouns.text if self.others == 1 else nouns.texts}"
            own = nouns.count(len(self.sample.ids))
            stages.remark(f"This run covers {own}; the folder also keeps measurements of {more}")
        stages.at(done, total, None)
        for shard, answers in executor(self.shards(incomplete)):
            asked = [(part.places, one) for part in shard for one in part.wanted]
            for (places, one), (measured, seconds) in zip(asked, answers, strict=True):
                self.kept.add(one.key, self.sample.ids[places], measured, one.columns)
                self.missing[one.key][places] = False
                self.estimate.add(one.key, places, seconds)
                stages.at(done, total, self.share if is_warm else None)
            was_warm, is_warm = is_warm, done > 0 or self.estimate.behind >= WARM
            done += len(union(shard))
            stages.at(done, total, self.share if is_warm or done == total else None)
            stages.on_texts(0, total)
            if is_warm and not was_warm and self.estimate.left / self.workers >= LONG:
                stages.remark(self.price(stages.nouns, done, total))

    @property
    def share(self) -> float | None:
        """How much of the work, or of the time that is given, is behind; None where neither ends it."""
        if self.deadline is not None:
            return min((self.clock() - self.begun) / max(self.deadline - self.begun, 1e-9), 1.0)
        return None if self.is_enough else self.estimate.share

    def price(self, nouns: Nouns, done: int, total: int) -> str:
        """How long all of it will take, in words, and how much of it there is time for."""
        seconds = (self.estimate.behind + self.estimate.left) / self.workers
        words = f"About {rough_duration(seconds)} for {nouns.count(total)} (measured on {done})"
        left = self.estimate.left / self.workers
        if self.deadline is None or left <= (given := self.deadline - self.clock()):
            return words
        fitting = done + int((total - done) * max(given, 0.0) / left)
        return f"{words}; the budget covers about {nouns.count(fitting)}"

    def complete(self) -> NDArray[np.int64]:
        """The places of the inputs that have a row of every audit that asks them."""
        return np.flatnonzero(~np.any([*self.missing.values()], axis=0))

    def shards(self, missing: NDArray[np.bool_]) -> Iterator[Shard]:
        """Inputs that lack a row, in random order, fewer at a time where they are long or time is short."""
        order = np.argsort(self.sample.ranks, kind="stable")
        order = order[missing[order]]
        size = sum(parameter.numel() for parameter in self.sample.model.parameters())
        needs_estimate = self.deadline is not None or size * self.tokens[order].sum() > QUICK
        start = 0
        while start < len(order) and not (self.is_enough and self.is_enough(self.complete())):
            is_known = self.estimate.is_known and start >= 2 * FIRST_SHARD
            ahead = order[start : start + (FIRST_SHARD if needs_estimate and not is_known else SHARD)]
            fits = self.fitting(ahead, start > 0)
            if not fits:
                return
            yield list(group_by_places(np.sort(ahead[:fits]), self.wanted, self.missing))
            start += fits

    def fitting(self, ahead: NDArray[np.int64], has_begun: bool) -> int:
        """How many of the next inputs make a shard; 0 where there is no time for any."""
        longest = np.maximum.accumulate(self.tokens[ahead])
        fits = max(int((longest * np.arange(1, len(ahead) + 1) <= SHARD_TOKENS).sum()), 1)
        if self.deadline is None or not has_begun:
            return fits
        seconds = self.estimate.seconds_of(ahead).cumsum()
        return min(fits, int((seconds < self.deadline - self.clock()).sum()))


def union(shard: Shard) -> NDArray[np.int64]:
    """The places of all inputs of a shard."""
    return np.unique(np.concatenate([part.places for part in shard]))


class InThisProcess:
    """The executor that measures here: of the inputs ``known`` the first pass is behind, in a ``view``."""

    def __init__(
        self,
        sample: Sample,
        view: ModelView,
        known: NDArray[np.int64],
        of_parts: Mapping[str, Reference],
        begin: Callable[[str], None],
        clock: Clock = time.perf_counter,
    ) -> None:
        self.sample, self.known_view, self.of_parts = sample, view, of_parts
        self.place_in_view = {place: row for row, place in enumerate(known.tolist())}
        self.begin, self.clock = begin, clock

    def __call__(self, shards: Iterator[Shard]) -> Iterator[tuple[Shard, Iterable[Answer]]]:
        for shard in shards:
            yield shard, answers(shard, self.view, self.of_parts, self.begin, self.clock)

    def view(self, places: NDArray[np.int64]) -> ModelView:
        """Some inputs for the model."""
        if all(place in self.place_in_view for place in places.tolist()):
            rows = np.array([self.place_in_view[place] for place in places.tolist()], dtype=np.int64)
            whole = len(rows) == len(self.known_view.labels)
            return self.known_view if whole else self.known_view.some(rows)
        view = self.sample.view(places)
        return view.but(reference=self.known_view.known).watched(self.known_view.explanation.progress)


def answers(
    shard: Shard,
    view_of: Callable[[NDArray[np.int64]], ModelView],
    of_parts: Mapping[str, Reference],
    begin: Callable[[str], None] = lambda key: None,
    clock: Clock = time.perf_counter,
) -> Iterator[Answer]:
    """Measure what every part of a shard wants, one after the other; ``begin`` is told which audit."""
    for places, wanted in shard:
        began = clock()
        view = view_of(places)
        views = {"": view} | {part: view.only(part, of_parts[part]) for part in parts_of(wanted)}
        for one in wanted:
            begin(one.key)
            measured = one.measure(views[one.part])
            ended = clock()
            yield measured, ended - began
            began = ended


def parts_of(wanted: Sequence[Wanted]) -> list[str]:
    """The parts of the units that some audit asks about alone."""
    return list(dict.fromkeys(one.part for one in wanted if one.part))


def measure_parts(kept: Measurements, wanted: Sequence[Wanted], view: ModelView) -> dict[str, Reference]:
    """The reference of the inputs for each part of their units that some audit asks about alone."""

    def known_of(part: str) -> Reference:
        return kept.reference(REFERENCE + SUFFIXES[part], lambda: view.only(part).known)

    return {part: known_of(part) for part in parts_of(wanted)}


def group_by_places(
    shard: NDArray[np.int64], wanted: Sequence[Wanted], missing: Mapping[str, NDArray[np.bool_]]
) -> Iterator[Part]:
    """What the same inputs of a shard lack, together."""
    groups: dict[bytes, tuple[NDArray[np.int64], list[Wanted]]] = {}
    for one in wanted:
        places = shard[missing[one.key][shard]]
        if len(places):
            groups.setdefault(places.tobytes(), (places, []))[1].append(one)
    for places, own in groups.values():
        yield Part(places, own)
