"""One given answer against another: log p(A) − log p(B), and what this difference rests on."""

import re

import numpy as np
import pytest
import torch
import transformers as hf
from typer.testing import CliRunner

from classifier_families import FAMILIES
from glasshead import explain
from glasshead.cli.app import app
from glasshead.errors import InputError

TEXTS = ["the plot is", "a warm , funny film and so"]
GIVEN, OTHER = " not very good", " dull"
FAMILY = {"GPT2": hf.AutoModelForCausalLM, "Llama": hf.AutoModelForCausalLM, "Bart": hf.AutoModelForSeq2SeqLM,
          "T5": hf.AutoModelForSeq2SeqLM}  # fmt: skip
every = pytest.mark.parametrize("name", FAMILY)


def writer(name):
    """A tiny model that writes at random, and its tokenizer; each word is a token."""
    torch.manual_seed(0)
    model = FAMILY[name].from_config(FAMILIES[name].config(**FAMILIES[name].options)).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[name].tokenizer()


def own_log_p(model, tokenizer, text, answer):
    """log p of a whole answer, by the model's own loss."""
    if model.config.is_encoder_decoder:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        labels = tokenizer(text_target=answer, return_tensors="pt")["input_ids"]
    else:
        ids = tokenizer(text + answer, return_tensors="pt")["input_ids"]
        labels = ids.clone()
        labels[:, : len(tokenizer(text)["input_ids"])] = -100
    with torch.no_grad():
        loss = model(input_ids=ids, labels=labels).loss
    return -float(loss) * int((labels >= 0).sum())


@every
def test_the_odds_are_those_of_the_losses(name):
    model, tokenizer = writer(name)
    found = explain(model, TEXTS, tokenizer=tokenizer, answer=GIVEN, against=OTHER, method="gradient")
    assert len(found) == len(TEXTS)
    for one, text in zip(found, TEXTS, strict=True):
        expected = own_log_p(model, tokenizer, text, GIVEN) - own_log_p(model, tokenizer, text, OTHER)
        assert np.log(one.prediction / (1 - one.prediction)) == pytest.approx(expected, abs=1e-4)
        assert one.target == f"“{GIVEN}” rather than “{OTHER}”"
        assert one.text == text


@every
@pytest.mark.parametrize("method", ["gradient", "gradient-after-norm", "erasure-delete"])
def test_scores_are_differences_of_those_of_each_answer(name, method):
    model, tokenizer = writer(name)

    def wholes(**asked):
        found = explain(model, TEXTS, tokenizer=tokenizer, method=method, **asked)
        return found[:: len(found) // len(TEXTS)]

    contrast = wholes(answer=GIVEN, against=OTHER)
    for both, given, other in zip(contrast, wholes(answer=GIVEN), wholes(answer=OTHER), strict=True):
        size = len(both.scores)
        difference = np.array(given.scores[:size]) - np.array(other.scores[:size])
        np.testing.assert_allclose(both.scores, difference, atol=1e-4)
        assert np.abs(difference).max() > 0.01
    reverse = wholes(answer=OTHER, against=GIVEN)
    np.testing.assert_allclose(contrast[1].scores, -np.array(reverse[1].scores), atol=1e-4)


def test_answers_that_begin_alike_share_what_cancels():
    model, tokenizer = writer("GPT2")
    (longer,) = explain(
        model, TEXTS[0], tokenizer=tokenizer, answer=" so good", against=" so dull", method="erasure-delete"
    )
    assert longer.text == TEXTS[0]
    expected = own_log_p(model, tokenizer, TEXTS[0], " so good")
    expected -= own_log_p(model, tokenizer, TEXTS[0], " so dull")
    assert np.log(longer.prediction / (1 - longer.prediction)) == pytest.approx(expected, abs=1e-4)
    assert longer.tokens == tuple(TEXTS[0].split())


@pytest.mark.parametrize("name", ["GPT2", "Bart"])
def test_captum_explains_the_contrast(name):
    pytest.importorskip("captum")
    model, tokenizer = writer(name)
    (found,) = explain(
        model,
        TEXTS[0],
        tokenizer=tokenizer,
        answer=GIVEN,
        against=OTHER,
        method="captum:integrated-gradients",
    )
    assert abs(found.completeness_gap) < 0.05


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("GPT2", {"against": OTHER, "method": "attention"}, "no single attention determines the contrast"),
        ("Bart", {"against": OTHER, "method": "rollout"}, "no single attention determines the contrast"),
        ("GPT2", {"against": GIVEN}, "are the same tokens"),
        ("T5", {"against": GIVEN}, "are the same tokens"),
        ("GPT2", {"against": ""}, "`against` is empty"),
        ("GPT2", {"against": OTHER, "target": " dull"}, "leave `target` out"),
        ("GPT2", {"against": OTHER * 1022}, "longer than the model's maximum"),
        ("GPT2", {"against": OTHER, "texts": ["a"]}, "needs a prompt"),
        ("GPT2", {"against": "s", "texts": ["plot"]}, "begin the answer with a blank"),
    ],
)
def test_what_cannot_be_asked(name, options, says):
    model, tokenizer = writer(name)
    with pytest.raises(InputError, match=says):
        explain(
            model,
            tokenizer=tokenizer,
            answer=GIVEN,
            **{"texts": TEXTS, "method": "erasure-delete"} | options,
        )


def test_a_contrast_needs_something_to_compare():
    model, tokenizer = writer("GPT2")
    with pytest.raises(InputError, match="name the other one, too"):
        explain(model, TEXTS, tokenizer=tokenizer, against=OTHER)


def test_the_command(tmp_path):
    model, tokenizer = writer("GPT2")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    asked = ["explain", str(tmp_path), TEXTS[0], "--answer", GIVEN, "--against", OTHER]
    shown = CliRunner().invoke(app, [*asked, "--method", "gradient"])
    assert shown.exit_code == 0, shown.output
    assert re.search(rf"p\(“{GIVEN}” rather than\s+“{OTHER}”\) = ", shown.output)
    refused = CliRunner().invoke(app, asked)
    assert "leave --against out" in refused.output + str(refused.exception)
