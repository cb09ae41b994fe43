"""What holds for a classifier of any family: explained in a batch as alone, and untouched afterwards."""

import copy
import inspect

import pytest
import torch

from classifier_families import COMPLETE, FAMILIES, TEXTS
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.training import open_subject
from tolerances import ALL_LAYERS

NEEDS_VALUES = {"effective-attention"}


def lacking(family, explainer):
    """Why a family cannot be explained that way; None: it can."""
    if EXPLAINERS[explainer].reads_attention and "attention" in family.lacks:
        return family.lacks["attention"]
    return family.lacks.get("values") if explainer in NEEDS_VALUES else None


def state(model):
    """Everything of a model that somebody could have changed."""
    hooks = [
        (len(module._forward_hooks), len(module._forward_pre_hooks), module.training)
        for module in model.modules()
    ]
    return list(model.state_dict()), hooks, model.config.to_json_string(), model.config._attn_implementation


@pytest.mark.parametrize("name", FAMILIES)
def test_every_method_explains_a_batch_as_each_text_and_leaves_the_model_as_it_was(name):
    family = FAMILIES[name]
    model, tokenizer = family.build().train(), family.tokenizer()
    before, weights = state(model), copy.deepcopy(model.state_dict())
    limits = tokenizer.model_max_length, tokenizer.pad_token, tokenizer.model_input_names
    if "all" in family.lacks:
        with pytest.raises(InputError, match=family.lacks["all"]):
            open_subject(model, tokenizer)
    else:
        subject = open_subject(model, tokenizer)
        for explainer in EXPLAINERS:
            check_explainer(family, explainer, subject.model, subject.tokenizer)
    assert state(model) == before
    assert all(torch.equal(weights[key], value) for key, value in model.state_dict().items())
    assert (tokenizer.model_max_length, tokenizer.pad_token, tokenizer.model_input_names) == limits


def check_explainer(family, explainer, *before):
    """Refused for the reason in the table, or the same for a batch as for each text."""
    explain, reason = EXPLAINERS[explainer], lacking(family, explainer)
    if reason is not None:
        with pytest.raises(InputError, match=reason):
            explain(*before, TEXTS)
        return
    for text, attribution in zip(TEXTS, explain(*before, TEXTS), strict=True):
        (alone,) = explain(*before, [text])
        assert attribution.tokens == alone.tokens
        torch.testing.assert_close(attribution.scores, alone.scores, **ALL_LAYERS, msg=explainer)


@pytest.mark.parametrize("family", COMPLETE, ids=lambda family: family.name)
def test_what_is_predicted_is_what_the_model_predicts(family):
    model, tokenizer = family.build(), family.tokenizer()
    subject = open_subject(model, tokenizer)
    for text in TEXTS:
        inputs = tokenizer(text, return_tensors="pt")
        if family.marks == "":
            del inputs["token_type_ids"]  # which these models would take for words
        known = inspect.signature(model.forward).parameters
        with torch.no_grad():
            logits = model(**{key: value for key, value in inputs.items() if key in known}).logits
        (attribution,) = EXPLAINERS["gradient"](subject.model, subject.tokenizer, [text], target=2)
        torch.testing.assert_close(attribution.prediction, float(logits.softmax(dim=-1)[0, 2]), **ALL_LAYERS)
