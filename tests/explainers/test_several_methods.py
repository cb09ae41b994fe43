"""Several methods in one request: the maps of each, text by text, as if each had been asked alone."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.cli.app import app
from glasshead.errors import InputError
from glasshead.report import attribution_page, scales_of
from glasshead.results import Attributions
from writers import PROMPT, small_writer

pytestmark = pytest.mark.usefixtures("quiet")
METHODS = ["attention", "gradient-after-norm", "erasure-delete", "rollout"]


def opened(name="Bert"):
    return FAMILIES[name].build(), FAMILIES[name].tokenizer()


@pytest.mark.parametrize("name", ["Bert", "T5", pytest.param("Llama", marks=pytest.mark.slow)])
def test_each_says_what_it_says_alone(name):
    model, tokenizer = opened(name)
    methods = METHODS if name == "Bert" else ["attention", "erasure-delete"]
    together = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=methods)
    assert [one.method for one in together] == methods * len(TEXTS)
    for place, method in enumerate(methods):
        alone = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)
        for one, other in zip(together[place :: len(methods)], alone, strict=True):
            assert one.text == other.text
            assert one.target == other.target
            assert np.abs(np.subtract(one.scores, other.scores)).max() < 1e-5 * max(map(abs, other.scores))


def test_a_list_of_one_is_that_one():
    model, tokenizer = opened()
    for methods in (["rollout"], ("rollout",), "rollout"):
        (one,) = glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, method=methods)
        assert one.method == "rollout"


def test_the_pass_that_predicts_is_asked_of_one_copy(monkeypatch):
    model, tokenizer = opened()
    module, lent = sys.modules["glasshead.explainers.explain"], []
    lend = module.lend_copy
    monkeypatch.setattr(module, "lend_copy", lambda model: lent.append(model) or lend(model))
    glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=METHODS)
    assert len(lent) == 1


def test_a_given_answer_and_words_of_a_tagger_too():
    model, tokenizer = small_writer()
    both = ["attention", "erasure-mean-embedding"]
    together = glasshead.explain(model, PROMPT, tokenizer=tokenizer, answer=" of it", method=both)
    alone = [
        glasshead.explain(model, PROMPT, tokenizer=tokenizer, answer=" of it", method=name) for name in both
    ]
    assert len(together) == sum(map(len, alone))
    assert [one.method for one in together] == both * (len(together) // 2)


def test_each_method_has_a_scale_of_its_own():
    model, tokenizer = opened()
    together = glasshead.explain(
        model, TEXTS, tokenizer=tokenizer, method=["attention", "gradient-after-norm"]
    )
    scales = scales_of(together)
    assert scales[0] == scales[2] != scales[1] == scales[3]
    page = attribution_page(together)
    assert "one scale holds for all texts of a method" in page
    assert f"{len(TEXTS)} texts, token by token" in page
    alone = attribution_page(Attributions((together[0],)))
    assert "One text, token by token" in alone
    assert "of a method" not in alone


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        (["attention", "attention"], "names 'attention' twice"),
        ([], "is empty"),
        (["attention", "zz"], "zz"),
        ([3], "must be a word or a list of words"),
    ],
)
def test_what_is_no_list_of_methods(methods, says):
    model, tokenizer = opened()
    with pytest.raises(InputError, match=says):
        glasshead.explain(model, TEXTS[0], tokenizer=tokenizer, method=methods)


@pytest.mark.slow
def test_as_it_is_typed_and_drawn(tmp_path):
    model, tokenizer = opened()
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    asked = ["explain", str(tmp_path / "model"), TEXTS[0], "--method", "attention", "--method", "rollout"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert ", attention" in result.output
    assert ", rollout" in result.output
    for name in ("both.html", "both.svg", "both.md"):
        result = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        assert "rollout" in (tmp_path / name).read_text(encoding="utf-8")
