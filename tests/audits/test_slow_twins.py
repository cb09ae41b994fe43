"""Audits against the loops that a paper's definitions suggest."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kendalltau

from glasshead.audits import audit, build_view
from glasshead.audits.example_selection import select_examples
from glasshead.audits.measuring.answers import VALUE_RESOLUTION
from glasshead.audits.measuring.null_weights import random_weights, same_mass
from glasshead.audits.measuring.perturbation_passes import predict_with_weights
from glasshead.audits.perturbation import Perturbation
from glasshead.data.token_groups import polarity_ratio, token_groups
from glasshead.opening import open_subject
from small import TEXTS, as_run, planted_texts, random_model, split

every_model = pytest.mark.parametrize(
    "options",
    [
        {"activation": "softmax"},
        {"activation": "tanhmax", "score": "query-key", "value_dim": 4},
        {"activation": "tanhmax", "classes": 3, "encoder": "lstm"},
    ],
)
LABELS = [1, 0, 0, 1, 0, 0, 1]


def subject_of(options):
    run = as_run(random_model(**options), list(TEXTS), LABELS)
    names = list(run.model.config.id2label.values())
    return build_view(open_subject(run), split(TEXTS, LABELS, names))


@every_model
def test_agreement_one_text_at_a_time(options):
    run = as_run(random_model(**options), list(TEXTS), LABELS)
    names = list(run.model.config.id2label.values())
    card = audit(run, split(TEXTS, LABELS, names), audits=["agreement"])
    model = run.model.double()
    for row, text in enumerate(TEXTS):
        ids = torch.tensor([run.tokenizer(text)["input_ids"]], dtype=torch.long)
        found = card.examples["tau.contribution.gradient"][row]
        if ids.shape[1] < 2:
            assert found is None
            continue
        embedded = model.embedding(ids).detach().requires_grad_()
        output = model(inputs_embeds=embedded, attention_mask=torch.ones_like(ids), output_attentions=True)
        target = 1 if len(names) == 2 else int(output.logits.argmax())
        output.logits.softmax(-1)[0, target].backward()
        gradient = (embedded.grad * embedded).sum(-1)[0].detach()
        polarity = output.polarity[0].detach()
        o = polarity[:, 0] if len(names) == 2 else (polarity - polarity.mean(-1, keepdim=True))[:, target]
        a = output.weights[0].detach()
        # Repeated words are exact ties in truth; rounding hides the last bits.
        digits = [np.array([float(f"{x:.8e}") for x in v.tolist()]) for v in (a, a * o, gradient)]
        expected = kendalltau(digits[1], digits[2])
        assert found == pytest.approx(expected.statistic, abs=1e-12)
        assert card.examples["p.contribution.gradient"][row] == pytest.approx(expected.pvalue, rel=1e-9)
        raw = kendalltau(digits[0], digits[2]).statistic
        column = (
            "tau.attention-raw.gradient" if options["activation"] == "tanhmax" else "tau.attention.gradient"
        )
        assert card.examples[column][row] == pytest.approx(raw, abs=1e-12)
        absolute = kendalltau(np.abs(digits[0]), np.abs(digits[2])).statistic
        assert card.examples["tau.attention-absolute.gradient"][row] == pytest.approx(absolute, abs=1e-12)


@every_model
def test_predictions_under_other_weights_are_the_models(options):
    subject = subject_of(options)
    rng = np.random.default_rng(0)
    seen = subject.explanation.observation
    for row in range(len(TEXTS)):
        n = int(subject.mask[row].sum())
        draws = rng.uniform(-1, 1, (1, 3, n))
        found = predict_with_weights(subject, np.array([row]), draws.astype(np.float32))[0].values[0]
        for draw, value in zip(draws[0], found, strict=True):
            z = (torch.from_numpy(draw)[:, None] * seen.polarity[row, :n]).sum(0) + seen.bias
            logits = torch.cat([torch.zeros(1), z]) if len(z) == 1 else z
            expected = logits.softmax(-1)[subject.explanation.target[row]]
            assert value == pytest.approx(float(expected), abs=1e-5)


def test_permutation_medians_against_every_permutation():
    """Three tokens have six orders: the median over many draws is that over all of them."""
    text = ["the end film"]
    run = as_run(random_model(activation="tanhmax", value_dim=4), text, [1])
    subject = build_view(open_subject(run), split(text, [1]))
    medians = Perturbation(draws=60_001).medians(subject, subject.weights[None])[0]
    orders = np.array(list(permutations(subject.weights[0].astype(np.float32))))[None]
    change = np.sort(
        (predict_with_weights(subject, np.array([0]), orders)[0].values - subject.prediction[0])[0]
    )
    signed = medians["permutation.median.signed"][0]
    assert change[2] - 1e-6 <= signed <= change[3] + 1e-6
    size = np.sort(np.abs(change))
    absolute = medians["permutation.median.absolute"][0]
    assert 1e-4 < size[2] - 1e-6 <= absolute <= size[3] + 1e-6


def test_one_token_has_nothing_to_shuffle_and_no_token_no_number():
    subject = subject_of({"activation": "tanhmax", "value_dim": 4})
    medians = Perturbation(draws=51).medians(subject, subject.weights[None])[0]
    assert medians["permutation.median.absolute"][TEXTS.index("film")] == pytest.approx(0, abs=1e-6)
    assert np.isnan(medians["permutation.median.absolute"][TEXTS.index("")])


def test_permutations_only_ever_move_weights_of_real_tokens():
    """With polarity 1 everywhere a permutation changes nothing, unless padding leaked in."""
    subject = subject_of({"activation": "softmax"})
    seen = subject.explanation.observation
    object.__setattr__(seen, "polarity", torch.ones_like(seen.polarity))
    medians = Perturbation(draws=50).medians(subject, subject.weights[None])[0]
    np.testing.assert_allclose(medians["permutation.median.absolute"][subject.mask.any(1)], 0, atol=1e-6)
    # Random weights of mass 1 also leave Σ a·o = 1; not normalised, they do not.
    np.testing.assert_allclose(
        medians["random-normalised.median.absolute"][subject.mask.any(1)], 0, atol=1e-6
    )
    assert medians["random.median.absolute"][subject.mask.sum(1) > 1].min() > 1e-4


def test_blocks_bound_memory_and_change_no_number(monkeypatch):
    subject = subject_of({"activation": "softmax"})
    whole = Perturbation(draws=50).medians(subject, subject.weights[None])[0]
    monkeypatch.setattr("glasshead.audits.perturbation.DRAW_BLOCK", 1)
    medians = Perturbation(draws=50).medians(subject, subject.weights[None])[0]
    for column, values in medians.items():
        np.testing.assert_allclose(values, whole[column], atol=VALUE_RESOLUTION)


@given(shape=st.tuples(st.integers(1, 4), st.integers(1, 6)), signed=st.booleans(), seed=st.integers(0, 99))
def test_random_weights_stay_on_real_tokens_in_their_range(shape, signed, seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(shape) < 0.7
    values = random_weights(mask, signed, rng, draws=3)
    assert (values[~np.broadcast_to(mask[:, None], values.shape)] == 0).all()
    assert values.max(initial=0) <= 1
    assert values.min(initial=0) >= (-1 if signed else 0)
    weights = rng.normal(size=shape) * mask
    scaled = same_mass(values, weights)
    np.testing.assert_allclose(
        np.abs(scaled).sum(-1),
        np.where(np.abs(values).sum(-1) > 0, np.abs(weights).sum(-1)[:, None], 0),
        rtol=1e-4,
        atol=1e-6,
    )


@given(counts=arrays.arrays(np.int64, (2, 20), elements=st.integers(0, 40)))
def test_groups_of_two_classes_follow_the_definition(counts):
    groups, gamma = token_groups(counts, ["negative", "positive"])
    for token in range(20):
        minus, plus = (int(count) for count in counts[:, token])
        if minus + plus == 0:
            assert groups[token] == ""
            assert np.isnan(gamma[token])
            continue
        value = (plus - minus) / (plus + minus)
        assert gamma[token] == pytest.approx(value)
        expected = ""
        if value > 0.5 and plus > 5:
            expected = "positive"
        elif value < -0.5 and minus > 5:
            expected = "negative"
        elif abs(value) < 0.1 and abs(plus - minus) < 5:
            expected = "neutral"
        assert groups[token] == expected


def test_words_of_one_class_only_have_a_group():
    """γ = ±1 exactly: with the paper's open intervals they would have none."""
    groups, gamma = token_groups(np.array([[0, 9, 9], [9, 0, 9]]), ["a", "b"])
    assert groups.tolist() == ["positive", "negative", "neutral"]
    assert gamma.tolist() == [1, -1, 0]
    assert np.isnan(polarity_ratio(np.array([[0], [0]]))).all()


def test_groups_of_three_classes():
    counts = np.array([[90, 5, 20, 3], [5, 90, 20, 0], [5, 5, 21, 0]])
    groups, _ = token_groups(counts, ["Motor", "Med", "Guns"])
    assert groups.tolist() == ["class Motor", "class Med", "neutral", ""]


def test_highlights_are_twenty_distinct_texts_and_the_shared_ones():
    rng = np.random.default_rng(0)
    correct = rng.random(200) < 0.8
    tokens = rng.integers(0, 12, 200)
    agreement = np.where(tokens > 1, rng.uniform(-1, 1, 200), np.nan)
    picks = select_examples(correct, tokens, agreement, seed=0)
    own = [row for reason, row in picks if reason != "shared"]
    assert len(own) == len(set(own)) == 20
    reasons = [reason for reason, _ in picks]
    assert {reason: reasons.count(reason) for reason in set(reasons)} == {
        "most agreement with weight removal": 5,
        "least agreement with weight removal": 5,
        "correct": 5,
        "wrong": 5,
        "shared": 6,
    }
    readable = np.flatnonzero(tokens >= 4)
    best = [row for reason, row in picks if reason == "most agreement with weight removal"]
    assert set(agreement[best]) == set(np.sort(agreement[readable])[-5:])
    assert all(correct[row] for reason, row in picks if reason == "correct")
    assert not any(correct[row] for reason, row in picks if reason == "wrong")
    other = select_examples(~correct, tokens, -agreement, seed=0)
    assert [p for p in picks if p[0] == "shared"] == [p for p in other if p[0] == "shared"]


def test_planted_texts_are_what_the_tests_think():
    texts, labels = planted_texts(50)
    assert all(("good" in text.split()) == bool(label) for text, label in zip(texts, labels, strict=True))
