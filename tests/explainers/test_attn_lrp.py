"""Layer-wise relevance: what ends where, against literal propagation and the authors' library."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from classifier_families import FAMILIES, TEXTS, planted, word_tokenizer
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.opening import open_subject
from glasshead.trace import eval_mode, target_score
from model_state import model_state
from small import random_model
from small import tokenizer as pooled_tokenizer
from small_encoders import small
from tolerances import ONE_MODEL

METHODS = ["attn-lrp", "cp-lrp"]
COMPLETE = sorted(FAMILIES.keys() - {"XLNet", "Longformer", "Yoso", "ConvBert"})


def with_biases(name: str, **changes):
    """A family whose biases and norms are not those of the start, in float64."""
    model = FAMILIES[name].build(**changes).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2:
                weight.add_(0.3 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype))
    return model


def context_of(model, tokenizer, texts=TEXTS):
    subject = open_subject(model, tokenizer)
    with eval_mode(subject.model):
        return make_context(subject.model, encode(subject.tokenizer, texts), subject.tokenizer)


@pytest.mark.parametrize("name", COMPLETE)
def test_relevance_is_complete_where_attention_is_held(name):
    context = context_of(with_biases(name), FAMILIES[name].tokenizer())
    relevance = EXPLAINERS["cp-lrp"].relevance(context)
    ends = relevance.words + relevance.places + relevance.biases
    scores = target_score(context.logits, context.target)
    assert relevance.total == pytest.approx(float(scores.abs().sum()), rel=1e-6)
    assert ends == pytest.approx(relevance.total, rel=1e-6)
    assert [EXPLAINERS[method].caveat(context) for method in METHODS] == [None, None]


def test_a_convolution_whose_kernel_is_computed_is_not_covered_and_that_is_said():
    context = context_of(with_biases("ConvBert"), FAMILIES["ConvBert"].tokenizer())
    assert abs(EXPLAINERS["cp-lrp"].relevance(context).rest) > 0.01
    for method in METHODS:
        assert "relevance does not add up to the score" in EXPLAINERS[method].caveat(context)


@pytest.mark.parametrize("attention", ["softmax", "tanhmax", "relu+distance-aware"])
@pytest.mark.parametrize("family", ["encoder", "hierarchical"])
def test_relevance_is_complete_in_our_own_models(family, attention):
    model = small(family, vocab_size=60, attention=attention, num_hidden_layers=2).double()
    context = context_of(model, word_tokenizer())
    relevance = EXPLAINERS["cp-lrp"].relevance(context)
    assert abs(relevance.rest) < 1e-6
    assert EXPLAINERS["attn-lrp"].relevance(context).total == pytest.approx(relevance.total)


def test_one_pooled_attention_has_no_layers():
    context = context_of(random_model(), pooled_tokenizer(), ["w1 w2"])
    with pytest.raises(InputError, match="contribution"):
        EXPLAINERS["cp-lrp"].importance(context)


def scores_of(context, method):
    return EXPLAINERS[method].importance(context)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["Bert", "Bart", "Llama"])
def test_a_text_in_a_batch_is_explained_as_it_is_alone(name, method):
    model, tokenizer = with_biases(name), FAMILIES[name].tokenizer()
    together = scores_of(context_of(model, tokenizer), method)
    for index, text in enumerate(TEXTS):
        (alone,) = scores_of(context_of(model, tokenizer, [text]), method)
        assert_close(together[index, : len(alone)], alone, **ONE_MODEL)
        assert not together[index, len(alone) :].any()


@pytest.mark.parametrize("method", METHODS)
def test_a_planted_word_is_found(method):
    model, tokenizer = planted("funny")
    context = context_of(model, tokenizer, ["the plot is funny and warm", "a funny bad film"])
    found = scores_of(context, method).argmax(dim=1)
    funny = tokenizer.convert_tokens_to_ids("funny")
    assert context.encoded.ids[torch.arange(2), found].tolist() == [funny, funny]


@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_afterwards_what_it_was(method, monkeypatch):
    model, tokenizer = with_biases("GPT2"), FAMILIES["GPT2"].tokenizer()
    context = context_of(model, tokenizer)
    before, inside = model_state(model, tokenizer), model_state(context.model, tokenizer)
    first = scores_of(context, method)
    assert first.abs().sum() > 0
    assert model_state(model, tokenizer) == before
    assert model_state(context.model, tokenizer) == inside
    with monkeypatch.context() as patch:
        patch.setattr(context.model.score, "forward", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            EXPLAINERS[method]._relevance(context)
    assert model_state(context.model, tokenizer) == inside
    assert torch.overrides._get_current_function_mode() is None


def test_threads_do_not_notice_each_other():
    context = context_of(with_biases("GPT2"), FAMILIES["GPT2"].tokenizer())
    alone = {method: scores_of(context, method) for method in METHODS}
    explain = lambda method: EXPLAINERS[method]._relevance(context).tokens  # noqa: E731
    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(explain, METHODS * 4))
    for method, scores in zip(METHODS * 4, results, strict=True):
        assert_close(scores, alone[method])


def test_settings_say_where_relevance_ends():
    context = context_of(with_biases("Bert"), FAMILIES["Bert"].tokenizer())
    said = EXPLAINERS["attn-lrp"].settings(context)
    shares = [float(number) for number in re.findall(r"(-?[\d.]+)%", said)]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(100, abs=0.3)
    assert abs(EXPLAINERS["attn-lrp"].relevance(context).rest) > 0.01


@pytest.mark.parametrize("method", METHODS)
def test_a_function_without_a_rule_is_confessed(method, monkeypatch):
    context = context_of(with_biases("Bert"), FAMILIES["Bert"].tokenizer())
    own = context.model.classifier.forward
    monkeypatch.setattr(context.model.classifier, "forward", lambda hidden: own(hidden.cosh()))
    assert "rules do not cover" in EXPLAINERS[method].caveat(context)
