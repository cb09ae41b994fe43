"""An audit on a cluster of two nodes on this computer: the same card, and a killed worker loses nothing."""

import json

import pytest

import kinds
from ray_nodes import free_port, kill_worker
from typed import glasshead, refusal, shell

AUDITS = ("--audits", "agreement,faithfulness,operators")


@pytest.fixture
def model(tmp_path):
    """A folder of a tiny BERT, and unbalanced reviews that it can read."""
    folder = kinds.saved(tmp_path / "bert")
    data = tmp_path / "reviews.csv"
    texts = [f"the film was good and the plot was long {'good ' * (i % 5)}" for i in range(36)]
    texts += [f"bad music and a bad scene {'the end ' * (i % 4)}" for i in range(4)]
    labels = ["LABEL_1"] * 36 + ["LABEL_0"] * 4
    lines = [f"{text},{label}" for text, label in zip(texts, labels, strict=True)]
    data.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    return folder, data


def findings(card):
    return {
        ".".join((one["audit"], one["statistic"], one["against"], one["group"])): (
            one["estimate"],
            one["interval"],
            one["verdict"],
        )
        for one in json.loads((card / "card.json").read_text())["findings"]
    }


@pytest.mark.slow
def test_a_card_is_that_of_one_computer_though_a_worker_is_killed(ray_address, ray_folder, model, tmp_path):
    folder, data = model
    process = shell("audit", folder, data, *AUDITS, "--ray", ray_address, "--out", tmp_path / "there")
    killed = kill_worker("ray::RayWorker.answers", ray_folder, process)
    _, errors = process.communicate(timeout=300)
    assert killed, errors
    assert process.returncode == 0, errors
    glasshead("audit", folder, data, *AUDITS, "--out", tmp_path / "here")
    there, here = findings(tmp_path / "there"), findings(tmp_path / "here")
    assert there.keys() == here.keys()
    for name, (estimate, interval, verdict) in here.items():
        assert there[name][0] == pytest.approx(estimate, abs=1e-6), name
        assert there[name][1] == pytest.approx(interval, abs=1e-6), name
        assert there[name][2] == verdict, name


def test_what_cannot_be_meant_is_refused(model, tmp_path):
    nobody = f"127.0.0.1:{free_port()}"
    folder, data = model
    command = ("audit", folder, data, "--out", tmp_path / "card")
    assert "--ray" in refusal(tmp_path, *command, "--gpus-per-task", 1)
    assert "--gpus-per-task" in refusal(tmp_path, *command, "--ray", nobody, "--gpus-per-task", 1.5)
    assert "no Ray cluster answers" in refusal(tmp_path, *command, "--ray", nobody)
    assert "read predictions" in refusal(tmp_path, *command, "--audits", "identifiability", "--ray", nobody)
