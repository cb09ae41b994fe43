"""Standings of methods, and what follows from them in words, from tables of numbers alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from glasshead.audits.ranking.conclusion import conclude_ranking
from glasshead.audits.ranking.criteria import Criterion, distinct_criteria
from glasshead.audits.ranking.standings import bonferroni, comparisons, judge_all
from glasshead.nouns import TEXTS
from glasshead.results import (
    RANK,
    TOO_FEW_EXAMPLES,
    WEAK_GAUGE,
    Finding,
    MethodDifference,
    RankedMethod,
    Standing,
    Verdict,
)

DRAWS = 10
SHOWN = {Standing.LEADS, Standing.BEHIND, Standing.WORSE}


def criterion(means, *, n=50, statistic="comprehensiveness", noise=0.1, seed=0, **more):
    """Methods with these means, before random orders of mean 0."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.5, n)  # some texts are harder than others
    values = np.stack([mean + common + rng.normal(0, noise, n) for mean in means])
    draws = common + rng.normal(0, noise, (DRAWS, n))
    draws = np.broadcast_to(draws, (len(means), *draws.shape))
    names = "abcdefgh"[: len(means)]
    return Criterion(statistic, "delete", values, draws, dict.fromkeys(names) | more)


def judged(table, level=None):
    names = list(table.no_evidence)
    level = bonferroni(6) if level is None else level
    return judge_all(table, names, level=level, citation="", rng=np.random.default_rng(1), nouns=TEXTS)


def test_one_leads_one_is_behind_one_is_like_chance_and_one_is_worse():
    result = judged(criterion([0.5, 0.3, 0.0, -0.3]), bonferroni(10))
    assert result.standings == [Standing.LEADS, Standing.BEHIND, Standing.NOT_SHOWN, Standing.WORSE]
    words = [finding.verdict for finding in result.findings]
    assert "alone" in words[0]
    assert "a is better" in words[1]
    assert "a and b are better" in words[2]
    assert "worse than a random order" in words[3]
    assert {each.verdict for each in result.differences} == {"better"}


@pytest.mark.parametrize("statistic", ["sufficiency", "deletion"])
def test_where_smaller_is_better_the_smaller_leads(statistic):
    result = judged(criterion([0.5, 0.3, 0.0, -0.3], statistic=statistic), bonferroni(10))
    assert result.standings == [Standing.WORSE, Standing.WORSE, Standing.NOT_SHOWN, Standing.LEADS]
    assert {each.verdict for each in result.differences} == {"worse"}
    assert result.differences[0].estimate == pytest.approx(0.2, abs=0.05)  # as it is, not turned


def test_equal_methods_lead_together():
    table = criterion([0.5, 0.5, 0.2])
    result = judged(table)
    assert result.standings == [Standing.LEADS, Standing.LEADS, Standing.BEHIND]
    assert "tied with b" in result.findings[0].verdict
    (pair,) = [each for each in result.differences if (each.one, each.other) == (0, 1)]
    assert pair.verdict == "not distinguishable"
    assert pair.interval[0] <= 0 <= pair.interval[1]


def test_rounding_is_no_difference():
    table = criterion([0.5, 0.5], noise=0.0)
    table.values[1] += 1e-8
    assert judged(table).standings == [Standing.LEADS, Standing.LEADS]
    table.values[:] = table.draws.mean(axis=1) + 1e-8
    assert judged(table).standings == [Standing.NOT_SHOWN, Standing.NOT_SHOWN]


def test_too_few_texts_decide_nothing():
    few = judged(criterion([0.5, -0.5], n=19))
    assert few.standings == [Standing.UNDECIDED] * 2
    assert {finding.verdict for finding in few.findings} == {TOO_FEW_EXAMPLES.words}
    assert [each.verdict for each in few.differences] == [TOO_FEW_EXAMPLES.words]
    assert judged(criterion([0.5, -0.5], n=20)).standings == [Standing.LEADS, Standing.WORSE]


def test_a_method_that_is_no_evidence_neither_leads_nor_beats_another():
    result = judged(criterion([0.9, 0.5, 0.2], a=WEAK_GAUGE))
    assert result.standings == [Standing.UNDECIDED, Standing.LEADS, Standing.BEHIND]
    assert result.findings[0].verdict == WEAK_GAUGE.words
    assert {(each.one, each.other) for each in result.differences} == {(1, 2)}


def test_texts_without_a_number_are_counted_by_method():
    table = criterion([0.5, 0.4], n=60)
    table.values[1, :15] = np.nan
    result = judged(table)
    assert [finding.n for finding in result.findings] == [60, 45]
    assert [finding.undefined for finding in result.findings] == [{}, {table.missing: 15}]
    assert result.differences[0].n == 45  # the texts that both have


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from([-0.4, 0.0, 0.2, 0.5]), min_size=2, max_size=5), st.integers(0, 99))
def test_standings_follow_from_the_intervals(means, seed):
    """Whatever the numbers: leaders are better than chance and beaten by none, the beaten do not lead, and
    what is shown lies on its side of the interval."""
    result = judged(criterion(means, seed=seed), bonferroni(comparisons(len(means), 1)))
    beaten = {each.other if each.verdict == "better" else each.one for each in result.differences
              if each.verdict in ("better", "worse")}  # fmt: skip
    for place, (standing, finding) in enumerate(zip(result.standings, result.findings, strict=True)):
        low, high = finding.over_null["random"].interval
        assert standing != Standing.UNDECIDED
        assert (standing in (Standing.LEADS, Standing.BEHIND)) <= (low > 0)
        assert (standing == Standing.WORSE) <= (high < 0)
        if standing in (Standing.LEADS, Standing.BEHIND):
            assert (standing == Standing.BEHIND) == (place in beaten)
    for each in result.differences:
        assert (each.verdict == "better") <= (each.interval[0] > 0)
        assert (each.verdict == "worse") <= (each.interval[1] < 0)


def like_chance(kind, rng, methods, texts):
    """Numbers of methods that are random orders, and of the random orders beside them [M + D, N]."""
    shape = methods + DRAWS, texts
    if kind == "normal":
        return rng.normal(size=shape)
    if kind == "sparse":  # few texts rest on a word that an order finds by chance
        return (rng.random(shape) < 0.1) * 1.0
    return rng.exponential(size=shape) ** 2


SLOW = [pytest.param(kind, 150, marks=pytest.mark.slow) for kind in ("normal", "sparse", "heavy")]


@pytest.mark.parametrize(("kind", "tables"), [("sparse", 40), *SLOW])
def test_chance_is_called_better_or_worse_in_one_family_of_twenty_at_most(kind, tables):
    """The bootstrap alone errs in more than a third of the sparse ones."""
    methods, texts, wrong = 4, 20, 0
    names = [f"m{number}" for number in range(methods)]
    level = bonferroni(comparisons(methods, 1))
    for seed in range(tables):
        values = like_chance(kind, np.random.default_rng(seed), methods, texts)
        draws = np.broadcast_to(values[methods:], (methods, DRAWS, texts))
        table = Criterion("comprehensiveness", "delete", values[:methods], draws, dict.fromkeys(names))
        rng = np.random.default_rng([seed, 15])
        result = judge_all(table, names, level=level, citation="", rng=rng, nouns=TEXTS)
        wrong += bool(SHOWN & {*result.standings}) or any(
            each.verdict in ("better", "worse") for each in result.differences
        )
    assert binomtest(wrong, tables, 0.05, alternative="greater").pvalue > 0.001, wrong


def test_the_level_is_corrected_for_every_comparison():
    assert comparisons(3, 4) == 4 * (3 + 3)
    assert comparisons(1, 1) == 1
    assert bonferroni(24) == pytest.approx(1 - 0.05 / 24)


def test_meanings_that_are_one_edit_stay_once():
    """Of two the one stays that a method uses itself; methods that agree under both do not make them one."""
    same, other = criterion([0.5, 0.2]), criterion([0.5, 0.2])
    other.draws.base[:] += 0.1
    tables = [
        Criterion("comprehensiveness", against, table.values, table.draws, table.no_evidence)
        for against, table in (("delete", same), ("renormalise", same), ("mask-token", other))
    ]
    kept, dropped = distinct_criteria(tables, [])
    assert dropped == {"renormalise": "delete"}
    assert [table.against for table in kept] == ["delete", "mask-token"]
    kept, dropped = distinct_criteria(tables, ["renormalise"])
    assert dropped == {"delete": "renormalise"}


def test_texts_that_say_nothing_do_not_make_two_edits_one():
    table = criterion([0.5, 0.2])
    table.values[:], table.draws.base[:] = np.nan, np.nan
    tables = [
        Criterion("deletion", against, table.values, table.draws, table.no_evidence)
        for against in ("delete", "mask-token")
    ]
    assert distinct_criteria(tables, []) == (tables, {})


def methods_with(standings, statistic="comprehensiveness", n=50, own=None):
    """Methods with standings by meaning of deleting, or by marks (an empty meaning)."""
    methods = []
    for name, by_removal in standings.items():
        findings = [
            Finding(
                audit=RANK, statistic=statistic if removal else "auprc", against=removal, group="all",
                estimate=0.5, std=0.1, interval=(0.4, 0.6), null={"random": 0.1}, n=n, undefined={},
                significant_fraction=None, citation="",
                **(WEAK_GAUGE.fields if standing == Standing.UNDECIDED else TOLD.fields),
            )
            for removal, standing in by_removal.items()
        ]  # fmt: skip
        places = {finding.name: by_removal[finding.against] for finding in findings}
        methods.append(RankedMethod(name, "", findings, places, 0.1, 1.0, (own or {}).get(name)))
    return methods


def differences_of(methods, better, statistic="comprehensiveness"):
    """``better``: winner and loser by meaning."""
    names = [method.name for method in methods]
    for removal, pairs in better.items():
        for winner, loser in pairs:
            one, other = sorted((names.index(winner), names.index(loser)))
            side = 1 if names[one] == winner else -1
            name = f"{RANK}.{statistic}.{removal}.all"
            yield MethodDifference(name, one, other, 0.1 * side, (0.05, 0.2), 50, "", side=side)


def conclusion_of(standings, better=None, **more):
    methods = methods_with(standings, **more)
    differences = list(differences_of(methods, better or {}))
    return conclude_ranking(methods, differences, "comprehensiveness", ["delete", "mask-token"], TEXTS)


LEADS, BEHIND, NOT, WORSE = Standing.LEADS, Standing.BEHIND, Standing.NOT_SHOWN, Standing.WORSE
UNDECIDED, TOLD = Standing.UNDECIDED, Verdict("")


def both(standing, other=None):
    return {"delete": standing, "mask-token": other or standing}


def test_one_leader_under_every_meaning():
    first, *rest = conclusion_of({"a": both(LEADS), "b": both(BEHIND), "c": both(NOT)})
    assert first.startswith("a leads under both")
    assert len(rest) == 1
    assert rest[0].startswith("c is not shown to be better than a random order")
    assert "50 texts" in rest[0]


def test_the_only_method_leads_nobody():
    (everywhere,) = conclusion_of({"a": both(LEADS)})
    assert everywhere == "a is more faithful than a random order under both types of deletion."
    (once,) = conclusion_of({"a": both(LEADS, NOT)}, own={"a": "delete"})
    assert once.startswith("a is more faithful than a random order under delete only (delete is the edit")
    worse = conclusion_of({"a": both(LEADS, WORSE)})
    assert worse[1:] == ["a is worse than a random order under mask-token."]
    (nowhere,) = conclusion_of({"a": both(NOT)})
    assert nowhere.startswith("a is not shown to be better than a random order under any type of deletion")
    marked = conclusion_of({"a": both(LEADS) | {"": LEADS}})
    assert marked[-1] == "a is closer to the words that people mark than a random order."


def test_leaders_that_cannot_be_told_apart():
    (first,) = conclusion_of({"a": both(LEADS), "b": both(LEADS), "c": both(BEHIND)})
    assert first.startswith("a and b tie for the lead")
    assert "tie for the lead" in first


def test_leaders_that_change_places_depend_on_what_deleting_means():
    standings = {"a": both(LEADS, BEHIND), "b": both(BEHIND, LEADS)}
    first, listed = conclusion_of(standings, {"delete": [("a", "b")], "mask-token": [("b", "a")]})
    assert "depends on the type of deletion" in first
    assert "a under delete" in listed
    assert "b under mask-token" in listed


@pytest.mark.parametrize("better", [{}, {"delete": [("a", "b")]}])
def test_leaders_that_merely_change_do_not(better):
    sentences = " ".join(conclusion_of({"a": both(LEADS, NOT), "b": both(NOT, LEADS)}, better))
    assert "depends" not in sentences
    assert "No method is shown to lead under both" in sentences
    assert "alone" not in sentences  # nothing shows that the others are worse


def test_a_reversal_behind_the_leaders_does_not_decide_who_leads():
    """b and c change places, far behind a and d."""
    standings = {
        "a": both(LEADS, NOT), "d": both(NOT, LEADS), "b": both(BEHIND), "c": both(BEHIND),
    }  # fmt: skip
    sentences = " ".join(conclusion_of(standings, {"delete": [("b", "c")], "mask-token": [("c", "b")]}))
    assert "depends" not in sentences


def test_who_leads_everywhere_is_named_though_others_change_places():
    standings = {"a": both(LEADS), "b": both(LEADS, BEHIND), "c": both(BEHIND, LEADS)}
    first, listed = conclusion_of(standings, {"delete": [("b", "c")], "mask-token": [("c", "b")]})
    assert first.startswith("a is among the leaders under both")
    assert "a and b (tied) under delete" in listed


def test_nobody_is_better_than_chance():
    first, second = conclusion_of({"a": both(NOT), "b": both(NOT)})
    assert first.startswith("No method is shown")
    assert " all " not in first  # which could mean: under some
    assert second.startswith("a and b are not shown to be better")


def test_worse_than_chance_is_said_with_its_meaning():
    sentences = conclusion_of({"a": both(LEADS), "b": both(NOT, WORSE)})
    assert any(each.startswith("b is worse than a random order under mask-token") for each in sentences)
    assert not any("a is worse" in each for each in sentences)


def test_too_few_texts_are_all_that_is_conclusion_of():
    (sentence,) = conclusion_of({"a": both(UNDECIDED), "b": both(UNDECIDED)}, n=19)
    assert sentence.startswith("a and b are undecided: 19 texts")


def test_what_stayed_undecided_is_said():
    """A method without evidence is named, and counts neither for nor against the others."""
    first, second = conclusion_of({"a": both(UNDECIDED), "b": both(LEADS)})
    assert first.startswith("b leads under both")
    assert second.startswith("a is undecided: the gauge is weak")
    lead, listed, undecided = conclusion_of({"a": both(LEADS, UNDECIDED), "b": both(BEHIND, NOT)})
    assert "No method is shown to lead" in lead
    assert "none under mask-token" in listed
    assert undecided.startswith("a is undecided under mask-token")
    # A meaning under which nothing is decided does not count among those under which somebody leads.
    first, *_ = conclusion_of({"a": both(LEADS, UNDECIDED), "b": both(BEHIND, UNDECIDED)})
    assert first.startswith("a leads under delete")
    (marks,) = [each for each in conclusion_of({"a": both(LEADS) | {"": UNDECIDED}}) if "marks" in each]
    assert "Too few texts" in marks


def test_a_lead_by_ones_own_edit_makes_no_reversal_and_is_named():
    standings = {"a": both(LEADS, BEHIND), "b": both(BEHIND, LEADS)}
    better = {"delete": [("a", "b")], "mask-token": [("b", "a")]}
    sentences = " ".join(conclusion_of(standings, better, own={"a": "delete"}))
    assert "depends" not in sentences
    assert "a under delete (the edit by which a scores tokens)" in sentences


def test_the_smallest_lead_of_the_only_leader_is_said():
    standings = {"a": both(BEHIND), "b": both(LEADS)}
    better = {"delete": [("b", "a")], "mask-token": [("b", "a")]}
    assert "Its smallest lead is 0.1, over a under delete." in conclusion_of(standings, better)


def test_marks_have_a_sentence_of_their_own():
    marked = {"a": both(LEADS) | {"": NOT}, "b": both(BEHIND) | {"": LEADS}}
    assert conclusion_of(marked)[-1].endswith("people mark: b.")
    nobody = {"a": both(LEADS) | {"": NOT}}
    assert "No method is shown to be closer" in conclusion_of(nobody)[-1]
