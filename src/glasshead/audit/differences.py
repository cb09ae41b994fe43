"""How the findings of two audits differ, text by text where both have read the same ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.audit.bootstrap import mean_intervals
from glasshead.audit.summary import FEW, Interval
from glasshead.differences import Difference
from glasshead.results import AuditCard, Finding

NOTHING_SHARED = "they have no text in common, so nothing can be paired: compare their intervals"
NOT_PAIRED = (
    "Token groups are means over token types, and groups by maximum weight hold other texts in each audit: "
    "such findings have no paired difference, compare their intervals."
)
Floats = NDArray[np.float64]


def differences(cards: Sequence[AuditCard], base: int = 0) -> tuple[list[Difference], list[str]]:
    """Every finding of each audit minus that of the audit ``base``; and what could not be paired, in words.

    Means over the texts that both audits read (the same row with the same words) and where both have a
    number, with the paired bootstrap 95 % interval.
    """
    found: list[Difference] = []
    notes: dict[str, None] = {}
    for rank, card in enumerate(cards):
        if rank == base:
            continue
        rows = shared_rows(card, cards[base])
        if not len(rows[0]):
            names = (str(each.facts.get("name") or "an audit") for each in (card, cards[base]))
            notes[f"{' and '.join(names)}: {NOTHING_SHARED}."] = None
            continue
        columns: dict[str, Floats] = {}
        for finding in card.findings:
            if cards[base].finding(finding.name) is None:
                continue
            ours, theirs = per_example(card, finding), per_example(cards[base], finding)
            if ours is None or theirs is None:
                notes[NOT_PAIRED] = None
            else:
                columns[finding.name] = ours[rows[0]] - theirs[rows[1]]
        estimates = mean_intervals(
            np.stack([*columns.values()]) if columns else np.empty((0, 0)),
            rng=np.random.default_rng([0, rank]),
        )
        found += [
            Difference(name, rank, base, each.mean, each.interval, each.n, verdict(each.interval, each.n))
            for name, each in zip(columns, estimates, strict=True)
            if each.mean is not None
        ]
    return found, list(notes)


def shared_rows(card: AuditCard, other: AuditCard) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the texts that both have read stand in the examples of each."""
    keys = [
        list(zip(each.examples["index"], each.examples["text"], strict=True)) if has(each) else []
        for each in (card, other)
    ]
    place = {key: row for row, key in enumerate(keys[1])}
    pairs = [(row, place[key]) for row, key in enumerate(keys[0]) if key in place]
    ours, theirs = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return ours, theirs


def has(card: AuditCard) -> bool:
    """Whether its examples can be told from each other."""
    return {"index", "text", "label", "predicted"} <= set(card.examples)


def per_example(card: AuditCard, finding: Finding) -> Floats | None:
    """What a finding is the mean of, NaN for texts outside of its group; None where that is no column."""
    if finding.audit == "performance" and finding.statistic == "accuracy":
        pairs = zip(card.examples["predicted"], card.examples["label"], strict=True)
        values = np.array([predicted == label for predicted, label in pairs], dtype=np.float64)
    else:
        patterns = {"agreement": "tau.{}.{}", "perturbation": "{}.median.{}"}
        name = patterns.get(finding.audit, "").format(finding.statistic, finding.against)
        if name not in card.examples:
            return None
        column: Any = card.examples[name]
        values = np.array([np.nan if value is None else value for value in column], dtype=np.float64)
    if finding.group in ("all", ""):
        return values
    if not finding.group.startswith("class "):
        return None
    inside = np.array([f"class {label}" == finding.group for label in card.examples["label"]])
    return np.where(inside, values, np.nan)


def verdict(interval: Interval | None, n: int) -> str:
    """In words, from the interval alone."""
    if interval is None or n < FEW:
        return "undecided: too few examples"
    return "higher" if interval[0] > 0 else "lower" if interval[1] < 0 else "no difference shown"
