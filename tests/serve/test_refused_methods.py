"""Methods that a model refuses, or that fail on it, are not offered; the others are."""

import pytest

from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, explain_texts
from glasshead.opening import open_subject
from glasshead.serve import opened_model
from small import as_run, planted_model, planted_texts


@pytest.mark.parametrize("error", [InputError, RuntimeError, ZeroDivisionError, AttributeError])
def test_a_method_that_fails_is_not_offered_and_stops_no_other(monkeypatch, error):
    def explain(subject, texts, pairs, request):
        if request.method == "attention":
            raise error("on purpose")
        return explain_texts(subject, texts, pairs, request)

    few = {name: EXPLAINERS[name] for name in ("attention", "gradient")}
    monkeypatch.setattr(opened_model, "EXPLAINERS", few)
    monkeypatch.setattr(opened_model, "explain_texts", explain)
    subject = open_subject(as_run(planted_model("softmax"), *planted_texts(4)))
    opened = opened_model.OpenedModel(subject, "classifier", "")
    assert opened_model.find_refused_methods(opened) == {"attention"}


def test_a_trial_that_nothing_passes_says_nothing_of_the_methods(monkeypatch):
    monkeypatch.setattr(opened_model, "TRIAL_TEXT", "utterly unheard-of")  # the model knows none of it
    subject = open_subject(as_run(planted_model("softmax"), *planted_texts(4)))
    opened = opened_model.OpenedModel(subject, "classifier", "")
    assert opened_model.find_refused_methods(opened) == frozenset()
