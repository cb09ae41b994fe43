"""One tiny run and audit per activation, made once by the commands themselves."""

from types import SimpleNamespace

import pytest
from typed import TINY, glasshead


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """`softmax`, `tanhmax`: runs. `softmax_audit`, `tanhmax_audit`: their audits. Not to be written to."""
    folder = tmp_path_factory.mktemp("tiny")
    made = {}
    for activation in ("softmax", "tanhmax"):
        run, audit = folder / activation, folder / f"{activation}-audit"
        glasshead("train", *TINY, "--attention", activation, "--out", run)
        glasshead("audit", run, "synthetic", "--out", audit)
        made |= {activation: run, f"{activation}_audit": audit}
    return SimpleNamespace(folder=folder, **made)


@pytest.fixture
def reviews(tmp_path):
    """A csv file of forty reviews with two classes."""
    path = tmp_path / "reviews.csv"
    texts = [("a warm and funny film", "good"), ("a dreary mess of a film", "bad")]
    rows = [f"{text} number {i},{label}" for i in range(20) for text, label in texts]
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return path
