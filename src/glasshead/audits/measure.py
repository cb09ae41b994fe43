"""One map over shards of inputs: every audit measures every input once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.data_view import Sample
from glasshead.audits.judge import REFERENCE, REST, Wanted
from glasshead.audits.measurements import Measurements
from glasshead.audits.progress import StageProgress
from glasshead.audits.reference import Reference
from glasshead.audits.view import ModelView

SHARD, SHARD_TOKENS = 32, 4096
"""Inputs of a shard: so many, or as many as have so many tokens, the longest counted for each."""


class Measurer:
    """Puts shards of a sample before the model, of which ``view`` has the first inputs ``known`` already."""

    def __init__(self, sample: Sample, view: ModelView, known: NDArray[np.int64]) -> None:
        self.sample, self.known_view = sample, view
        self.place_in_view = {place: row for row, place in enumerate(known.tolist())}
        self.rest_reference: Reference | None = None

    def measure(self, wanted: Sequence[Wanted], kept: Measurements, stages: StageProgress) -> None:
        """Ask every audit about every input that has no row yet, shard by shard."""
        ids = self.sample.ids
        settings = self.known_view.settings
        missing = {
            one.key: kept.missing(one.key, ids) & self.sample.asked(one.most(settings)) for one in wanted
        }
        if any(one.rest for one in wanted):
            self.rest_reference = kept.reference(
                REFERENCE + REST, lambda: self.known_view.without_first().known
            )
        total = int(np.any([*missing.values()], axis=0).sum())
        done = 0
        for shard in self.shards(np.any([*missing.values()], axis=0)):
            for places, asked in group_by_places(shard, wanted, missing):
                view = self.view(places)
                rest = view.without_first(self.rest_reference) if any(one.rest for one in asked) else None
                for one in asked:
                    stages.at(one.key, done, total)
                    of_this = rest if one.rest else view
                    assert of_this is not None
                    kept.add(one.key, ids[places], one.measure(of_this), one.columns)
            done += len(shard)

    def view(self, places: NDArray[np.int64]) -> ModelView:
        """Some inputs before the model."""
        if all(place in self.place_in_view for place in places.tolist()):
            rows = np.array([self.place_in_view[place] for place in places.tolist()], dtype=np.int64)
            whole = len(rows) == len(self.known_view.labels)
            return self.known_view if whole else self.known_view.some(rows)
        view = self.sample.view(places)
        explanation = self.known_view.explanation
        return view.but(reference=self.known_view.known).watched(explanation.progress, explanation.in_parts)

    def shards(self, missing: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
        """The places of inputs that lack a row, in random order, fewer at a time where they are long."""
        order = np.argsort(self.sample.ranks, kind="stable")
        order = order[missing[order]]
        lengths = self.sample.encoded.mask.sum(dim=1).numpy()
        start = 0
        while start < len(order):
            longest = np.maximum.accumulate(lengths[order[start : start + SHARD]])
            fits = int((longest * np.arange(1, len(longest) + 1) <= SHARD_TOKENS).sum())
            end = start + max(fits, 1)
            yield np.sort(order[start:end])
            start = end


def group_by_places(
    shard: NDArray[np.int64], wanted: Sequence[Wanted], missing: Mapping[str, NDArray[np.bool_]]
) -> Iterator[tuple[NDArray[np.int64], list[Wanted]]]:
    """What the same inputs of a shard lack, together."""
    groups: dict[bytes, tuple[NDArray[np.int64], list[Wanted]]] = {}
    for one in wanted:
        places = shard[missing[one.key][shard]]
        if len(places):
            groups.setdefault(places.tobytes(), (places, []))[1].append(one)
    yield from groups.values()
