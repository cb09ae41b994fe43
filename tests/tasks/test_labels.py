"""A model of several labels is asked about one of them: as the classifier of yes and no that it is then."""

import copy

import numpy as np
import pytest
import torch

from classifier_families import FAMILIES, TEXTS
from glasshead import explain
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS

MULTI_LABEL = "multi_label_classification"
LABELS = {0: "toxic", 1: "insult", 2: "threat"}
FAMILY = FAMILIES["Bert"]


def several_labels(**changes):
    """A model of three labels."""
    return FAMILY.build(3, problem_type=MULTI_LABEL, id2label=LABELS, **changes)


def yes_or_no(model, label):
    """The classifier of no and yes whose logits are 0 and that of a label."""
    twin = FAMILY.build(2)
    state = copy.deepcopy(model.state_dict())
    for name in ("classifier.weight", "classifier.bias"):
        state[name] = torch.stack([torch.zeros_like(state[name][0]), state[name][label]])
    twin.load_state_dict(state)
    return twin


def usable(name):
    """Whether a method can be asked of such a model."""
    return EXPLAINERS[name].package is None


@pytest.mark.parametrize("method", [name for name in EXPLAINERS if usable(name)])
def test_each_method_explains_a_label_as_it_explains_yes(method):
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    own, twin = (
        answer_of(explained, tokenizer, method, target)
        for explained, target in ((model, "insult"), (yes_or_no(model, 1), 1))
    )
    if isinstance(own, str):
        assert own == twin
        return
    for one, other in zip(own, twin, strict=True):
        assert one.target == "insult"
        np.testing.assert_allclose(one.prediction, other.prediction, atol=1e-6)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def answer_of(model, tokenizer, method, target):
    """Attributions, or why there are none."""
    try:
        return list(explain(model, TEXTS, tokenizer=tokenizer, method=method, target=target))
    except InputError as error:
        return str(error)


def test_left_out_it_is_the_likeliest_label_of_each_text():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**given).logits
    for row, one in enumerate(explain(model, TEXTS, tokenizer=tokenizer)):
        label = int(logits[row].argmax())
        assert one.target == LABELS[label]
        assert one.prediction == pytest.approx(float(logits[row, label].sigmoid()), abs=1e-6)
        assert one.predicted == (LABELS[label] if logits[row, label] > 0 else f"not {LABELS[label]}")


def test_a_label_that_is_lacking_is_a_target():
    model, tokenizer = several_labels(), FAMILY.tokenizer()
    has, lacks = (
        explain(model, TEXTS, tokenizer=tokenizer, target=name, method="gradient")
        for name in ("threat", "not threat")
    )
    for one, other in zip(has, lacks, strict=True):
        assert one.prediction + other.prediction == pytest.approx(1)
        np.testing.assert_allclose(one.scores, -np.array(other.scores), atol=1e-6)
    with pytest.raises(InputError, match="no label 'thread': did you mean"):
        explain(model, TEXTS, tokenizer=tokenizer, target="thread")
