"""Differences between audits or runs on paper: a number, its interval, a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.nouns import Nouns
from glasshead.report.number_format import count, interval, number, round_up
from glasshead.results import MIN_UNITS, Difference, Finding


@dataclass(frozen=True)
class DifferenceRow:
    """One difference, ready to print."""

    difference: Difference
    estimate: str
    interval: str
    n: str


def can_be_judged(difference: Difference, findings: Sequence[Finding]) -> bool:
    """Whether the interval of a difference of these two findings may be taken at its word: both are evidence,
    over enough shared texts."""
    return (
        difference.interval is not None
        and difference.n >= MIN_UNITS
        and all(finding.status == "evidence" for finding in findings)
    )


def difference_limits(differences: Sequence[Difference]) -> tuple[float, float] | None:
    """A range about zero that holds them all; None if there are none."""
    ends = [abs(end) for one in differences for end in (one.estimate, *(one.interval or ()))]
    if not ends:
        return None
    widest = round_up(max(ends)) or 1.0
    return -widest, widest


def pairs(differences: Sequence[Difference]) -> list[tuple[int, int]]:
    """Who is compared with whom, each pair once, in order."""
    return list(dict.fromkeys((one.one, one.other) for one in differences))


def difference_row(difference: Difference) -> DifferenceRow:
    """A difference in figures."""
    return DifferenceRow(
        difference,
        number(difference.estimate, plus=True),
        interval(difference.interval),
        count(difference.n),
    )


def rows_by_pair(name: str, differences: Sequence[Difference]) -> list[DifferenceRow | None]:
    """The differences of one quantity, one for each pair; None where a pair has none."""
    known = {(one.one, one.other): one for one in differences if one.name == name}
    return [difference_row(known[pair]) if pair in known else None for pair in pairs(differences)]


def difference_sentence(difference: Difference, names: Sequence[str], nouns: Nouns) -> str:
    """A difference as a sentence about such inputs."""
    return (
        f"{names[difference.one]} minus {names[difference.other]}: {number(difference.estimate, plus=True)} "
        f"{interval(difference.interval)} over {count(difference.n)} shared {nouns.texts}: "
        f"{difference.verdict}."
    )
