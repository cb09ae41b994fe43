"""A run says what its attention did before and after training; a card repeats it."""

import json
import shutil
import sys

import pytest
from transformers import TrainerCallback

from alike import assert_alike, assert_same_weights
from glasshead.audits import audit
from glasshead.cli.run_training import print_results
from glasshead.data import LoadOptions, load
from glasshead.opening import load_run
from glasshead.report.run_facts import fact_rows
from glasshead.results import AuditCard
from glasshead.training import TRAINING_PRESETS, train

RECIPE = TRAINING_PRESETS["s0-paper"].with_changes(epochs=3, learning_rate=0.05)


class Interrupt(TrainerCallback):
    """A Ctrl-C in the second epoch."""

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == 9:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator={"instances": 300}))


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    return train(data, RECIPE, tmp_path_factory.mktemp("use") / "run", seed=3)


def use_of(folder):
    return json.loads((folder / "run.json").read_text())["attention_use"]


def test_attention_begins_uniform_and_is_learned(run):
    (before,), (after,) = use_of(run)["before"], use_of(run)["after"]
    assert before["entropy"] > 0.98
    assert after["entropy"] < 0.95
    assert after["score_sd"] > 10 * before["score_sd"]
    assert before["sequences"] == after["sequences"] == load_run(run).record["data"]["rows"]["dev"]


def test_a_resumed_training_keeps_the_start(run, data, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data, RECIPE, out, seed=3, callbacks=[Interrupt()])
    train(data, RECIPE, out, seed=3, resume=True)
    assert_alike(use_of(out), use_of(run))


def test_the_training_itself_does_not_change(run, data, tmp_path, monkeypatch):
    module = sys.modules["glasshead.training.train"]
    monkeypatch.setattr(module, "measure_use", lambda model, texts: None)
    unmeasured = train(data, RECIPE, tmp_path / "run", seed=3)
    assert_same_weights(unmeasured, run)
    assert use_of(unmeasured) is None
    assert load_run(unmeasured).record["attention_use"] is None


def test_the_end_of_a_training_says_it(run, capsys):
    print_results(run, None)
    assert f"→ {use_of(run)['after'][0]['entropy']:.3f}" in capsys.readouterr().out


def test_a_card_says_both_and_is_read_again(run, data, tmp_path):
    card = audit(run, data["test"].select(range(20)), audits=["agreement"])
    use = card.facts["attention_use"]
    assert_alike(use["before"], use_of(run)["before"])
    assert use["after"][0]["sequences"] == 20
    card.save(tmp_path / "card")
    again = AuditCard.load(tmp_path / "card")
    assert_alike(again.facts["attention_use"], json.loads(json.dumps(use)))
    rows = dict(fact_rows([again]))
    assert sum("ntropy" in name for name in rows) == 2


def test_an_old_run_still_loads(run, data, tmp_path):
    old = shutil.copytree(run, tmp_path / "old")
    record = json.loads((old / "run.json").read_text())
    del record["attention_use"]
    (old / "run.json").write_text(json.dumps(record))
    card = audit(old, data["test"].select(range(20)), audits=["agreement"])
    assert card.facts["attention_use"]["before"] is None
    print_results(old, None)
