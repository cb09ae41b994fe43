"""The measured tables of the page on identifiability: words follow from numbers, old numbers are not read."""

import json
from pathlib import Path

import numpy as np
import pytest

import identifiability
import identifiability_tables

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def scripts(monkeypatch, tmp_path):
    """The script that measures and the one that writes, over an empty folder."""
    monkeypatch.setattr(identifiability, "VALUES", tmp_path)
    monkeypatch.setattr(identifiability_tables, "HERE", tmp_path)
    return identifiability, identifiability_tables


def points(ranks):
    return {
        str(tokens): {"rank": [rank, rank, rank], "null": [0, 0, tokens - rank], "texts": 100}
        for tokens, rank in ranks.items()
    }


def test_nothing_is_measured(scripts, tmp_path):
    scripts[1].main()
    assert (tmp_path / "identifiability.md").read_text().count("Not measured yet") == 3


def test_numbers_of_other_settings_are_measured_again(scripts, tmp_path):
    script = scripts[0]
    for draws, value in ((1, 5.0), (2, 7.123456)):
        assert not script.is_recorded("keys", "a", {"draws": (draws,)})
        script.record("keys", "a", {"draws": (draws,)}, {"value": value})
        assert script.is_recorded("keys", "a", {"draws": (draws,)})
        recorded = json.loads((tmp_path / "keys.json").read_text())
        assert recorded["a"] == {"settings": {"draws": [draws]}, "value": round(value, 5)}


def test_means_of_texts_leave_out_what_is_not_known(scripts):
    texts, values = np.array([3, 3, 8, 9]), np.array([0.5, None, 1.0, None], dtype=object)
    assert list(scripts[0].by_text(texts, values)) == [0.5, 1.0, None]


def test_ranks_in_words(scripts):
    words = scripts[1].rank_words
    generic = {"size": 4, "points": points({2: 2, 4: 4, 6: 4})}
    assert words("Heads", generic) == (
        "**Heads have rank min(d_s, 4) in all reviews; T has full row rank in all reviews up to 4 tokens.**"
    )
    related = {"size": 4, "points": points({2: 2, 4: 3, 6: 2})}
    assert "except at 4 and 6 tokens (at most 2 less); T has full row rank in all reviews up to 2" in words(
        "Heads", related
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ([-0.3, -0.31, -0.29], "more certain maps"),
        ([0.3, 0.31, 0.29], "less certain maps"),
        ([0.3, -0.3, 0.1], "no difference that these seeds could show"),
        ([-0.3], "one seed cannot tell"),
    ],
)
def test_verdicts_rest_on_intervals(scripts, change, said):
    assert scripts[1].verdict(np.array(change)) == said


def test_an_interval_of_students_t(scripts):
    low, high = scripts[1].ends(np.array([1.0, 2.0, 3.0]))
    assert (low + high) / 2 == pytest.approx(2)
    assert (high - low) / 2 == pytest.approx(4.302652729749464 / 3**0.5)
    assert scripts[1].over_seeds(np.array([-1.0]), 1) == "−1.0"


@pytest.mark.parametrize(
    ("share", "said"), [(0.0, "None of the alternatives"), (0.5, "50.0 % of the alternatives")]
)
def test_logits_in_words(scripts, share, said):
    one = {"least": [5, 5, 5], "obtainable": [share] * 3, "texts": 4}
    words = scripts[1].logit_words({"key_size": 3, "points": {"6": one}})
    assert said in words
    assert "the largest rank that there is, d_s − 1" in words


def test_the_page_holds_what_was_measured(scripts, monkeypatch):
    """identifiability.md is what the script makes of the numbers beside it."""
    measure, tables = scripts
    written = (RESULTS / "identifiability.md").read_text(encoding="utf-8")
    monkeypatch.setattr(measure, "VALUES", RESULTS / "identifiability")
    tables.main()
    assert (tables.HERE / "identifiability.md").read_text(encoding="utf-8") == written
