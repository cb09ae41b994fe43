"""The history of a run folder: as it was recorded, or one snapshot of the trained model."""

from dataclasses import asdict

import pytest

from glasshead.data import LoadOptions, SyntheticOptions, load, planted_groups
from glasshead.errors import InputError
from glasshead.papers.dynamics import dynamics_callback, load_history, split_followed_tokens
from glasshead.training import preset_config, train

OPTIONS = {"instances": 200}
LOAD = LoadOptions(generator=OPTIONS)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run that was recorded and one that was not, of the same training."""
    folder = tmp_path_factory.mktemp("runs")
    data, config = load("synthetic", LOAD), preset_config("s4", None).with_changes(epochs=1)
    source = {"source": "synthetic", "options": asdict(LOAD)}
    callback = dynamics_callback(planted_groups(SyntheticOptions(**OPTIONS)))
    train(data, config, folder / "recorded", source=source, callbacks=[callback])
    train(data, config, folder / "plain", source=source)
    return folder


def test_of_a_recorded_training_all_steps(runs):
    loaded = load_history(runs / "recorded")
    assert loaded.recorded
    assert len(loaded.history.steps) > 1
    assert loaded.title == "synthetic · softmax · seed 0"
    with pytest.raises(InputError, match="its data are not needed"):
        load_history(runs / "recorded", "synthetic")


def test_of_another_one_snapshot_with_the_texts_where_they_are(runs):
    loaded = load_history(runs / "plain")
    assert not loaded.recorded
    assert loaded.history.steps.tolist() == [0]
    assert loaded.history.groups == load_history(runs / "recorded").history.groups
    assert loaded.remarks == []


def test_tokens_without_a_history(runs):
    history = load_history(runs / "recorded").history
    followed, (other,) = split_followed_tokens(runs / "recorded", history, ["superb", "[UNK]"])
    assert followed == ("superb",)
    assert (other.token, other.count, len(other.polarity)) == ("[UNK]", 0, 1)
    assert isinstance(other.score, float)
    with pytest.raises(InputError, match="did you mean 'superb'"):
        split_followed_tokens(runs / "recorded", history, ["superbe"])
