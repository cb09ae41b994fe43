"""What a run or a model may hold to be loaded: records of the right types, safetensors; and not a word."""

import json
import logging

import numpy as np
import pytest
import torch
from transformers.utils import logging as transformers_logging

from fake_runs import classes, write_run
from glasshead.errors import InputError
from glasshead.opening import open_model, read_record
from glasshead.training import preset_config
from glasshead.training.pretrained import load_pretrained
from kinds import saved


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@pytest.fixture
def logged():
    handler, logger = Lines(), transformers_logging.get_logger("transformers")
    level = transformers_logging.get_verbosity()
    transformers_logging.set_verbosity_warning()
    logger.addHandler(handler)
    yield handler.lines
    logger.removeHandler(handler)
    transformers_logging.set_verbosity(level)


def test_a_new_head_on_old_weights_prints_no_report(logged, tmp_path, capfd):
    saved(tmp_path)
    about = {"id2label": {0: "a", 1: "b", 2: "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}
    capfd.readouterr()
    load_pretrained(preset_config(None, str(tmp_path)).with_changes(max_length=24), about)
    assert logged == []
    assert capfd.readouterr() == ("", "")
    assert transformers_logging.get_verbosity() == logging.WARNING  # as it was


def test_weights_that_are_no_safetensors_are_not_loaded(tmp_path):
    saved(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"has no model that loads .*safetensors"):
        open_model(tmp_path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("seed",), "0"),
        (("seed",), 1.5),
        (("seed",), None),
        (("recipe",), []),
        (("recipe", "model"), 3),
        (("data",), "trec"),
        (("data", "source"), ["trec"]),
        (("data", "options"), {"split_sed": 1}),
        (("data", "options"), {"classes": "a,b"}),
        (("data", "options"), {"generator": {"noise": "much"}}),
        (("data", "classes"), {"train": ["a"]}),
        (("gauge",), [1]),
        (("notes",), "none"),
        (("notes",), [1]),
    ],
)
def test_a_record_of_another_type_names_its_place(tmp_path, place, value):
    labels = classes(20)
    folder = write_run(tmp_path / "run", labels, np.roll(labels, 1))
    assert read_record(folder)["seed"] == 0
    path = folder / "run.json"
    record = json.loads(path.read_text())
    inner = record
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match=rf"run.json is damaged \({'.'.join(place)}.*train again"):
        read_record(folder)
