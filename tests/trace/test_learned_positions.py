"""What the positions of runs have learned, and where it began."""

import json

import numpy as np
import pytest

from fake_models import write_model
from glasshead.opening import load_run_model, run_folders
from glasshead.trace import read_learned_positions


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs with several mappings, and two repeats; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")
    write_model(folder / "linear", attention={"position": {"name": "distance-aware", "mapping": "linear"}})
    write_model(folder / "clip", attention={"position": {"name": "distance-aware", "mapping": "clip"}})
    write_model(folder / "sentences", "hierarchical", attention="distance-aware", num_hidden_layers=2)
    for seed in (0, 1):
        write_model(
            folder / "repeats" / f"seed-{seed}", seed=seed, attention="distance-aware", pooling="first"
        )
    (folder / "repeats" / "repeats.json").write_text(json.dumps({"seeds": [0, 1], "metrics": {}}))
    return folder


def positions(folder):
    return read_learned_positions([load_run_model(run) for run in run_folders(folder)])


def test_every_layer_of_both_levels(runs):
    names = [f"{level} level, layers.{layer}" for level in ("word", "sentence") for layer in (0, 1)]
    assert [layer[0].layer for layer in positions(runs / "sentences")] == names


def test_values_and_where_they_began(runs):
    ((w, v),) = positions(runs / "repeats")
    expected = np.roll(np.linspace(-1, 1, 6), 1)
    np.testing.assert_allclose(w.values, [expected, 2 * expected], rtol=1e-6)
    np.testing.assert_allclose(v.values[0], expected**2, rtol=1e-6)
    np.testing.assert_allclose(w.initial, np.linspace(-0.05, 0.05, 6), rtol=1e-6)
    assert v.initial.tolist() == [0.0] * 6
    assert (w.layer, w.parameter, v.parameter) == ("encoder.layers.0", "w", "v")


@pytest.mark.parametrize(("run", "known"), [("linear", ["w", "k", "b"]), ("clip", ["w"])])
def test_other_mappings_show_what_they_learn(runs, run, known):
    assert [[one.parameter for one in layer] for layer in positions(runs / run)] == [known]
