"""The verdicts on the lecture are those of the numbers of studies, each claim tested once over its seeds."""

import numpy as np
import pytest
from scipy import stats

from glasshead.statistics import holm
from reproduction.debate.measure import TRAININGS as DEBATES
from reproduction.heads.measure import TRAININGS as HEADS
from reproduction.s1.claims import PRINTED, STATEMENTS, verdicts
from reproduction.study import read_numbers


@pytest.fixture(scope="module")
def found():
    return {one.claim.text: one for one in verdicts()}


def the(found, words):
    (one,) = [one for text, one in found.items() if words in text]
    return one


def test_every_claim_is_measured_in_every_setting(found):
    assert len(found) == len(STATEMENTS)
    for one in found.values():
        assert len(one.known) == len(one.parts) > 0
        assert all(np.isfinite(part.gaps).all() for part in one.parts)


def test_all_claims_are_corrected_together(found):
    assert [one.corrected for one in found.values()] == pytest.approx(
        list(holm([one.p for one in found.values()]))
    )


def test_sets_that_share_seeds_count_as_one(found):
    """By hand: a t-test of the mean over both sets, seed by seed."""
    one = the(found, "than with those of an adversary")
    leads = np.mean(
        [
            [DEBATES.known(name)["MLP base"][seed]["f1"] - DEBATES.known(name)["MLP adversary"][seed]["f1"]
             for seed in range(5)]
            for name in PRINTED
        ],
        axis=0,
    )  # fmt: skip
    assert one.units == 5
    assert one.difference == pytest.approx(leads.mean())
    assert one.p == pytest.approx(stats.ttest_1samp(leads, 0).pvalue)
    assert one.effect == pytest.approx((0.824 - 0.592 + 0.905 - 0.700) / 2)


def test_relations_are_the_units_where_there_is_one_model(found):
    one = the(found, "follow syntax")
    known = read_numbers("heads", "trees")["relations"]
    assert one.units == len({each["relation"] for each in known} - {"all"})
    assert one.difference == pytest.approx(
        np.mean([each["difference"][0] for each in known if each["relation"] != "all"])
    )


def test_a_claim_about_words_is_turned_round(found):
    """What is measured is the lead of a special token; the claim says that it has none."""
    seeds = HEADS.known("sst2")["minilm"].values()
    leads = [each["beside"]["beyond-unsplit-words"]["uniform"][0] for each in seeds]
    one = the(found, "because they are never split")
    assert one.difference == pytest.approx(-np.mean(leads))
    assert np.sign(one.difference) == (1 if one.verdict.startswith("shown") else -1)
