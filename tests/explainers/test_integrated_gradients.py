"""Integrated gradients: closed forms, Captum asked directly, and the gap that the steps leave."""

import copy
import re

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, find_explainer
from glasshead.opening import open_subject
from small import as_run, planted_model, planted_texts, random_model, split, tokenizer
from tolerances import ONE_MODEL

NAME = "captum:integrated-gradients"
TEXT = "the film was good and the plot was long"


def linear_model():
    """Scores of zero: every token weighs the same, and the logit is linear in the vectors."""
    model = random_model(activation="softmax").double()
    with torch.no_grad():
        for parameter in model.pooling.score.parameters():
            parameter.zero_()
    return model


def test_of_a_linear_model_it_is_the_gradient_times_the_way():
    model = linear_model()
    (found,) = EXPLAINERS[NAME](model, tokenizer(), [TEXT], target_fn="logit")
    ids = tokenizer()(TEXT, return_tensors="pt")["input_ids"]
    vectors = model.get_input_embeddings()(ids).detach().requires_grad_()
    logits = model(inputs_embeds=vectors, attention_mask=torch.ones_like(ids)).logits
    (slope,) = torch.autograd.grad(logits[0, 1], vectors)
    way = vectors - model.get_input_embeddings().weight[tokenizer().pad_token_id]
    torch.testing.assert_close(
        torch.tensor(found.scores).double(), (slope * way).sum(dim=-1)[0].detach(), **ONE_MODEL
    )
    assert abs(found.completeness_gap) < 1e-6


@pytest.mark.parametrize(
    ("family", "options", "steps", "baseline"),
    [
        ("Bert", "", 50, "pad"),
        ("GPT2", "", 50, "pad"),
        ("Bert", "+n_steps=7", 7, "pad"),
        ("Bert", "+baselines=mask", 50, "mask"),
        ("GPT2", "+n_steps=20+baselines=zero", 20, "zero"),
    ],
)
def test_it_is_captums(family, options, steps, baseline):
    """Captum gets the vectors as ``inputs_embeds`` of the caller's own model."""
    subject = open_subject(FAMILIES[family].build(), FAMILIES[family].tokenizer())
    model, words = subject.model, subject.tokenizer
    (found,) = find_explainer(NAME + options)(model, words, TEXTS[:1], target=1)
    assert found.method == NAME + options
    read = words(TEXTS[0], return_tensors="pt")
    special = torch.tensor(
        words.get_special_tokens_mask(read["input_ids"][0], already_has_special_tokens=True)
    )
    embed = model.get_input_embeddings()
    token = words.mask_token_id if baseline == "mask" else words.pad_token_id
    without = embed(torch.where(special.bool(), read["input_ids"], token)).detach()
    if baseline == "zero":
        without[0, ~special.bool()] = 0.0

    def forward(vectors):
        return model(inputs_embeds=vectors).logits.softmax(dim=-1)[:, 1]

    vectors = embed(read["input_ids"]).detach().requires_grad_()
    expected, gap = IntegratedGradients(forward).attribute(
        vectors, without, n_steps=steps, return_convergence_delta=True
    )
    torch.testing.assert_close(torch.tensor(found.scores), expected.sum(dim=-1)[0].detach(), **ONE_MODEL)
    assert found.completeness_gap == pytest.approx(gap.item(), abs=1e-6)
    assert all(found.scores[place] == 0 for place in special.nonzero()[:, 0].tolist())


def test_zeros_leave_special_tokens_that_are_padding_too():
    """As in GPT-2, whose padding is its end of text, here also the first token of a text."""
    words = copy.deepcopy(FAMILIES["GPT2"].tokenizer())
    words.add_special_tokens({"eos_token": "<eos>", "pad_token": "<eos>"})
    model = FAMILIES["GPT2"].build()
    model.resize_token_embeddings(len(words))
    model.config.pad_token_id = words.pad_token_id
    subject = open_subject(model, words)
    (found,) = find_explainer(f"{NAME}+baselines=zero")(
        subject.model, subject.tokenizer, [f"<eos> {TEXTS[0]}"], target=1
    )
    assert found.tokens[0] == "<eos>"
    assert found.scores[0] == 0
    assert np.abs(found.scores[1:]).min() > 0


def test_a_baseline_that_the_tokenizer_lacks_is_not_offered():
    words = copy.deepcopy(FAMILIES["GPT2"].tokenizer())
    words.mask_token = None
    subject = open_subject(FAMILIES["GPT2"].build(), words)
    with pytest.raises(InputError, match=r"has no mask token: choose (pad or )?(unk or )?zero$"):
        find_explainer(f"{NAME}+baselines=mask")(subject.model, subject.tokenizer, TEXTS[:1])


def test_one_step_is_called_one():
    (found,) = find_explainer(f"{NAME}+n_steps=1")(random_model(), tokenizer(), [TEXT])
    assert found.settings.startswith("1 step from")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{NAME}+steps=3", "has no option 'steps': it has 'n_steps' and 'baselines'"),
        (f"{NAME}+n_steps=0", "'n_steps' must be a whole number from 1 on, not 0"),
        (f"{NAME}+n_steps=many", "'n_steps' must be a whole number from 1 on, not many"),
        (f"{NAME}+baselines=cls", "'baselines' must be 'pad' or 'mask' or 'unk' or 'zero', not 'cls'"),
        ("captum:deep-lift+n_steps=3", "has no option 'n_steps': it has 'baselines'"),
        ("captum:lime+baselines=zero", "'baselines' must be 'mask' or 'unk' or 'pad', not 'zero'"),
    ],
)
def test_options_that_do_not_exist(name, message):
    with pytest.raises(InputError, match=re.escape(message)):
        find_explainer(name)


def test_numbers_add_up_to_the_change_but_for_the_gap():
    model = random_model(activation="tanhmax", encoder="lstm")
    (found,) = EXPLAINERS[NAME](model, tokenizer(), [TEXT])
    ids = torch.full((1, len(found.tokens)), tokenizer().pad_token_id)
    embed = model.get_input_embeddings()(ids).detach()
    with torch.no_grad():
        before = model(inputs_embeds=embed, attention_mask=torch.ones_like(ids)).logits.softmax(dim=-1)[0, 1]
    change = found.prediction - before.item()
    assert sum(found.scores) - found.completeness_gap == pytest.approx(change, abs=1e-5)
    assert abs(found.completeness_gap) < 0.05 * abs(change)


def test_planted_truth_and_the_audit_of_it():
    texts, labels = planted_texts(30)
    run = as_run(planted_model("softmax"), texts, labels)
    card = glasshead.audit(run, split(texts, labels), method=NAME)
    assert card.finding(f"agreement.{NAME}.erasure-renormalise.all").interval[0] > 0.3
    assert any("completeness gap" in remark for remark in card.facts["remarks"])
    for highlight in card.highlights:
        strongest = int(np.argmax(np.abs(highlight.attribution.scores)))
        assert highlight.attribution.tokens[strongest] in ("good", "bad")
        assert highlight.attribution.completeness_gap is not None
