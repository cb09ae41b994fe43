"""No interval leaves what a metric can be."""

import json
from pathlib import Path

import numpy as np
import pytest

from glasshead.papers.experiments import PAPERS, Claim
from glasshead.papers.experiments.differences import possible_gap
from glasshead.papers.experiments.metric_ranges import cut, possible_range, within

TABLES = Path(__file__).parents[3] / "reproduction"


@pytest.mark.parametrize(
    ("name", "interval", "cut"),
    [
        ("macro_f1", (0.93, 1.04), (0.93, 1.0)),
        ("erasure_1", (-1.2, 0.4), (-1.0, 0.4)),
        ("erasure_share_1", (-0.2, 0.4), (0.0, 0.4)),
        ("separation_size", (-0.367, 1.035), (0.0, 0.5)),
        ("dev_accuracy", (-0.1, 1.1), (0.0, 1.0)),
        ("perplexity", (-3.0, 9.0), (1.0, 9.0)),
        ("VᵀW", (-3.0, 9.0), (-3.0, 9.0)),
        ("accuracy", None, None),
    ],
)
def test_an_interval_is_cut_to_what_can_be(name, interval, cut):
    assert within(interval, name) == cut


@pytest.mark.parametrize(
    ("better", "worse", "names", "possible"),
    [
        ("one", "other", ("separation_size",), (-0.5, 0.5)),
        ("one", "other", ("erasure_0", "erasure_1"), (-2.0, 2.0)),
        ("one", "other", ("separation_size", "erasure_0"), (-1.25, 1.25)),
        ("one", "other", ("gap",), (-np.inf, np.inf)),
        ("one", 0.5, ("score_positive",), (-0.5, 0.5)),
        (0.0, "one", ("rmse",), (-np.inf, 0.0)),
    ],
)
def test_a_gap_is_no_larger_than_it_can_be(better, worse, names, possible):
    assert possible_gap(Claim("more", better, worse, names)) == possible
    assert cut(None, possible) is None


def test_every_metric_of_every_table_has_a_range():
    for paper in PAPERS.values():
        for table in paper.tables:
            for name in table.metrics:
                low, high = possible_range(name)
                assert low < high, (table.name, name)
    with pytest.raises(ValueError, match="no range of 'accurcy' is known: did you mean 'accuracy'"):
        possible_range("accurcy")


def test_whatever_was_published_lies_in_it():
    published = 0
    for path in (path for paper in PAPERS for path in (TABLES / paper).glob("*.json")):
        for cell in json.loads(path.read_text()).get("cells", []):
            for name, metric in cell.get("metrics", {}).items():
                low, high = possible_range(name)
                numbers = [*metric["values"], *(metric["interval"] or ()), *(metric["next_seed"] or ())]
                assert all(low <= number <= high for number in numbers), (path, cell["name"], name, numbers)
                published += len(numbers)
        for difference in json.loads(path.read_text()).get("differences", []):
            if (interval := difference["interval"]) is not None and (metrics := difference["metrics"]):
                claim = Claim("published", difference["better"], difference["worse"], tuple(metrics))
                assert cut(tuple(interval), possible_gap(claim)) == tuple(interval)
                published += 2
    assert published > 1000
