"""Models and subjects are as they were, whatever was asked, also after an exception and from two threads."""

import threading

import pytest
import torch

import glasshead
from classifier_data import named_bert, table
from classifier_families import FAMILIES, TEXTS
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from model_state import model_state
from tolerances import ALL_LAYERS

CALLED = ["Bert", "GPT2", "MPNet"]
"""One that is plugged, one that is plugged and lacks padding, and one whose softmax is caught."""


def with_gradients(name):
    """A family's model in the middle of somebody's training: gradients, a frozen weight, training mode."""
    model, tokenizer = FAMILIES[name].build(labels=2).train(), FAMILIES[name].tokenizer()
    next(model.parameters()).requires_grad_(False)
    ids = torch.tensor([[3, 7, 8, 4]])
    model.config.pad_token_id = 0
    model(input_ids=ids).logits.sum().backward()
    return model, tokenizer


@pytest.mark.parametrize("method", ["attention", "gradient", "erasure"])
@pytest.mark.parametrize("name", CALLED)
def test_a_model_is_as_it_was_after_an_exception(name, method, monkeypatch):
    model, tokenizer = with_gradients(name)
    before = model_state(model, tokenizer)
    calls, forward = [], type(model).forward

    def fail(self, *args, **kwargs):
        calls.append(self)
        if len(calls) > 4:  # the copy is checked, the texts are predicted, then something breaks
            raise RuntimeError("on purpose")
        return forward(self, *args, **kwargs)

    monkeypatch.setattr(type(model), "forward", fail)
    with pytest.raises((RuntimeError, InputError), match="on purpose"):
        glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)
    assert model not in calls
    assert model_state(model, tokenizer) == before


def test_a_model_is_as_it_was_after_an_audit_that_broke(tmp_path, monkeypatch):
    model, tokenizer = with_gradients("Bert")
    before = model_state(model, tokenizer)
    options = {"tokenizer": tokenizer, "limit": 4, "labels": {"0": "bad", "1": "good"}, "max_length": 6}

    def fail(*args, **kwargs):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(type(EXPLAINERS["erasure"]), "importance", fail)
    with pytest.raises(RuntimeError, match="on purpose"):
        glasshead.audit(model, table(tmp_path / "data.csv"), **options)
    assert model_state(model, tokenizer) == before


@pytest.mark.parametrize("opened", [False, True], ids=["a model", "one subject"])
@pytest.mark.parametrize("name", ["Bert", "MPNet"])
def test_two_threads_explain_with_one_model(name, opened):
    model, tokenizer = with_gradients(name)
    before = model_state(model, tokenizer)
    source = (glasshead.open(model, tokenizer), None) if opened else (model, tokenizer)
    texts = {method: [text for text in TEXTS for _ in range(2)] for method in ("gradient", "erasure")}

    def explain_by(method):
        return list(glasshead.explain(source[0], texts[method], tokenizer=source[1], method=method))

    alone = {method: explain_by(method) for method in texts}
    together, barrier = {}, threading.Barrier(len(texts))

    def work(method):
        barrier.wait()
        together[method] = [explain_by(method) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(method,)) for method in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for method, expected in alone.items():
        assert len(together[method]) == 3  # no thread died
        for attributions in together[method]:
            for attribution, same in zip(attributions, expected, strict=True):
                torch.testing.assert_close(attribution.scores, same.scores, **ALL_LAYERS)
    assert model_state(model, tokenizer) == before


def test_a_subject_does_not_remember_how_it_was_audited(tmp_path):
    model, tokenizer = named_bert()
    signed = glasshead.plug(model, "tanhmax")
    subject = glasshead.open(signed, tokenizer)
    before = model_state(subject.model, subject.tokenizer)
    data, other = table(tmp_path / "data.csv", 30), table(tmp_path / "other.csv", 30, ("no", "yes"))
    quick = {"audits": ["performance"], "limit": 20}
    first = glasshead.audit(subject, data, **quick)
    short = glasshead.audit(
        subject, other, labels={"bad": "no", "good": "yes"}, max_length=5, train=other, **quick
    )
    again = glasshead.audit(subject, data, **quick)
    assert short.facts["labels"] == ["no", "yes"]
    assert short.facts["truncated_to"] == 5
    assert short.facts["gauge"] is not None
    assert subject.labels == ["bad", "good"]
    assert model_state(subject.model, subject.tokenizer) == before
    known = [name for name in first.facts if name not in ("seconds", "notes")]
    assert {name: again.facts[name] for name in known} == {name: first.facts[name] for name in known}
    with pytest.raises(InputError, match="as in bad=no, good=yes"):
        glasshead.audit(subject, other, **quick)
