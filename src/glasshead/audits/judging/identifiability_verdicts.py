"""What shares of maps come to in words: as much as their intervals say, with the maps that were left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.question import Outcome, decisive, usable
from glasshead.audits.judging.summary import Interval, StatSummary
from glasshead.nouns import Nouns
from glasshead.results import (
    ALMOST_ALL,
    HARDLY_ANY,
    POINT_WIDTH,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Finding,
    Holds,
    Verdict,
    too_few,
)

CERTIFICATES = {
    "fixed": "maps that are the same for every query: no more keys than the rank, or equal keys",
    "undetermined": "maps for which the keys do not decide it",
    "undefined": "maps of learned queries, to which it does not apply, and maps that are missing",
}
"""Why a certificate is not a yes or no."""


def width_verdict(summary: StatSummary, lines: AnyFloats, unclear: int, nouns: Nouns) -> Verdict:
    """How far weights can move; that of maps which are NaN in ``lines`` is not known.

    ``unclear`` is the number of maps whose rank is close to rounding.
    """
    if summary.reliable_interval is None:
        return TOO_FEW_EXAMPLES
    left = count_undecided(lines)
    if summary.reliable_interval[1] > POINT_WIDTH:
        verdict = random_verdict(summary.reliable_differences.get("random"), nouns)
        return verdict._replace(words=verdict.words + left)
    if unclear:
        words = "every weight is certain as far as ranks show"
        return Verdict(f"{words}: those of {unclear:,} maps are close to rounding{left}")
    return Verdict(f"every weight{' that could be decided' if left else ''} is certain{left}")


def may_move(finding: Finding) -> bool:
    """Whether the verdict on a width compares it with that over random values: not where it is a point."""
    return finding.interval is not None and finding.interval[1] > POINT_WIDTH


def random_verdict(over: Interval | None, nouns: Nouns) -> Verdict:
    """How weights move next to those over random values."""
    if over is None:
        return too_few("maps with random values")
    if over[0] <= 0 <= over[1]:
        return Verdict(f"not distinguishable from random values on these {nouns.texts}")
    return Verdict(f"{'narrower' if over[1] < 0 else 'wider'} than over random values")


def count_undecided(lines: AnyFloats) -> str:
    """How many maps have no number."""
    left = int(np.isnan(lines).sum())
    return f" ({left:,} of {len(lines):,} maps undecided)" if left else ""


def judge_maps(statistic: str, interval: Interval | None, lines: AnyFloats, nouns: Nouns) -> Verdict:
    """The words that the ``interval`` of a share over texts allows, and how many maps were yes, no and open.

    ``lines`` [maps] are 1, 0 or, of the largest weights that may be zero, a share; NaN where it is open.
    """
    if interval is None:
        return TOO_FEW_EXAMPLES
    still_open = int(np.isnan(lines).sum())
    decided = " that could be decided" if still_open else ""
    left = f", {still_open:,} undecided" if still_open else ""
    yes, no = int((lines == 1).sum()), int((lines == 0).sum())
    if statistic == "identifiable":
        tally = f"{yes:,} of {len(lines):,} are unique, {no:,} are not{left}"
        return Verdict(f"{identifiable_words(interval, yes, no, decided)} ({tally})")
    if statistic == "another-first":
        return Verdict(f"{nouns.fill(first_match(FIRST, interval))} ({yes:,} of {len(lines):,} maps{left})")
    return Verdict(first_match(ZERO_WORDS, interval) + count_undecided(lines))


def identifiable_words(interval: Interval, yes: int, no: int, decided: str) -> str:
    """Which maps are the only ones: all and none are said of nothing less."""
    other = "other weights give the same head output"
    if interval[0] >= ALMOST_ALL:
        return f"{'almost ' if no or decided else ''}every map{decided} is the only one with its head output"
    if interval[1] <= HARDLY_ANY:
        return f"for {'almost ' if yes or decided else ''}every map{decided} {other}"
    if interval[0] > 0.5:
        return f"most maps{decided} are the only ones with their head output"
    if interval[1] < 0.5:
        return f"for most maps{decided} {other}"
    return f"some maps{decided} are the only ones with their head output, others are not"


def keys_verdict(interval: Interval | None, certificates: NDArray[np.str_]) -> Verdict:
    """Whether nearby queries do the same, with the number of maps of every kind.

    ``interval`` is that of the share of unique maps among those that are unique or not.
    """
    count = Counter(certificates.tolist())
    num_maps = len(certificates) - count["undefined"]
    if not num_maps:
        return Verdict(f"not tested: {CERTIFICATES['undefined']}", "not evidence", "not tested")
    tally = (
        f"of {num_maps:,} maps {count['unique']:,} are unique, {count['not unique']:,} are not, "
        f"{count['undetermined']:,} are undetermined, and {count['fixed']:,} are fixed for every query"
    )
    verdict = keys_verdict_without_counts(interval, count)
    return verdict._replace(words=f"{verdict.words}: {tally}")


def keys_verdict_without_counts(interval: Interval | None, count: Mapping[str, int]) -> Verdict:
    """The part of the sentence before the numbers."""
    if count["fixed"] and not any(count[kind] for kind in ("unique", "not unique", "undetermined")):
        return Verdict("no query gives the same output with other weights")
    if interval is None:
        return Verdict("undecided", "undecided", "too few")
    limited_to = "where this can be decided, " if count["undetermined"] else ""
    same = "the same output with other weights"
    if interval[0] >= ALMOST_ALL:
        if not count["not unique"]:
            return Verdict(f"{limited_to}no nearby query gives {same}")
        return Verdict(f"{limited_to}nearby queries hardly ever give {same}")
    if interval[1] <= HARDLY_ANY:
        often = "almost always " if count["unique"] else ""
        return Verdict(f"{limited_to}nearby queries {often}give {same}")
    if interval[0] > 0.5:
        return Verdict(f"{limited_to}in most maps no nearby query gives {same}")
    if interval[1] < 0.5:
        return Verdict(f"{limited_to}in most maps nearby queries give {same}")
    return Verdict(f"{limited_to}nearby queries give {same} in some maps")


ShareWords = tuple[tuple[Callable[[float, float], bool], str], ...]
FEW_SHARE, HALF = 0.1, 0.5
ONLY_AT = (HALF, 1 - FEW_SHARE)
"""The shares of maps at which `only_map` changes its answer."""
ANOTHER = "another {token} could be the most attended one"
ALWAYS: Callable[[float, float], bool] = lambda low, high: True  # noqa: E731
ZERO_WORDS: ShareWords = (
    (lambda low, high: high <= FEW_SHARE, "hardly any of the largest weights could be zero"),
    (lambda low, high: low > 0.5, "most of the largest weights could be zero"),
    (lambda low, high: high < 0.5, "fewer than half of the largest weights could be zero"),
    (ALWAYS, "about half of the largest weights could be zero"),
)
FIRST: ShareWords = (
    (lambda low, high: high <= FEW_SHARE, "the most attended {token} is almost always certain"),
    (lambda low, high: low > 0.5, f"in most maps {ANOTHER}"),
    (
        lambda low, high: high < 0.5,
        f"in fewer than half of the maps {ANOTHER}",
    ),
    (ALWAYS, f"in about half of the maps {ANOTHER}"),
)
"""Conditions on the ends of an interval, in the order in which they are tried, and words with fields for
what inputs are called."""


def first_match(words: ShareWords, interval: Interval) -> str:
    """Those whose condition holds first."""
    return next(conclusion for holds, conclusion in words if holds(*interval))


def only_map(card: AuditCard, finding: Finding) -> Holds:
    """The only map in nine maps of ten or more, in less than half, or certainly in neither."""
    ends = decisive(finding)
    if ends is None:
        return "undecided"
    most = 1 - FEW_SHARE
    if ends[0] >= most or ends[1] < HALF:
        return "yes" if ends[0] >= most else "no"
    return "in part" if ends[0] > FEW_SHARE and ends[1] < most else "undecided"


def other_weights(card: AuditCard) -> Outcome | None:
    """Whether other weights would have given the same output."""
    finding = usable(card, "identifiability.identifiable.all")
    if finding is None:
        return None
    interval = decisive(finding)
    if interval is None:
        return Outcome("", ("whether other weights give the same output",), (finding,))
    (low, high), left = interval, sum(finding.undefined.values())
    of = f" of those decided ({left:,} were not)" if left else ""
    alone, others = "no other weights give the same output", "other weights give the same output"
    if low >= ALMOST_ALL:
        every = f"in every map{of}" if finding.estimate == 1 else f"in almost every map{of}"
        return Outcome(f"{every} {alone}")
    if high <= HARDLY_ANY:
        every = f"in every map{of}" if finding.estimate == 0 else f"in almost every map{of}"
        return Outcome(f"{every} {others}")
    if low > 0.5:
        return Outcome(f"in most maps{of} {alone}")
    return Outcome(f"in {'most' if high < 0.5 else 'some'} maps{of} {others}")
