"""Findings of two audits differ by pairs of the same text, and only where there are such pairs."""

from dataclasses import replace

import numpy as np
import pytest

from glasshead.audit.bootstrap import mean_interval
from glasshead.audit.differences import NOT_PAIRED, NOTHING_SHARED, differences, verdict
from glasshead.differences import Difference
from glasshead.results import AuditCard, Finding

N = 120
LABELS = np.array(["bad", "good"])[np.arange(N) % 2]


def finding(audit, statistic, against, group="all"):
    return Finding(audit, statistic, against, group, 0.0, 0.0, (0.0, 0.0), {}, N, {}, None, "", "")


FINDINGS = [
    finding("performance", "accuracy", ""),
    finding("agreement", "contribution", "gradient"),
    finding("agreement", "contribution", "gradient", "class good"),
    finding("perturbation", "permutation", "absolute"),
    finding("perturbation", "permutation", "absolute", "max weight 0.25–0.50"),
    finding("tokens", "weight", "", "positive"),
]


def card(shift, seed, rows=None, name="a"):
    """τ with a common part, so that pairs tell what intervals do not."""
    rows = np.arange(N) if rows is None else rows
    common = np.random.default_rng(0).normal(0, 0.3, N)[rows % N]
    tau = common + shift + np.random.default_rng(seed).normal(0, 0.02, len(rows))
    examples = {
        "index": rows.tolist(),
        "text": [f"text {row}" for row in rows],
        "label": LABELS[rows % N].tolist(),
        "predicted": ["good"] * len(rows),
        "tau.contribution.gradient": [
            None if row % 10 == 0 else float(t) for row, t in zip(rows, tau, strict=True)
        ],
        "permutation.median.absolute": np.abs(tau).tolist(),
    }
    return AuditCard({"name": name}, FINDINGS, examples=examples)


def named(found):
    return {each.name: each for each in found}


def test_the_paired_difference():
    cards = [card(0.0, 1), card(0.05, 2)]
    found, notes = differences(cards)
    assert notes == [NOT_PAIRED]
    assert set(named(found)) == {each.name for each in FINDINGS[:4]}
    tau = named(found)["agreement.contribution.gradient.all"]
    columns = [np.array(each.examples["tau.contribution.gradient"], dtype=float) for each in cards]
    assert tau.estimate == pytest.approx(np.nanmean(columns[1] - columns[0]))
    assert (tau.one, tau.other, tau.n, tau.verdict) == (1, 0, 108, "higher")
    # What one looks at each audit alone cannot tell.
    alone = [mean_interval(column, rng=np.random.default_rng(0)) for column in columns]
    assert alone[0].high > alone[1].low
    assert tau.interval[0] > 0.03
    assert named(found)["performance.accuracy.all"].verdict == "no difference shown"


def test_classes_are_groups_of_their_own():
    found = named(differences([card(0.0, 1), card(0.05, 2)])[0])
    assert found["agreement.contribution.gradient.class good"].n == 60  # every tenth, left out, is bad


def test_texts_are_paired_by_row_and_words():
    shuffled = np.random.default_rng(3).permutation(N)
    whole, mixed = card(0.1, 2), card(0.1, 2, rows=np.arange(N))
    order = {name: [column[row] for row in shuffled] for name, column in mixed.examples.items()}
    base = card(0.0, 1)
    assert (
        differences([base, whole])[0][0].estimate
        == differences([base, replace(mixed, examples=order)])[0][0].estimate
    )
    part = differences([base, card(0.1, 2, rows=np.arange(60, 180))])[0]
    assert named(part)["performance.accuracy.all"].n == 60


def test_nothing_shared_is_said():
    found, notes = differences([card(0.0, 1), card(0.1, 2, rows=np.arange(N, 2 * N), name="b")])
    assert found == []
    assert notes == [f"b and a: {NOTHING_SHARED}."]


def test_another_base():
    found, _ = differences([card(0.0, 1), card(0.1, 2), card(0.2, 3)], base=1)
    assert {(each.one, each.other) for each in found} == {(0, 1), (2, 1)}
    assert isinstance(found[0], Difference)


def test_verdicts():
    assert [verdict(each, 50) for each in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1))] == [
        "higher",
        "lower",
        "no difference shown",
    ]
    assert verdict((0.1, 0.2), 19) == verdict(None, 1) == "undecided: too few examples"
