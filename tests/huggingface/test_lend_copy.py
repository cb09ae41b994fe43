"""A copy is lent to one at a time, and again to the next, as long as model and copy are as they were."""

import threading

import pytest
import torch

from classifier_families import FAMILIES
from glasshead.huggingface import lend_copy


@pytest.fixture
def model():
    torch.manual_seed(0)
    model = FAMILIES["Bert"].build(2)
    model.marks, model.facts = [[1]], {"scale": [1.0]}
    return model


def lent(model):
    with lend_copy(model) as copied:
        return copied


def test_the_next_gets_it_again_and_sees_every_weight(model):
    first = lent(model)
    assert first is not model
    assert first.classifier.weight is model.classifier.weight
    with torch.no_grad():
        model.classifier.weight.zero_()
    assert lent(model) is first


def test_two_threads_get_two(model):
    copies, both = [], threading.Barrier(2, timeout=60)

    def work():
        with lend_copy(model) as copied:
            copies.append(copied)
            both.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert copies[0] is not copies[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model.classifier, "weight", torch.nn.Parameter(model.classifier.weight + 1)),
        lambda model: setattr(model.dropout, "p", 0.5),
        lambda model: model.config.id2label.update({0: "bad"}),
        lambda model: model.classifier.register_forward_hook(lambda *_: None),
        lambda model: model.marks[0].append(2),
        lambda model: model.facts["scale"].__setitem__(0, 2.0),
        lambda model: setattr(model, "marks", object()),
    ],
    ids=["weight", "attribute", "configuration", "hook", "list", "dictionary", "object"],
)
@pytest.mark.parametrize("whose", ["model", "copy"])
def test_what_has_changed_is_copied_anew(change, whose, model):
    with lend_copy(model) as first:
        if whose == "copy":
            change(first)
    if whose == "model":
        change(model)
    assert lent(model) is not first


def test_a_copy_is_not_lent_again_after_an_error(model):
    with pytest.raises(KeyError), lend_copy(model) as first:
        raise KeyError
    assert lent(model) is not first
