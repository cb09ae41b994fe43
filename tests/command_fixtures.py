"""What tests of commands share: a tiny run and audit per activation, made once by the commands."""

from types import SimpleNamespace

import pytest

from once import made_once
from ray_nodes import ray_address, ray_folder  # noqa: F401
from typed import TINY, glasshead


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """`softmax`, `tanhmax`: runs. `softmax_audit`, `tanhmax_audit`: their audits. Not to be written to."""

    def make(folder):
        for activation in ("softmax", "tanhmax"):
            run = folder / activation
            glasshead("train", *TINY, "--attention", activation, "--out", run)
            glasshead("audit", run, "synthetic", "--out", folder / f"{activation}-audit")

    folder = made_once(tmp_path_factory, "tiny", make)
    return SimpleNamespace(folder=folder, **{path.name.replace("-", "_"): path for path in folder.iterdir()})


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Pages without their plots: drawing them is most of the work, and tests/report looks at them."""
    monkeypatch.setattr("glasshead.report.html.figure_page.panel_drawings", lambda figure, key: [])


@pytest.fixture
def reviews(tmp_path):
    """A csv file of forty reviews with two classes."""
    path = tmp_path / "reviews.csv"
    texts = [("a warm and funny film", "good"), ("a dreary mess of a film", "bad")]
    rows = [f"{text} number {i},{label}" for i in range(20) for text, label in texts]
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return path
