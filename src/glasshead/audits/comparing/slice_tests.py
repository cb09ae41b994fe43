"""Does a finding differ between slices? One permutation test for each finding that is a mean over texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.comparing.compare_audits import example_values
from glasshead.audits.judging.base import AUDITS
from glasshead.audits.judging.slices import Slicing
from glasshead.results import (
    CONSTRUCTED,
    MIN_UNITS,
    ON_IMAGE,
    ON_WORDS,
    PRODUCTS,
    UNIT,
    AuditCard,
    Finding,
    SliceTest,
)
from glasshead.statistics import GroupTest, exchange_tails, group_tests, holm

UNIT_LEVEL = 0.999
"""Draws enough for p to be compared at this level, since it is corrected for many tests."""


def slice_tests(card: AuditCard, slicings: Sequence[Slicing], seed: int) -> list[SliceTest]:
    """Every finding on all texts, by every cut; p-values are corrected for all of them (Holm).

    Left out is what has no number for each text (means over token types), what is not evidence on all texts,
    and what holds in every slice by construction. Products of halves move the numbers of slices by unknown
    amounts, so nothing is tested there.
    """
    if PRODUCTS in card.facts:
        return []
    tests = [
        *test_units(card, np.random.default_rng([seed, 11])),
        *test_slices(card, slicings, np.random.default_rng([seed, 10])),
    ]
    corrected = iter(holm([test.p for _, _, test in tests if test.p is not None]))
    return [
        describe_test(finding, by, test, None if test.p is None else next(corrected), card)
        for finding, by, test in tests
    ]


def test_slices(
    card: AuditCard, slicings: Sequence[Slicing], rng: np.random.Generator
) -> Iterator[tuple[Finding, str, GroupTest]]:
    """Each finding with what it is cut by, and its test."""
    for slicing in slicings:
        sliced = {(f.audit, f.statistic, f.against): f for f in card.findings if f.by == slicing.by}
        values = {
            finding.name: (finding, numbers)
            for finding in card.findings
            if finding.group == "all"
            and finding.status == "evidence"
            # Of what is true by construction, such as the accuracy of what is right, nothing is asked, nor of
            # what no slice has a number for.
            and (one := sliced.get((finding.audit, finding.statistic, finding.against))) is not None
            and one.reason not in CONSTRUCTED
            and (numbers := value_per_text(card, finding)) is not None
        }
        if not values:
            continue
        rows = np.stack([numbers for _, numbers in values.values()])
        results = group_tests(rows, slicing.slice_of_text, rng=rng, least=MIN_UNITS, strata=slicing.strata)
        for (finding, _), result in zip(values.values(), results, strict=True):
            yield finding, slicing.by, result


def test_units(card: AuditCard, rng: np.random.Generator) -> Iterator[tuple[Finding, str, GroupTest]]:
    """The same of image tokens and words, of numbers minus their null that do not depend on how many units
    there are: in each text both are exchanged, or not."""
    for finding in card.findings:
        if finding.group != "all" or finding.status == "not evidence" or not ignores_counts(card, finding):
            continue
        both = [card.finding(f"{finding.quantity}.{group}") for group in (ON_IMAGE, ON_WORDS)]
        numbers = [None if one is None else over_null(card, one) for one in both]
        if any(one is None for one in numbers):
            continue
        values = np.array(numbers)
        n = int((~np.isnan(values).any(axis=0)).sum())
        p = None
        if n >= MIN_UNITS:
            tails = exchange_tails(values[None], rng=rng, level=UNIT_LEVEL)
            p = float(min(1.0, 2 * min(tail[0] for tail in tails)))
        yield finding, UNIT, GroupTest(p, n, 2)


def ignores_counts(card: AuditCard, finding: Finding) -> bool:
    """Whether a number means the same of few units and of many."""
    audit = AUDITS.get(finding.audit)
    if audit is None:
        return False
    return audit.question_of(finding.statistic, finding.against, card.statistic).ignores_counts


def over_null(card: AuditCard, finding: Finding) -> AnyFloats | None:
    """What a finding is the mean of, minus the same of random weights."""
    numbers, null = (example_values(card, finding, null) for null in ("", "random"))
    return None if numbers is None or null is None else numbers - null


def value_per_text(card: AuditCard, finding: Finding) -> AnyFloats | None:
    """What a finding is the mean of; of the root mean squared error the squared errors."""
    if (finding.audit, finding.statistic) == ("performance", "rmse"):
        absolute = example_values(card, replace(finding, statistic="mae"))
        return None if absolute is None else absolute**2
    return example_values(card, finding)


def describe_test(
    finding: Finding, by: str, test: GroupTest, corrected: float | None, card: AuditCard
) -> SliceTest:
    """A test with its p-value, corrected and not, in words."""
    described = SliceTest(
        audit=finding.audit,
        statistic=finding.statistic,
        against=finding.against,
        by=by,
        n=test.n,
        slices=test.groups,
        p=test.p,
        corrected=corrected,
        status="undecided" if corrected is None else "evidence",
        verdict="",
        level=card.level,
    )
    if corrected is None and by == UNIT:
        words = f"undecided: fewer than {MIN_UNITS} {card.nouns.texts} have this number of both"
    elif corrected is None:
        few = f"fewer than two slices have {MIN_UNITS} {card.nouns.texts} with this number"
        words = f"undecided: {few}"
    elif described.differs:
        words = f"differs between slices by {by}"
    else:
        words = f"slices are not distinguishable on these {card.nouns.texts}"
    return replace(described, verdict=words)
