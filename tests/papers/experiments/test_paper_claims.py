"""Each claim of a paper has one verdict, over all settings: planted truths, and errors as promised."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from small_tables import RECIPE, cell, row

from glasshead.data import LoadOptions
from glasshead.papers.experiments import (
    PAPERS,
    Cell,
    Claim,
    DataSource,
    Paper,
    PaperClaim,
    PaperTable,
    claims_json,
    claims_markdown,
    judge_claims,
    summarise_numbers,
    summary_of,
)

SETTINGS = ("one", "other", "third", "fourth")


def paper_of(effect=0.1, metrics=("erasure_0", "erasure_1"), claims=1):
    """A table of two cells in four settings, and claims about all of them."""
    cells = [cell(f"{data}/{word}", attention=word) for data in SETTINGS for word in ("softmax", "tanhmax")]
    parts = [Claim(data, f"{data}/tanhmax", f"{data}/softmax", metrics, effect) for data in SETTINGS]
    table = PaperTable("small", "a small table", cells, metrics=metrics, claims=parts)
    pooled = [PaperClaim(f"claim {number}", "Table 1", tuple(("small", part) for part in parts))
              for number in range(claims)]  # fmt: skip
    return Paper("paper", "Somebody", [table], pooled)


def judged(means, *, noise=0.05, seeds=5, settings=SETTINGS, generator=0, **fields):
    """The verdict where TanhMax has so much more in each setting."""
    paper, rng = paper_of(**fields), np.random.default_rng(generator)
    (table,), rows = paper.tables, {}
    for each in table.cells:
        data, word = each.name.split("/")
        mean = means[SETTINGS.index(data)] if word == "tanhmax" else 0.0
        rows[each.name] = [
            replace(row(each, seed, None), numbers={
                name: mean + rng.normal(0, noise) for name in table.metrics
            })
            for seed in range(seeds if data in settings else 0)
        ]  # fmt: skip
    summary = summary_of(table, rows, dict.fromkeys(rows, range(seeds)))
    return paper, judge_claims(paper, {table.name: summary.differences})


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((0.2, 0.2, 0.2, 0.2), 0.05, "shown"),
        ((0.4, 0.4, 0.4, -0.1), 0.05, "shown on average"),
        ((-0.2, -0.2, -0.2, -0.2), 0.05, "the opposite is shown"),
        ((0.0, 0.0, 0.0, 0.0), 0.03, "too small to matter"),
        ((0.0, 0.0, 0.0, 0.0), 0.5, "cannot tell"),
    ],
)
def test_a_planted_truth_gets_its_verdict(means, noise, verdict):
    paper, (found,) = judged(means, noise=noise)
    assert found.verdict == verdict
    assert found.interval[0] < np.mean(means) < found.interval[1]
    assert f"| **{verdict}**" in claims_markdown(paper, [found])


@pytest.mark.parametrize(
    ("means", "noise", "verdict"),
    [
        ((0.2, 0.2), 0.05, "shown"),
        ((0.4, -0.1), 0.05, "shown on average"),
        ((-0.2, -0.2), 0.05, "the opposite is shown"),
        ((-0.4, 0.1), 0.05, "the opposite is shown on average"),
        ((0.0, 0.0), 0.01, "too small to matter"),
        ((0.0, 0.0), 0.5, "cannot tell"),
    ],
)
def test_plain_numbers_get_a_verdict_over_their_units(means, noise, verdict):
    """Planted: settings have the units in common, and what errs is the unit."""
    paper = paper_of_numbers()
    of_unit = np.random.default_rng(1).normal(0, noise, 6)
    parts = [
        summarise_numbers(claim, {f"relation {unit}": mean + own for unit, own in enumerate(of_unit)})
        for mean, (_, claim) in zip(means, paper.claims[0].parts, strict=True)
    ]
    (found,) = judge_claims(paper, {"numbers": parts})
    assert (found.verdict, found.units) == (verdict, 6)
    assert found.p == pytest.approx(stats.ttest_1samp(np.mean(means) + of_unit, 0).pvalue)
    page = claims_markdown(paper, [found])
    assert ("**, in 1 of 2 settings" in page) == ("on average" in verdict)
    assert "; 6 relations) |" in page
    assert "| relations |" in page


def paper_of_numbers():
    parts = [Claim(name, "head", "offset", ("share",), 0.1, "relation") for name in ("one", "other")]
    claim = PaperClaim("heads are better", "section 1", tuple(("numbers", part) for part in parts))
    return Paper("paper", "Somebody", claims=[claim])


def test_a_paper_with_tables_claims_nothing_else():
    with pytest.raises(ValueError, match="about what no table claims"):
        replace(paper_of_numbers(), tables=paper_of().tables)


def test_the_test_is_that_of_the_mean_over_settings():
    """Equal numbers of seeds: by hand, with the means of both metrics."""
    _, (found,) = judged((0.1, 0.0, 0.2, 0.1))
    gaps = [part.gaps for part in found.parts]
    error = np.sqrt(sum(gap.var(ddof=1) / 5 for gap in gaps)) / 4
    freedom = error**4 / sum((gap.var(ddof=1) / 5 / 16) ** 2 / 4 for gap in gaps)
    assert found.difference == pytest.approx(np.mean(gaps))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.difference) / error, freedom))
    half = stats.t.ppf(0.975, freedom) * error
    assert found.interval == pytest.approx((found.difference - half, found.difference + half))


@pytest.mark.parametrize(
    ("mean", "below", "noise", "verdict"),
    [
        (0.7, False, 0.05, "shown"),
        (0.7, True, 0.05, "the opposite is shown"),
        (0.3, True, 0.05, "shown"),
        (0.5, False, 0.05, "cannot tell"),
        (0.98, False, 0.0, "shown"),
    ],
)
def test_one_cell_is_compared_with_a_number(mean, below, noise, verdict):
    """Planted: the mean of two AUC, which lies so far above or below ½ in each of two sets."""
    paper = paper_of_one_cell(below)
    (table,), rng = paper.tables, np.random.default_rng(0)
    names = ("score_positive", "score_negative")
    rows = {
        each.name: [
            replace(row(each, seed, None), numbers={name: mean + rng.normal(0, noise) for name in names})
            for seed in range(5)
        ]
        for each in table.cells
    }
    summary = summary_of(table, rows, dict.fromkeys(rows, range(5)))
    (found,) = judge_claims(paper, {table.name: summary.differences})
    assert found.verdict == verdict
    assert found.difference == pytest.approx((0.5 - mean) if below else (mean - 0.5), abs=0.03)
    assert -0.5 <= found.interval[0] <= found.interval[1] <= 0.5
    page = claims_markdown(paper, [found])
    assert "| trainings |" in page
    assert "here (95 % interval; trainings)" in page
    one, _ = found.parts
    gaps = [np.mean(list(each.numbers.values())) - 0.5 for each in rows["one"]]
    assert one.gaps == pytest.approx([-gap if below else gap for gap in gaps])


def paper_of_one_cell(below):
    """Two sets with one cell each, whose scores are claimed to lie above ½, or below."""
    cells = [cell(data) for data in SETTINGS[:2]]
    sides = [(0.5, data) if below else (data, 0.5) for data in SETTINGS[:2]]
    claims = [Claim("scores", *side, ("score_positive", "score_negative")) for side in sides]
    table = PaperTable("small", "a small table", cells, metrics=("score_positive",), claims=claims)
    pooled = PaperClaim("scores", "Fig. 1", tuple(("small", claim) for claim in claims))
    return Paper("paper", "Somebody", [table], [pooled])


def test_sets_that_a_claim_compares_may_differ():
    """Pairs are of one seed; of cells with one source, other data are a mistake."""
    one, other, third = (
        Cell(name, name, DataSource("synthetic", name, LoadOptions(generator={"ratio": ratio})), RECIPE)
        for name, ratio in (("one", 1.0), ("other", 2.0), ("third", 1.0))
    )
    third = third.with_fields(data=one.data)
    claims = [Claim(worse, "one", worse) for worse in ("other", "third")]
    table = PaperTable("small", "a small table", [one, other, third], claims=claims)
    rows = {
        each.name: [row(each, seed, 0.5 + seed / 100 * (each is one), data=each.name) for seed in range(5)]
        for each in table.cells
    }
    differ, mistake = summary_of(table, rows, dict.fromkeys(rows, range(5))).differences
    assert differ.gaps == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])
    assert len(mistake.gaps) == 0


def test_settings_that_are_not_run_do_not_count_and_are_said():
    paper, (found,) = judged((0.2, 0.2, 0.2, 0.2), settings=SETTINGS[:2])
    assert (found.verdict, len(found.known), len(found.parts)) == ("shown", 2, 4)
    assert "run in 2 of 4 settings" in claims_markdown(paper, [found])
    paper, (found,) = judged((0.2, 0.2, 0.2, 0.2), seeds=4)
    assert (found.verdict, found.difference) == ("cannot tell", None)
    assert "**cannot tell**: not run" in claims_markdown(paper, [found])


def test_claims_are_corrected_for_all_of_the_paper():
    _, (alone,) = judged((0.03, 0.03, 0.03, 0.03))
    _, ten = judged((0.03, 0.03, 0.03, 0.03), claims=10)
    assert [one.p for one in ten] == pytest.approx([alone.p] * 10)
    assert ten[0].corrected == pytest.approx(min(10 * alone.p, 1.0))
    assert ten[0].detectable > alone.detectable


def test_of_claims_that_are_not_so_one_in_twenty_is_decided():
    wrong = sum(
        judged((0.0,) * 4, effect=None, generator=number)[1][0].verdict != "cannot tell"
        for number in range(300)
    )
    assert stats.binomtest(wrong, 300, 0.05).pvalue > 0.01


def test_what_could_not_have_been_seen_is_no_verdict():
    paper, (found,) = judged((0.0,) * 4, noise=0.3, effect=0.01)
    assert found.verdict == "cannot tell"
    assert "would mostly be missed, the paper's is +0.010" in claims_markdown(paper, [found])


def test_the_numbers_of_every_setting_are_kept():
    paper, found = judged((0.2, 0.2, 0.2, 0.2))
    (one,) = json.loads(claims_json(paper, found))["claims"]
    assert [part["claim"] for part in one["settings"]] == list(SETTINGS)
    assert all(len(part["gaps"]) == 5 for part in one["settings"])


def test_a_claim_about_what_no_table_claims_is_a_mistake():
    paper = paper_of()
    other = PaperClaim("more", "Table 9", (("small", Claim("more", "one/softmax", "one/tanhmax")),))
    with pytest.raises(ValueError, match="no table claims"):
        replace(paper, claims=[other])


@pytest.mark.parametrize("name", ["s0", "s2", "s3", "s4"])
def test_every_paper_claims_something_of_its_tables(name):
    claims = PAPERS[name].claims
    assert 5 < len(claims) <= 15
    assert all(claim.parts for claim in claims)
    assert len({(claim.text, claim.where) for claim in claims}) == len(claims)


def verdict_with_one_reference(rng, seeds=5):
    """Four cells that are all held against the trainings of a fifth, which err most; and the mean gap of each
    seed."""
    names = [*SETTINGS, "reference"]
    parts = [Claim(name, name, "reference", ("erasure_0",)) for name in SETTINGS]
    table = PaperTable("small", "a small table", [cell(name) for name in names], claims=parts)
    paper = Paper("paper", "Somebody", [table], [
        PaperClaim("claim", "Table 1", tuple(("small", part) for part in parts))
    ])  # fmt: skip
    values = rng.normal(0, [0.1, 0.1, 0.1, 0.1, 0.3], (seeds, 5))
    rows = {
        each.name: [
            replace(row(each, seed, None), numbers={"erasure_0": values[seed, place]})
            for seed in range(seeds)
        ]
        for place, each in enumerate(table.cells)
    }
    summary = summary_of(table, rows, dict.fromkeys(rows, range(seeds)))
    (verdict,) = judge_claims(paper, {table.name: summary.differences})
    return verdict, values[:, :4].mean(axis=1) - values[:, 4]


def test_settings_that_share_trainings_are_judged_by_their_mean_over_seeds():
    verdict, gaps = verdict_with_one_reference(np.random.default_rng(3))
    tested = stats.ttest_1samp(gaps, 0.0)
    assert verdict.difference == pytest.approx(gaps.mean())
    assert verdict.p == pytest.approx(tested.pvalue)
    assert verdict.interval == pytest.approx(tuple(tested.confidence_interval()))


def test_settings_that_share_trainings_are_not_shown_by_chance():
    """As if they were independent, a third of such claims would be."""
    rng = np.random.default_rng(5)
    found = [verdict_with_one_reference(rng)[0].p < 0.05 for _ in range(200)]
    assert np.mean(found) < 0.1
