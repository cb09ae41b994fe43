"""Findings of two audits differ by pairs of the same text, and only where there are such pairs."""

from dataclasses import replace

import numpy as np
import pytest

from glasshead.audits import audit
from glasshead.audits.comparing.compare_audits import (
    NOT_PAIRED,
    NOTHING_SHARED,
    describe_difference,
    finding_differences,
)
from glasshead.nouns import TEXTS
from glasshead.results import RAW_SIGN, WEAK_GAUGE, AuditCard, Difference, Finding, by_construction
from glasshead.statistics import interval_of_equals
from glasshead.statistics.bootstrap import mean_interval
from small import as_run, planted_model, planted_texts, split

N = 120
LABELS = np.array(["bad", "good"])[np.arange(N) % 2]


def finding(audit, statistic, against, group="all"):
    return Finding(
        audit, statistic, against, group, 0.0, 0.0, (0.0, 0.0), {}, N, {}, None, "", "", status="evidence"
    )


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
    found, notes = finding_differences(cards)
    assert notes == [TEXTS.fill(NOT_PAIRED)]
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
    found = named(finding_differences([card(0.0, 1), card(0.05, 2)])[0])
    assert found["agreement.contribution.gradient.class good"].n == 60  # every tenth, left out, is bad


def test_texts_are_paired_by_row_and_words():
    shuffled = np.random.default_rng(3).permutation(N)
    whole, mixed = card(0.1, 2), card(0.1, 2, rows=np.arange(N))
    order = {name: [column[row] for row in shuffled] for name, column in mixed.examples.items()}
    base = card(0.0, 1)
    assert (
        finding_differences([base, whole])[0][0].estimate
        == finding_differences([base, replace(mixed, examples=order)])[0][0].estimate
    )
    part = finding_differences([base, card(0.1, 2, rows=np.arange(60, 180))])[0]
    assert named(part)["performance.accuracy.all"].n == 60


def test_nothing_shared_is_said():
    found, notes = finding_differences([card(0.0, 1), card(0.1, 2, rows=np.arange(N, 2 * N), name="b")])
    assert found == []
    assert notes == [f"b and a: {TEXTS.fill(NOTHING_SHARED)}."]


def test_another_base():
    found, _ = finding_differences([card(0.0, 1), card(0.1, 2), card(0.2, 3)], base=1)
    assert {(each.one, each.other) for each in found} == {(0, 1), (2, 1)}
    assert isinstance(found[0], Difference)


def test_verdicts():
    assert [describe_difference(each, 50) for each in ((0.1, 0.2), (-0.2, -0.1), (-0.1, 0.1))] == [
        "higher",
        "lower",
        "no difference shown",
    ]
    assert (
        describe_difference((0.1, 0.2), 19) == describe_difference(None, 1) == "undecided: too few examples"
    )


@pytest.mark.parametrize("aside", [RAW_SIGN, WEAK_GAUGE, by_construction("nearly true", "z − a·o")])
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_evidence_has_no_difference(aside, place):
    cards = [card(0.0, 1), card(0.05, 2)]
    findings = [replace(each, **aside.fields) if each.audit == "agreement" else each for each in FINDINGS]
    cards[place] = replace(cards[place], findings=findings)
    found = named(finding_differences(cards)[0])
    assert found["agreement.contribution.gradient.all"].verdict == aside.words


def test_only_texts_with_one_target_are_paired():
    """Of the others only the accuracy is compared: their numbers are about other classes."""
    cards = [card(0.0, 1, name="a"), card(0.05, 2, name="b")]
    targets = [["good"] * N, ["good"] * (N - 7) + ["bad"] * 7]
    cards = [
        replace(each, examples={**each.examples, "target": target})
        for each, target in zip(cards, targets, strict=True)
    ]
    found, notes = finding_differences(cards)
    assert (
        f"b and a: 7 of {N} shared texts have other targets, so only their performance is compared." in notes
    )
    found = named(found)
    assert found["performance.accuracy.all"].n == N
    assert found["perturbation.permutation.absolute.all"].n == N - 7
    changes = [np.array(each.examples["permutation.median.absolute"])[: N - 7] for each in cards]
    assert found["perturbation.permutation.absolute.all"].estimate == pytest.approx(
        np.mean(changes[1] - changes[0])
    )


def test_errors_of_ratings_are_paired():
    rng = np.random.default_rng(0)
    labels = rng.uniform(1, 5, N)
    common = rng.normal(0, 1, N)
    findings = [finding("performance", "rmse", ""), finding("performance", "mae", "")]
    cards = []
    for size in (1.0, 1.2):
        examples = {
            "index": list(range(N)),
            "text": [f"text {row}" for row in range(N)],
            "label": labels.tolist(),
            "predicted": (labels + size * common).tolist(),
        }
        cards.append(AuditCard({}, findings, examples=examples))
    found, notes = finding_differences(cards)
    found = named(found)
    assert notes == []
    rmse, mae = (found[f"performance.{name}.all"] for name in ("rmse", "mae"))
    assert rmse.estimate == pytest.approx(0.2 * np.sqrt(np.mean(common**2)))
    assert mae.estimate == pytest.approx(0.2 * np.mean(np.abs(common)))
    for each in (rmse, mae):
        assert each.interval[0] < each.estimate < each.interval[1]
        assert each.verdict == "higher"
        assert each.n == N


def test_the_seed_draws():
    cards = [card(0.0, 1), card(0.05, 2)]
    name = "perturbation.permutation.absolute.all"
    intervals = [named(finding_differences(cards, seed=seed)[0])[name].interval for seed in (0, 0, 1)]
    assert intervals[0] == intervals[1] != intervals[2]


def test_a_difference_that_never_varies_is_itself_but_of_shares():
    found = named(finding_differences([card(0.0, 1), card(0.0, 1)])[0])
    for name in ("agreement.contribution.gradient.all", "perturbation.permutation.absolute.all"):
        assert found[name].interval == (0.0, 0.0), name
    share = found["performance.accuracy.all"]
    assert share.interval == pytest.approx(interval_of_equals(0.0, share.n))


def test_a_difference_of_two_tasks_is_in_the_range_of_both():
    ratings, classes = (
        replace(card(0.0, seed), facts={"name": "a", "task": task})
        for seed, task in ((1, "regression"), (2, None))
    )
    far = [10.0 * number for number in ratings.examples["permutation.median.absolute"]]
    ratings = replace(ratings, examples={**ratings.examples, "permutation.median.absolute": far})
    found = named(finding_differences([classes, ratings])[0])
    assert found["perturbation.permutation.absolute.all"].estimate > 1


def test_shares_that_are_alike_in_every_text_do_not_differ_by_exactly_nothing():
    texts, labels = planted_texts(counts=(20, 20))
    cards = [
        audit(as_run(planted_model(activation), texts, labels), split(texts, labels), audits=["performance"])
        for activation in ("softmax", "tanhmax")
    ]
    differences, _ = finding_differences(cards)
    (accuracy,) = (each for each in differences if each.name == "performance.accuracy.all")
    assert accuracy.estimate == 0.0
    assert accuracy.interval == pytest.approx((-0.0881, 0.0881), abs=1e-4)
    assert accuracy.verdict == "no difference shown"
