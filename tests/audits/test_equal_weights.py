"""Attention that is the same for all tokens: nothing can be shuffled, and nothing is in order."""

import numpy as np
import pytest

import glasshead
import readable
import small
from glasshead.audits import audit, build_view
from glasshead.audits.measuring.null_weights import are_alike
from glasshead.data import encode
from glasshead.opening import open_subject


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
    context = build_view(open_subject(kind.model, kind.tokenizer), texts)
    counted = context.mask.sum(axis=1) > 2
    assert not are_alike(context)[counted].any()
    context.__dict__["canonical"] = 0.3 * context.uniform
    assert are_alike(context).all()
    context.__dict__["canonical"] = (
        np.where(np.arange(context.mask.shape[1]) == 0, 0.5, 0.3) * context.uniform
    )
    assert not are_alike(context)[counted].any()


def one_word_each(count):
    """Texts of one token, and as many longer ones."""
    texts, labels = small.planted_texts(count)
    return [text.split()[0] for text in texts] + texts, [*labels, *labels]


@pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
def test_texts_of_one_token_say_nothing_of_weights_and_are_counted(activation):
    texts, labels = one_word_each(30)
    model = small.random_model(activation=activation)
    data = small.split(texts, labels)
    both = audit(small.as_run(model, texts, labels), data, audits=["perturbation"])
    for test in ("permutation", "random", "random-normalised", "uniform"):
        finding = both.finding(f"perturbation.{test}.absolute.all")
        assert finding.n == 30
        assert finding.undefined == {"fewer than two tokens": 30}
    share = both.finding("perturbation.uniform.share.all")
    assert (share.n, share.undefined) == (30, {"fewer than two tokens": 30})
    assert share.reason != "by construction"


def test_texts_of_one_token_alone_are_not_uniform_but_too_few():
    texts, labels = one_word_each(30)
    texts, labels = texts[:30], labels[:30]
    card = audit(
        small.as_run(small.random_model(activation="softmax"), texts, labels),
        small.split(texts, labels), audits=["perturbation"],
    )  # fmt: skip
    assert card.finding("perturbation.uniform.share.all").reason == "too few"


def test_equal_weights_are_seen_beside_texts_of_one_token():
    texts, labels = one_word_each(30)
    model = small.random_model(activation="softmax")
    model.pooling.score.context.weight.data.zero_()  # every score is 0
    card = audit(small.as_run(model, texts, labels), small.split(texts, labels), audits=["perturbation"])
    assert card.finding("perturbation.uniform.share.all").reason == "by construction"


def test_models_with_layers_leave_texts_of_one_token_out_too():
    kind = readable.gpt()
    texts = ["bad", "good", *kind.texts]
    encoded = encode(kind.tokenizer, texts)
    short = int((encoded.mask.sum(dim=1) < 2).sum())
    assert short
    data = small.split(texts, [0, 1] * (len(texts) // 2))
    card = glasshead.audit(kind.model, data, tokenizer=kind.tokenizer, audits=["perturbation"], draws=2)
    finding = card.finding("perturbation.uniform.share.all")
    assert finding.undefined == {"fewer than two tokens": short}
    assert finding.n == len(texts) - short
