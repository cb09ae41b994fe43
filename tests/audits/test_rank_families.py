"""Methods against each other in models of every kind: ratings, pairs, three classes, families of others."""

import numpy as np
import pytest
import torch

import glasshead
import readable
from classifier_families import FAMILIES, labelled_data, planted
from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.explainers import REMOVALS
from glasshead.results import Standing
from model_state import model_state

TEXT_EDITS = {name for name in Encoded.edits if not REMOVALS[name].edits_attention}


def of_family(name):
    family = FAMILIES[name]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"})
    return model, family.tokenizer()


@pytest.mark.parametrize("name", ["pooled rating", "pair-encoder"])
def test_every_kind_of_prediction(name):
    kind = readable.KINDS[name]()
    labels = [0, 1] * (len(kind.texts) // 2)
    ranking = glasshead.rank(
        readable.as_run(kind, labels), readable.data(kind, labels), ("attention", "gradient", "random"),
        removals=["delete", "renormalise"],
    )  # fmt: skip
    assert ranking.facts["examples"] == len(kind.texts)
    for method in ranking.methods:
        finding = method.finding("comprehensiveness", "delete")
        assert np.isfinite(finding.estimate)
        assert finding.n == len(kind.texts) - sum(finding.undefined.values())
        assert method.standing("comprehensiveness", "delete") == Standing.UNDECIDED  # six texts
    assert any("20 are needed" in sentence for sentence in ranking.conclusion)


@pytest.mark.parametrize(
    "name",
    [
        "GPT2",  # causal, and without padding
        "MPNet",  # whose softmax is caught
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("Bart", "Gemma2", "ModernBert", "Albert")),
    ],
)
def test_families_that_others_made(name):
    model, tokenizer = of_family(name)
    before = model_state(model, tokenizer)
    ranking = glasshead.rank(
        model, labelled_data(22), tokenizer=tokenizer, dtype="float32",
        methods=("attention", "gradient", "random"), removals=["delete", "zero-weight"],
    )  # fmt: skip
    assert model_state(model, tokenizer) == before
    for removal in ranking.removals:
        for method in ranking.methods:
            assert method.finding("insertion", removal).n == 22
            assert method.standing("insertion", removal) != Standing.UNDECIDED
        assert "random" not in ranking.leaders("comprehensiveness", removal)


def test_a_model_whose_attention_cannot_be_read():
    """What reads none is ranked under what edits none; the rest is left out, or refused if it was named."""
    model, tokenizer = of_family("Longformer")
    asked = {"tokenizer": tokenizer, "dtype": "float32", "limit": 6}
    ranking = glasshead.rank(model, labelled_data(22), ("gradient", "random"), **asked)
    assert set(ranking.removals) <= TEXT_EDITS
    assert "delete" in ranking.removals
    left_out = [each for each in ranking.remarks if "no meaning" in each]
    assert len(left_out) == 1
    assert all(name in left_out[0] for name in REMOVALS if REMOVALS[name].edits_attention)
    assert "reading" not in ranking.facts
    for options in ({"methods": ("attention",)}, {"methods": ("gradient",), "removals": ("renormalise",)}):
        with pytest.raises(InputError, match="computes its attention itself"):
            glasshead.rank(model, labelled_data(22), **asked, **options)


def test_one_word_decides_under_every_edit_of_a_bert():
    """Attention, gradient and erasure all find it; and neither marks nor classes are even."""
    model, tokenizer = planted("funny")
    model.config.id2label = {0: "bad", 1: "good"}
    with torch.no_grad():
        model.classifier.weight *= 4
        model.classifier.bias[1] = -3.0
    data = labelled_data(120)
    funny = [row for row in data if row["label"] == 1][:30]
    rows = [row | {"label": ("bad", "good")[row["label"]]} for row in [*funny, data[1], data[2]]]
    methods = ("attention", "gradient-after-norm", "erasure-delete", "random")
    ranking = glasshead.rank(model, rows, methods, tokenizer=tokenizer, dtype="float32")
    for removal in ranking.removals:
        leaders = ranking.leaders("comprehensiveness", removal)
        assert "attention" in leaders
        assert "erasure-delete" in leaders
        assert ranking.methods[-1].standing("comprehensiveness", removal) == Standing.NOT_SHOWN
