"""The models of the demo are trained when they are first asked for, once."""

import os

import pytest

from glasshead import explain
from glasshead.serve.server import DEMO_MODELS, demo_openers

pytestmark = pytest.mark.slow


def test_they_are_trained_once_kept_and_read_reviews(tmp_path):
    for name, open_model in demo_openers(tmp_path / "cache").items():
        opened = open_model()
        assert opened.kind == "classifier"
        assert opened.labels == ["negative", "positive"]
        assert len(opened.examples) == 21
        words = set(opened.examples[0].split())
        known = set(opened.subject.tokenizer.get_vocab())
        assert words <= known
        (good,) = explain(opened.subject, "a wonderful film", target="positive")
        (bad,) = explain(opened.subject, "a dreadful mess", target="positive")
        assert good.prediction > 0.5 > bad.prediction
        assert name.removeprefix("demo-") in opened.source
    folders = {path.name: os.stat(path / "run.json").st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert set(folders) == set(DEMO_MODELS)  # and nothing half-made beside them
    for open_model in demo_openers(tmp_path / "cache").values():
        open_model()
    assert {
        path.name: os.stat(path / "run.json").st_mtime_ns for path in (tmp_path / "cache").iterdir()
    } == folders
