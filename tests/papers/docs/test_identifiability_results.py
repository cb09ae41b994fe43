"""The measured table of the page on identifiability: words follow from numbers, old numbers are not read."""

import json
from pathlib import Path

import numpy as np
import pytest

import identifiability

RESULTS = Path(__file__).parents[3] / "docs" / "results"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, over an empty folder."""
    monkeypatch.setattr(identifiability, "VALUES", tmp_path)
    monkeypatch.setattr(identifiability, "HERE", tmp_path)
    return identifiability


def test_nothing_is_measured(script, tmp_path):
    script.write()
    assert "Not measured yet" in (tmp_path / "identifiability.md").read_text()


def test_numbers_of_other_settings_are_measured_again(script, tmp_path):
    for draws, value in ((1, 5.0), (2, 7.123456)):
        assert not script.is_recorded("a", {"draws": (draws,)})
        script.record("a", {"draws": (draws,)}, {"value": value})
        assert script.is_recorded("a", {"draws": (draws,)})
        recorded = json.loads((tmp_path / "lengths.json").read_text())
        assert recorded["a"] == {"settings": {"draws": [draws]}, "value": round(value, 5)}


def test_means_of_texts_leave_out_what_is_not_known(script):
    texts, values = np.array([3, 3, 8, 9]), np.array([0.5, None, 1.0, None], dtype=object)
    assert list(script.by_text(texts, values)) == [0.5, 1.0, None]


def test_the_page_holds_what_was_measured(script, monkeypatch):
    """identifiability.md is what the script makes of the numbers beside it."""
    written = (RESULTS / "identifiability.md").read_text(encoding="utf-8")
    monkeypatch.setattr(script, "VALUES", RESULTS / "identifiability")
    script.write()
    assert (script.HERE / "identifiability.md").read_text(encoding="utf-8") == written
