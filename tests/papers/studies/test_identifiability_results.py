"""The measured table of the page on identifiability: words follow from numbers, old numbers are not read."""

import numpy as np

from reproduction import study
from reproduction.identifiability import STUDY, measure


def test_nothing_is_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "HERE", tmp_path)
    assert "Not measured yet" in STUDY.page("identifiability")


def test_numbers_of_other_settings_are_measured_again(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "HERE", tmp_path)
    today = {"settings": measure.SETTINGS}
    monkeypatch.setattr(measure, "survey", lambda length, processes: today | {"width": length})
    old = {"settings": measure.SETTINGS | {"version": 0}, "width": 0}
    study.write_numbers("identifiability", "lengths", {"16": old, "32": old | today})
    STUDY.measure()
    values = study.read_numbers("identifiability", "lengths")
    assert (values["16"]["width"], values["32"]["width"]) == (16, 0)
    assert list(values) == list(map(str, measure.LENGTHS))


def test_means_of_texts_leave_out_what_is_not_known():
    texts, values = np.array([3, 3, 8, 9]), np.array([0.5, None, 1.0, None], dtype=object)
    assert list(measure.by_text(texts, values)) == [0.5, 1.0, None]
