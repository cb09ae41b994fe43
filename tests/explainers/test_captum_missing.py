"""Without Captum its methods are refused in one line, and the others are not."""

import sys

import pytest

import glasshead
from glasshead.audits import check_audit
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, check_method
from glasshead.requests import AuditRequest, MethodRequest
from small import random_model, tokenizer

METHODS = [name for name in EXPLAINERS if name.startswith("captum:")]


@pytest.fixture
def no_captum(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "captum"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "captum", None)


@pytest.mark.parametrize("name", METHODS)
def test_the_extra_is_named(name, no_captum):
    model = random_model(activation="softmax")
    for ask in (
        lambda: check_method(MethodRequest(method=name)),
        lambda: check_audit(AuditRequest(model, None, method=name)),
        lambda: EXPLAINERS[name](model, tokenizer(), ["good film"]),
    ):
        with pytest.raises(InputError) as refused:
            ask()
        assert f"{name!r} needs an extra: pip install 'glasshead[captum]'" in str(refused.value)
    assert len(glasshead.explain(model, "good film", tokenizer=tokenizer(), method="gradient")) == 1


def test_there_are_four():
    assert len(METHODS) == 4
