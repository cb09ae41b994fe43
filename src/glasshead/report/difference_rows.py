"""Differences between audits or runs on paper: a number, its interval, and a dot about zero."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.report.html_fragments import Scale
from glasshead.report.number_format import count, interval, number, round_up
from glasshead.results import Difference


@dataclass(frozen=True)
class Gap:
    """One difference, ready to print."""

    difference: Difference
    estimate: str
    interval: str
    n: str
    plot: Markup


def gap_scale(differences: Sequence[Difference]) -> Scale | None:
    """A range about zero that holds them all; None where there are none."""
    ends = [abs(end) for each in differences for end in (each.estimate, *(each.interval or ()))]
    if not ends:
        return None
    widest = round_up(max(ends)) or 1.0
    return Scale(-widest, widest)


def pairs(differences: Sequence[Difference]) -> list[tuple[int, int]]:
    """Who is compared with whom, each pair once, in order."""
    return list(dict.fromkeys((each.one, each.other) for each in differences))


def gap(difference: Difference, scale: Scale) -> Gap:
    """A difference on a scale."""
    return Gap(
        difference,
        number(difference.estimate, plus=True),
        interval(difference.interval),
        count(difference.n),
        scale.gap(difference.estimate, difference.interval),
    )


def gaps_of(name: str, differences: Sequence[Difference], scale: Scale | None) -> list[Gap | None]:
    """The differences of one quantity, one for each pair; None where a pair has none."""
    found = {(each.one, each.other): each for each in differences if each.name == name}
    return [
        gap(found[pair], scale) if scale is not None and pair in found else None
        for pair in pairs(differences)
    ]


def told(difference: Difference, names: Sequence[str]) -> str:
    """A difference as a sentence."""
    return (
        f"{names[difference.one]} minus {names[difference.other]}: {number(difference.estimate, plus=True)} "
        f"{interval(difference.interval)} over {count(difference.n)} shared texts: {difference.verdict}."
    )
