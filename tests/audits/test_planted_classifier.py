"""Somebody's BERT whose decision provably rests on one token: the audits find it, a random map must fail."""

import dataclasses

import numpy as np
import pytest
import torch
from datasets import concatenate_datasets

import glasshead
from classifier_families import labelled_data, planted
from glasshead.audits import build_view
from glasshead.audits.agreement import Agreement
from glasshead.opening import open_subject

TOKEN = "funny"
AUDITS = ["agreement", "performance", "perturbation", "tokens"]
AGAINST = ("gradient", "erasure-zero-weight", "erasure-renormalise")


def decided():
    """The planted model, which says good where the token stands and bad elsewhere."""
    model, tokenizer = planted(TOKEN)
    model.config.id2label = {0: "bad", 1: "good"}
    with torch.no_grad():
        model.classifier.weight *= 4
        model.classifier.bias[1] = -3.0
    return model, tokenizer


def unbalanced(good, bad):
    """So many texts with the token, and without it."""
    data = labelled_data(3 * max(good, bad))
    labels = np.array(data["label"][:])
    return concatenate_datasets(
        [data.select(np.flatnonzero(labels == label)[:size]) for label, size in ((0, bad), (1, good))]
    )


@pytest.fixture(
    scope="module", params=[(30, 120), pytest.param((120, 30), marks=pytest.mark.slow)], ids=["1:4", "4:1"]
)
def audited(request):
    """How many texts have the token, how many have not, and what the audits say."""
    model, tokenizer = decided()
    data = unbalanced(*request.param)
    card = glasshead.audit(model, data, tokenizer=tokenizer, audits=AUDITS, train=data, draws=5)
    return *request.param, card


def test_the_model_is_better_than_guessing(audited):
    good, bad, card = audited
    accuracy = card.finding("performance.accuracy.all")
    assert accuracy.estimate == 1.0
    assert accuracy.null["majority"] == pytest.approx(max(good, bad) / (good + bad))
    assert accuracy.verdict == "better than always guessing the commonest class"


def test_attention_agrees_with_gradient_and_erasure_where_the_token_stands(audited):
    """Elsewhere nothing matters, all tokens are alike, and no text counts as agreement.

    Weights of all other tokens are equal but for their last digit, which another CPU rounds otherwise: in any
    order of these, τ-b is about 0.5 or more.
    """
    good, bad, card = audited
    for against in AGAINST:
        for statistic in ("attention", "attention-absolute", "contribution", "contribution-absolute"):
            for group in ("all", "class good"):
                finding = card.finding(f"agreement.{statistic}.{against}.{group}")
                assert finding.n == good
                assert finding.estimate > 0.45
                assert finding.interval[0] > finding.null["random"] + 0.2
                assert finding.verdict.startswith(("strong agreement", "moderate agreement"))
            nothing = card.finding(f"agreement.{statistic}.{against}.class bad")
            assert (nothing.n, nothing.undefined) == (0, {"all tokens tied": bad})


def test_other_weights_change_the_answer_where_the_token_stands(audited):
    _, _, card = audited
    for draw in ("permutation", "random", "random-normalised"):
        moved = card.finding(f"perturbation.{draw}.absolute.class good")
        assert moved.interval[0] > 0.5
        assert moved.interval[0] > moved.null["random"]
        assert "changes much, more than" in moved.verdict
        assert card.finding(f"perturbation.{draw}.absolute.class bad").interval[1] < 1e-6


def test_the_token_stands_out_among_all(audited):
    _, _, card = audited
    tokens = dict(zip(card.tokens["token"], range(len(card.tokens["token"])), strict=True))
    for column, least in (("weight", 0.4), ("contribution", 0.9)):
        values = np.abs(np.array(card.tokens[column], dtype=float))
        assert values.argmax() == tokens[TOKEN]
        assert values.max() > least
        assert values.max() > 3 * np.sort(values)[-2]
    assert card.tokens["group"][tokens[TOKEN]] == "positive"
    for highlight in card.highlights:
        text = highlight.attribution
        contributions = np.abs(text.contributions)
        assert TOKEN not in text.tokens or text.tokens[int(contributions.argmax())] == TOKEN


def test_a_random_map_fails():
    """The same model, but the audit is handed weights that have nothing to do with it."""
    context = build_view(open_subject(*decided()), unbalanced(40, 10))
    observation = context.explanation.observation
    noise = torch.from_numpy(np.random.default_rng(5).random(observation.weights.shape)) * observation.mask
    honest = context.importance  # of the true model
    explanation = dataclasses.replace(context.explanation)
    explanation.__dict__["observation"] = dataclasses.replace(
        observation, weights=noise, canonical_weights=noise
    )
    impostor = dataclasses.replace(context, explanation=explanation)
    impostor.__dict__["importance"] = honest
    findings = {finding.name: finding for finding in Agreement()(impostor, seed=0).findings}
    for against in AGAINST:
        finding = findings[f"agreement.attention.{against}.all"]
        assert finding.n == 40
        assert finding.verdict == "not distinguishable from random weights on these texts"
