"""Thresholds that mean nothing are refused; the others hold or do not."""

import pytest

from glasshead.audits import conclude
from glasshead.cli.fail_under import check_thresholds, finding_for_threshold
from glasshead.cli.parsing import parse_numbers
from glasshead.errors import InputError
from glasshead.results import (
    ONE_SIGNED,
    RAW_SIGN,
    WEAK_GAUGE,
    AuditCard,
    Finding,
    Verdict,
    by_construction,
)


def finding(name, verdict):
    audit, statistic, against = (*name.split("."), "")[:3]
    return Finding(
        audit, statistic, against, "all", 0.5, 0.1, (0.4, 0.6), {}, 50, {}, None, "", **verdict.fields
    )


@pytest.mark.parametrize(
    ("name", "verdict", "message"),
    [
        ("performance.rmse", Verdict("better than always guessing the mean rating"), "low is good"),
        ("performance.mae", Verdict(""), "low is good"),
        ("agreement.attention-raw.gradient", RAW_SIGN, "raw sign: an accident of the seed"),
        (
            "agreement.contribution.erasure-zero-weight",
            by_construction("true", "z − a·o"),
            "true by construction",
        ),
    ],
)
def test_thresholds_that_mean_nothing(name, verdict, message):
    card = conclude(AuditCard({}, [finding(name, verdict)]))
    with pytest.raises(InputError, match=message) as caught:
        finding_for_threshold(card, name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("verdict", [WEAK_GAUGE, ONE_SIGNED])
def test_signs_that_say_nothing_fail_every_threshold_and_another_number_its_own(verdict):
    weak = finding("agreement.attention.gradient", verdict)
    sure = finding("agreement.contribution.gradient", Verdict("moderate agreement"))
    card = AuditCard({}, [weak, sure])
    assert not check_thresholds([(finding_for_threshold(card, "agreement.attention.gradient"), -1.0)])
    assert check_thresholds([(finding_for_threshold(card, "agreement.contribution.gradient"), 0.4)])
    assert not check_thresholds([(finding_for_threshold(card, "agreement.contribution.gradient"), 0.41)])


def test_names_of_slices_can_be_typed():
    assert parse_numbers(["agreement.contribution.gradient.size: a=b=0.3"]) == {
        "agreement.contribution.gradient.size: a=b": 0.3
    }
