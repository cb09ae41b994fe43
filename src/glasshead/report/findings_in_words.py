"""The numbers of a finding as they are printed: estimate or bound, interval, nulls, paired differences."""

from glasshead.nouns import Nouns
from glasshead.report.number_format import DASH, count, finite, interval, number
from glasshead.results import Finding
from glasshead.wording import decided_by, sentence

SIGNS = {"": "", "lower": "≥\u00a0", "upper": "≤\u00a0"}


def estimate(finding: Finding) -> str:
    """The estimate, or the bound as one: ``≥ 0.175``."""
    return with_sign(finding, finding.estimate)


def bounds(finding: Finding) -> str:
    """The interval; of a bound, which has none, that it is one, and its limit for other texts."""
    if finding.bound and finite(finding.estimate) is not None:
        limit = (
            ""
            if finite(finding.limit) is None
            else f" (for other texts {SIGNS[finding.bound]}{number(finding.limit)})"
        )
        return f"{finding.bound} bound{limit}"
    return interval(finding.interval)


def with_sign(finding: Finding, value: float | None) -> str:
    """A number of a finding, or of its nulls, as the bound that it is."""
    return number(value) if finite(value) is None else f"{SIGNS[finding.bound]}{number(value)}"


def nulls(finding: Finding) -> str:
    """The nulls in words, those that exist: ``random 0.001, uniform 0.2``."""
    known = (
        f"{name} {with_sign(finding, value)}"
        for name, value in finding.null.items()
        if finite(value) is not None
    )
    return ", ".join(known) or DASH


def verdict_sentence(finding: Finding, nouns: Nouns) -> str:
    """The verdict as a sentence, and about how many inputs would decide what is undecided."""
    more = decided_by(finding.inputs_needed, nouns.texts, few=finding.reason == "too few")
    return f"{sentence(finding.verdict)}{more}"


def over_nulls(finding: Finding) -> str:
    """The paired differences in words: ``Paired difference (n = 60) from random: −0.02 [−0.04, −0.01].``, and
    the noise floor."""
    known = {name: pair for name, pair in finding.over_null.items() if pair.estimate is not None}
    sizes = {name: f" (n = {count(pair.n)})" for name, pair in known.items()}
    (shared,) = set(sizes.values()) if len(set(sizes.values())) == 1 else ("",)
    differences = "; ".join(
        f"from {name}{'' if shared else sizes[name]}: {number(pair.estimate, plus=True)} "
        f"{interval(pair.interval, plus=True)}"
        for name, pair in known.items()
    )
    paired = f"Paired difference{shared} {differences}." if known else ""
    return " ".join(filter(None, (paired, smallest_change(finding))))


def smallest_change(finding: Finding) -> str:
    """The noise floor in words; nothing where there is none."""
    return "" if finding.floor is None else f"Noise floor: {number(finding.floor)}."
