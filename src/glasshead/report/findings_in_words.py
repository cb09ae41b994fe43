"""The nulls of a finding, and its paired differences from them, in words."""

from collections.abc import Mapping

from glasshead.report.number_format import DASH, count, finite, interval, number
from glasshead.results import Finding


def nulls(null: Mapping[str, float | None]) -> str:
    """The nulls in words, those that exist: ``random 0.001, uniform 0.2``."""
    return (
        ", ".join(f"{name} {number(value)}" for name, value in null.items() if finite(value) is not None)
        or DASH
    )


def over_nulls(finding: Finding) -> str:
    """The paired differences in words: ``Text by text (n = 60), minus random: −0.023 [−0.044, −0.002].``"""
    known = {name: pair for name, pair in finding.over_null.items() if pair.estimate is not None}
    sizes = {name: f" (n = {count(pair.n)})" for name, pair in known.items()}
    (shared,) = set(sizes.values()) if len(set(sizes.values())) == 1 else ("",)
    differences = "; ".join(
        f"minus {name}{'' if shared else sizes[name]}: {number(pair.estimate, plus=True)} "
        f"{interval(pair.interval, plus=True)}"
        for name, pair in known.items()
    )
    return f"Text by text{shared}, {differences}." if known else ""
