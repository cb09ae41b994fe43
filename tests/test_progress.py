"""What long work says of how far it is, to who calls from Python."""

from contextlib import suppress

import pytest

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead import progress
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.progress import ProgressBar, watched

pytestmark = pytest.mark.usefixtures("quiet")
TEXT = TEXTS[0]


@pytest.fixture
def screen(monkeypatch, capsys):
    """Standard error, and somebody who looks at it from the first moment on."""
    monkeypatch.setattr(progress, "is_looked_at", lambda: True)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    return lambda: capsys.readouterr().err


def told(method, texts=TEXTS):
    """What an explanation says while it works, each kind of work by itself."""
    said = {}
    tokenizer, model = FAMILIES["Bert"].tokenizer(), FAMILIES["Bert"].build()

    def tell(stage, share=None):
        said.setdefault(progress.work_of(stage), []).append((stage, share))

    try:
        glasshead.explain(model, texts, tokenizer=tokenizer, method=method, progress=tell)
    except InputError:
        pytest.skip("not for this model")
    return said


@pytest.mark.parametrize("method", EXPLAINERS)
def test_every_method_says_how_far_it_is(method):
    said = told(method)[method]
    assert said[0] == (method, None)
    shares = [share for _, share in said[1:]]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    if method in ("erasure-delete", "captum:lime", "captum:integrated-gradients", "rollout", "gradient"):
        assert said[-1] == (f"{method}: {len(TEXTS)} of {len(TEXTS)} texts", 1.0)


@pytest.mark.parametrize(
    "method", ["erasure-mask-token", "captum:kernel-shap", "captum:integrated-gradients"]
)
def test_a_long_text_is_done_by_and_by(method, monkeypatch):
    monkeypatch.setattr("glasshead.data.batching.TOKENS_PER_BATCH", 40)
    shares = [share for _, share in told(method, " ".join(TEXTS * 3))[method][1:]]
    assert len({share for share in shares if 0 < share < 1}) >= 3


def test_several_methods_and_intervals_are_named():
    said = told(["attention", "erasure-delete"], TEXT)
    assert list(said) == ["attention", "erasure-delete"]


class TestBar:
    def test_it_shows_where_somebody_looks(self, screen):
        explain(None)
        assert "BertForSequenceClassification: erasure-mask-token:   0%" in screen()

    def test_no_bar(self, screen):
        explain(False)
        assert screen() == ""

    def test_nobody_looks(self, screen, monkeypatch):
        monkeypatch.setattr(progress, "is_looked_at", lambda: False)
        explain(None)
        assert screen() == ""
        explain(True)
        assert "erasure-mask-token" in screen()

    def test_what_is_quickly_done_shows_nothing(self, screen, monkeypatch):
        monkeypatch.setattr(progress, "DELAY", 60.0)
        explain(None)
        assert screen() == ""

    def test_an_error_leaves_no_bar(self, screen):
        with suppress(ValueError), watched(None, "my-model") as tell:
            tell("reading", 0.5)
            raise ValueError
        assert screen().endswith(" \r")

    def test_a_remark_stays(self, screen):
        ProgressBar("my-model").remark("about 3 minutes")
        assert screen() == "my-model: about 3 minutes\n"


def explain(progress):
    tokenizer, model = FAMILIES["Bert"].tokenizer(), FAMILIES["Bert"].build()
    glasshead.explain(model, TEXT, tokenizer=tokenizer, method="erasure-mask-token", progress=progress)
