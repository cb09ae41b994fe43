"""What products of halves do to the numbers of an audit: a few inputs are measured in float32, too.

Each number is computed for every one of these inputs alone, in halves and in float32. The noise floors of the
means over all inputs follow from the differences (`floor_of`), at the level of the interval that they widen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.judge import Wanted, base_rows, judge_rows
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.judging.reference_facts import Reference
from glasshead.audits.judging.settings import Settings
from glasshead.audits.judging.summary import Shifts, floor_key
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.measure import Clock, InThisProcess, Measurer, measure_parts
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.performance import PERFORMANCE, Performance
from glasshead.huggingface import products_of
from glasshead.opening import dtype_name
from glasshead.results import Finding

FLOOR_INPUTS = 16
"""So many inputs, the first of the data in random order."""
FLOOR_PREDICTIONS = 200
"""Of so many the predictions alone are compared, which one pass gives: few of them change."""


def measure_shifts(
    sample: Sample,
    wanted: Sequence[Wanted],
    reference: Reference,
    settings: Settings,
    stages: StageProgress,
    clock: Clock,
) -> dict[str, Shifts]:
    """By how much float32 moves the findings of each audit, input by input."""
    shifts: dict[str, Shifts] = {}
    for some, own in floor_parts(sample, wanted, settings):
        stores = []
        nouns, half = stages.nouns, dtype_name(products_of(sample.model) or "")
        for one, how in ((some, half), (some.in_float32(), "float32")):
            finest = reference if one is some else reference._replace(floor=0.0)
            stages.remark(f"{nouns.count(len(one.texts))} in {how}, for the noise floor")
            stores.append(measured_here(one, own, finest, settings, stages, clock))
        shifts |= shifts_between(stores[0], stores[1], own, some.ids, settings)
    return shifts


def floor_parts(
    sample: Sample, wanted: Sequence[Wanted], settings: Settings
) -> Iterator[tuple[Sample, list[Wanted]]]:
    """Some inputs, and what is measured of them: predictions of many, asked or not, and all else of a few."""
    others = [one for one in wanted if one.key != PERFORMANCE]
    if any(one.audit is not None for one in others):
        yield first_inputs(sample, FLOOR_INPUTS), others
    if not settings.rates_answers:
        rows = [one for one in wanted if one.audit is None and not one.part]
        yield first_inputs(sample, FLOOR_PREDICTIONS), [*rows, Wanted(PERFORMANCE, Performance())]


def first_inputs(sample: Sample, count: int) -> Sample:
    """The first inputs of the data in random order."""
    return sample.some(np.sort(np.argsort(sample.ranks, kind="stable")[:count]))


def measured_here(
    sample: Sample,
    wanted: Sequence[Wanted],
    reference: Reference,
    settings: Settings,
    stages: StageProgress,
    clock: Clock,
) -> Measurements:
    """All rows of a few inputs, in memory."""
    kept, view = Measurements(), sample.view().but(reference=reference)
    every = np.arange(len(sample.texts))
    of_parts = measure_parts(kept, wanted, view)
    executor = InThisProcess(sample, view, every, of_parts, stages.measure, clock)
    most = {one.key: one.most(settings) for one in wanted}
    Measurer(sample, wanted, kept, most, clock=clock).measure(executor, stages)
    return kept


def shifts_between(
    coarse: Measurements,
    fine: Measurements,
    wanted: Sequence[Wanted],
    ids: NDArray[np.int64],
    settings: Settings,
) -> dict[str, Shifts]:
    """What is measured in float32 minus that in halves, of each input that has the number in both."""
    shifts: dict[str, dict[str, list[float]]] = {one.key: {} for one in wanted if one.audit is not None}
    for place in range(len(ids)):
        own, exact = (judge_few(wanted, kept, ids[[place]], settings) for kept in (coarse, fine))
        for key, findings in own.items():
            others = numbers_of(exact[key])
            for name, value in numbers_of(findings).items():
                if name in others:
                    shifts[key].setdefault(name, []).append(others[name] - value)
    return dict(shifts)


def judge_few(
    wanted: Sequence[Wanted], kept: Measurements, ids: NDArray[np.int64], settings: Settings
) -> dict[str, list[Finding]]:
    """The findings of each audit about a few inputs."""
    inputs = base_rows(wanted, kept, ids, {})
    return {
        one.key: judge_rows(
            one, kept.read(one.key, ids, one.columns), inputs[one.part], settings, ()
        ).findings
        for one in wanted
        if one.audit is not None
    }


def numbers_of(findings: Sequence[Finding]) -> dict[str, float]:
    """The estimates of the first finding about each statistic, which is the overall one, and its differences
    from nulls."""
    numbers: dict[str, float] = {}
    for one in findings:
        own = {"": one.estimate, **{null: pair.estimate for null, pair in one.over_null.items()}}
        for null, value in own.items():
            if value is not None and np.isfinite(value):
                numbers.setdefault(floor_key(one.statistic, one.against, null), value)
    return numbers
