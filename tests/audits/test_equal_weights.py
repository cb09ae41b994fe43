"""Attention that is the same for all tokens: nothing can be shuffled, and nothing is in order."""

import numpy as np
import pytest

import readable
import small
from glasshead.audits import audit, build_context
from glasshead.audits.null_weights import are_alike
from glasshead.training import open_subject


def findings_of(activation, counts):
    texts, labels = small.planted_texts(counts=counts)
    model = small.random_model(activation=activation)
    if activation == "softmax":
        model.pooling.score.context.weight.data.zero_()  # every score is 0
    run = small.as_run(model, texts, labels)
    return audit(run, small.split(texts, labels), audits=["agreement", "perturbation", "operators"])


@pytest.mark.parametrize("counts", [(30, 30), (54, 6)])
def test_equal_weights_are_no_evidence_and_in_no_order(counts):
    card = findings_of("softmax", counts)
    for test in ("permutation", "uniform"):
        finding = card.finding(f"perturbation.{test}.absolute.all")
        assert (finding.status, finding.reason) == ("not evidence", "by construction")
        assert finding.estimate == 0
    for name in ("agreement.attention-absolute.gradient.all", "operators.attention-absolute.survival.all"):
        assert card.finding(name).reason == "no order"
    # Random weights are not what the model has: that they change a prediction says something.
    assert card.finding("perturbation.random-normalised.absolute.all").status == "evidence"


@pytest.mark.parametrize("counts", [(30, 30), (54, 6)])
def test_weights_that_differ_are_asked(counts):
    card = findings_of("tanhmax", counts)
    for name in ("perturbation.permutation.absolute.all", "agreement.attention-absolute.gradient.all"):
        assert card.finding(name).reason not in ("by construction", "no order", "too few")


@pytest.mark.parametrize("name", ["encoder", "pair-encoder", "cross-encoder", "hierarchical"])
def test_weights_are_compared_with_those_that_share_their_row(name):
    kind = readable.family(name)
    texts = small.split(kind.texts, [0, 1] * (len(kind.texts) // 2))
    if kind.pairs is not None:
        texts = texts.add_column("text_pair", list(kind.pairs))
    context = build_context(open_subject(kind.model, kind.tokenizer), texts)
    counted = context.mask.sum(axis=1) > 2
    assert not are_alike(context)[counted].any()
    context.__dict__["canonical"] = 0.3 * context.uniform
    assert are_alike(context).all()
    context.__dict__["canonical"] = (
        np.where(np.arange(context.mask.shape[1]) == 0, 0.5, 0.3) * context.uniform
    )
    assert not are_alike(context)[counted].any()
