"""The script of the measured tables: old numbers are never read, tables say what was measured."""

import pytest
from scipy import stats

from reproduction import study
from reproduction.news import STUDY, measure

ESTIMATE = {"n": 300, "low": 0.0, "high": 1.0}


@pytest.fixture(autouse=True)
def empty(monkeypatch, tmp_path):
    """Numbers are read from, and written into, a folder of their own."""
    monkeypatch.setattr(study, "HERE", tmp_path)


def metrics(mean):
    return {name: ESTIMATE | {"mean": mean} for name in ("auc", "mrr", "ndcg@5", "ndcg@10")}


def values():
    """Numbers for every run, of which distance-aware has the largest."""
    made = {}
    for job in measure.jobs():
        interest, mechanism, seed = job
        ours = mechanism == "distance-aware"
        heads = 4 if interest == "mixed" else 1
        mean = 0.7 + 0.01 * seed + (0.05 + 0.001 * seed if ours else 0.0)
        made[measure.key(job)] = {
            "settings": measure.mark(job),
            "metrics": {"model": metrics(mean)},
            "differences": {"popularity": metrics(mean - 0.5), "random": metrics(mean - 0.5)},
            "news": {
                "w": [(-0.1 if interest == "short" else 0.1) + 0.01 * seed] * heads,
                "v": [-0.5, 0.25, 0.5, 0.0],
            },
            "word": {"w": [0.4, 0.2, 0.1, 0.3], "v": [0.1] * 4},
        }
    return made


def page(made):
    study.write_numbers("news", "logs", made)
    return STUDY.page("news")


def test_equal_seeds_for_every_model_and_kind_of_logs():
    jobs = measure.jobs()
    cells = {job[:2] for job in jobs}
    assert {("short", "distance-aware"), ("long", "distance-aware")} <= cells
    assert {mechanism for interest, mechanism in cells if interest == "short"} == {
        name for name, _ in measure.MECHANISMS.values()
    }
    seeds = {cell: sorted(job[2] for job in jobs if job[:2] == cell) for cell in cells}
    assert all(each == [0, 1, 2, 3, 4] for each in seeds.values())


def test_numbers_of_other_settings_are_not_read(monkeypatch):
    made = values()
    stale = measure.key(("short", "softmax", 0))
    made[stale]["settings"] = "0" * 12
    assert "Not measured yet (34 of 35 runs)" in page(made)
    before = values()
    monkeypatch.setattr(measure, "CHANGES", {"epochs": 15, "num_attention_heads": 1})
    assert "Not measured yet (0 of 35 runs)" in page(before)


def test_tables():
    text = page(values())
    # A lead of 5.0 to 5.4 points over each other mechanism, seed by seed.
    leads = [5.0, 5.1, 5.2, 5.3, 5.4]
    half = stats.t.ppf(0.975, 4) * stats.sem(leads)
    p_value = stats.ttest_1samp(leads, 0).pvalue
    expected = f"| Transformer | +5.2 [+{5.2 - half:.1f}, +{5.2 + half:.1f}] | {p_value:.2g} |"
    assert expected in text
    assert "| Transformer | 72.0 ± 1.6 |" in text
    assert "+27.2 [" in text
    assert "| short | − | -0.08 [-0.10, -0.06] | -0.10, -0.09, -0.08, -0.07, -0.06 |" in text
    assert "| long | + | +0.12 [+0.10, +0.14] |" in text
    # Sorted over the heads of a seed, then means over seeds that are all alike.
    assert "| word-level w | +0.10 [+0.10, +0.10] | +0.20 [+0.20, +0.20] | +0.30 [+0.30, +0.30] |" in text
    assert "| news-level v | -0.50 [-0.50, -0.50] | +0.00 [+0.00, +0.00] |" in text
    assert "+0.50 [+0.50, +0.50] | 50 [50, 50] |" in text
