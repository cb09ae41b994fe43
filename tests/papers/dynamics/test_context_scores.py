"""Scores of tokens in context and alone: by loops over texts, and differences that are planted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from glasshead.data import batching as batches
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.papers.dynamics.context_scores import (
    TokenScores,
    disagreement,
    global_scores,
    local_scores,
    measure_prominence,
)
from glasshead.statistics import interval_of_equals
from small import TEXTS, random_model, tokenizer
from tolerances import EXACT_MATHS

CASES = [
    {
        "encoder": encoder,
        "score": score,
        "classes": classes,
        "activation": activation,
        "value_dim": value_dim,
    }
    for encoder in ("none", "affine", "lstm")
    for score, value_dim in (("context", None), ("additive", None), ("query-key", 3))
    for classes, activation in ((2, "softmax"), (3, "softmax"), (2, "tanhmax"))
]
WITHOUT_CONTEXT = [case for case in CASES if case["encoder"] != "lstm"]


def encoded(texts=TEXTS):
    return encode(tokenizer(), texts)


def model_of(case, **options):
    return random_model(**case, **options).double()


def by_loops(model, texts):
    """Token → what the model says of it at each place, one text after the other and without padding."""
    found = {}
    for text in texts:
        ids = tokenizer()(text)["input_ids"]
        if ids:
            seen = model(input_ids=torch.tensor([ids]), output_attentions=True)
            for place, token in enumerate(ids):
                number = [seen.scores[0, place].item(), *seen.polarity[0, place].tolist()]
                found.setdefault(token, []).append(number)
    return dict(sorted(found.items()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_by_loops(case):
    model = model_of(case)
    found, local = by_loops(model, TEXTS), local_scores(model, encoded())
    assert local.ids.tolist() == list(found)
    assert local.count.tolist() == [len(numbers) for numbers in found.values()]
    assert max(local.count) > 4
    expected = np.array([np.mean(numbers, axis=0) for numbers in found.values()])
    np.testing.assert_allclose(local.score, expected[:, 0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(local.polarity, expected[:, 1:], rtol=1e-10, atol=1e-12)
    alone = global_scores(model, local.ids[::-1])
    np.testing.assert_array_equal(alone.ids, local.ids)
    np.testing.assert_array_equal(alone.count, 1)
    for place, token in enumerate(alone.ids.tolist()):
        seen = model(input_ids=torch.tensor([[token]]), output_attentions=True)
        assert alone.score[place] == pytest.approx(seen.scores.item(), rel=1e-10, abs=1e-12)
        np.testing.assert_allclose(
            alone.polarity[place], seen.polarity[0, 0].tolist(), rtol=1e-10, atol=1e-12
        )
    if case["encoder"] == "lstm":
        assert np.abs(local.score - alone.score).max() > 0.01


@pytest.mark.parametrize("case", WITHOUT_CONTEXT, ids=lambda case: "-".join(map(str, case.values())))
def test_where_no_encoder_reads_other_words_both_are_the_same(case):
    model = model_of(case)
    local = local_scores(model, encoded())
    alone = global_scores(model, local.ids)
    found = disagreement(local, alone, resamples=50)
    assert [each.quantity for each in found] == ["score", *local.outputs]
    for each in found:
        assert (each.tau.mean, *each.tau.interval) == pytest.approx((1, 1, 1), abs=1e-12)
        assert each.tau.n == len(local.ids)
        assert each.difference.mean < 1e-13
        assert each.flipped.mean == 0


def test_an_lstm_reads_them():
    model = model_of({"encoder": "lstm"})
    local = local_scores(model, encoded())
    score, polarity = disagreement(local, global_scores(model, local.ids), resamples=200)
    for each in (score, polarity):
        assert each.tau.low < each.tau.mean < 1
        assert each.tau.mean <= each.tau.high
        assert each.difference.low > 1e-3


def test_names_of_the_outputs():
    assert local_scores(model_of({"classes": 2}), encoded()).outputs == ("polarity",)
    names = ("polarity negative", "polarity positive", "polarity mixed")
    assert local_scores(model_of({"classes": 3}), encoded()).outputs == names


def test_sums_run_on_over_batches(monkeypatch):
    model = model_of({"encoder": "lstm"})
    whole = local_scores(model, encoded())
    monkeypatch.setattr(batches, "TOKENS_PER_BATCH", 20)
    calls = []
    model.register_forward_hook(lambda *seen: calls.append(1))
    parts = local_scores(model, encoded())
    assert len(calls) > 3
    np.testing.assert_allclose(parts.score, whole.score, **EXACT_MATHS)
    np.testing.assert_allclose(parts.polarity, whole.polarity, **EXACT_MATHS)
    np.testing.assert_array_equal(parts.count, whole.count)


def test_signs_are_those_of_the_gauge():
    model = model_of({"activation": "tanhmax", "value_dim": 3})
    before = local_scores(model, encoded())
    model.config.gauge = -1
    after = local_scores(model, encoded())
    np.testing.assert_allclose(after.score, -before.score, **EXACT_MATHS)
    np.testing.assert_allclose(after.polarity, -before.polarity, **EXACT_MATHS)
    assert after.attention()[0] == "|score|"
    np.testing.assert_allclose(after.attention()[1], np.abs(before.score), **EXACT_MATHS)
    unsigned = local_scores(model_of({}), encoded())
    assert unsigned.attention()[0] == "score"
    assert unsigned.attention()[1].min() < 0


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_left_as_it_was(training):
    model = model_of({"encoder": "lstm"}, dropout=0.9).train(training)
    first, second = (local_scores(model, encoded()) for _ in range(2))
    np.testing.assert_array_equal(first.score, second.score)  # no dropout
    assert model.training is training
    assert all(each.grad is None for each in model.parameters())
    broken = encoded()
    broken.ids[0, 0] = 10**6
    with pytest.raises(IndexError):
        local_scores(model, broken)
    assert model.training is training


def test_texts_without_words():
    found = local_scores(model_of({"encoder": "lstm"}), encoded(["", ""]))
    assert [len(each) for each in (found.ids, found.score, found.polarity, found.count)] == [0] * 4
    (each, _) = disagreement(found, found)
    assert (each.tau.mean, each.difference.mean, each.flipped.mean) == (None, None, None)
    assert measure_prominence(found, found, []) == []


class TestRefused:
    def test_a_model_without_one_attention_output(self):
        config = BertConfig(
            vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
        )
        model = BertForSequenceClassification(config)
        for ask in (lambda: local_scores(model, encoded()), lambda: global_scores(model, [3])):
            with pytest.raises(
                InputError, match=r"not of BertForSequenceClassification: audit or explain"
            ) as no:
                ask()
            assert "\n" not in str(no.value)

    @pytest.mark.parametrize("ids", [[-1], [3, 10**6]])
    def test_ids_of_no_token(self, ids):
        with pytest.raises(ValueError, match="ids must be those of"):
            global_scores(model_of({}), ids)

    def test_other_tokens(self):
        with pytest.raises(ValueError, match="about different tokens"):
            disagreement(scores([1, 2], [3, 4]), scores([1.0], [3]))

    def test_groups_of_other_tokens(self):
        local = scores([1, 2], [3, 4])
        with pytest.raises(ValueError, match="do not name those of 2 tokens"):
            measure_prominence(local, local, ["neutral"])


def scores(score, ids=None, polarity=None, *, signed=False):
    """Token scores as they are given."""
    score = np.asarray(score, dtype=float)
    ids = np.arange(len(score)) if ids is None else np.asarray(ids)
    polarity = score if polarity is None else np.asarray(polarity, dtype=float)
    return TokenScores(ids, score, polarity[:, None], np.ones_like(ids), ("polarity",), signed)


GROUPS = np.repeat(["positive", "negative", "neutral", ""], [30, 30, 200, 40])


class TestDisagreement:
    def test_opposites(self):
        chance = np.random.default_rng(0)
        values = chance.normal(size=300)
        score, polarity = disagreement(scores(values), scores(-values, polarity=2 * values))
        assert score.tau.mean == pytest.approx(-1)
        assert score.tau.interval == pytest.approx(interval_of_equals(-1.0, 150))
        assert score.flipped.mean == 1
        assert score.difference.mean == pytest.approx(2 * np.abs(values).mean())
        assert (polarity.tau.mean, polarity.flipped.mean) == (1, 0)
        assert polarity.difference.mean == pytest.approx(np.abs(values).mean())

    def test_group_by_group(self):
        values = np.random.default_rng(0).normal(size=300)
        turned = np.where(GROUPS == "negative", -values, values)
        found = disagreement(scores(values), scores(turned), GROUPS, resamples=50)
        shares = {
            (each.quantity, each.group): (each.tau.mean, each.flipped.mean, each.tau.n) for each in found
        }
        assert shares.pop(("score", "all"))[1:] == (pytest.approx(0.1), 300)
        assert {name: values for (quantity, name), values in shares.items() if quantity == "score"} == {
            "negative": (-1, 1, 30),
            "neutral": (1, 0, 200),
            "positive": (1, 0, 30),
        }

    def test_the_seed_decides(self):
        chance = np.random.default_rng(0)
        local, alone = scores(chance.normal(size=50)), scores(chance.normal(size=50))
        first, second, third = (disagreement(local, alone, seed=seed, resamples=200) for seed in (1, 1, 2))
        assert first == second != third


class TestProminence:
    """Planted: what stands out alone and not in context, or the reverse, or alike."""

    def planted(self, shift_in_context, shift_alone, **options):
        chance = np.random.default_rng(3)
        polar = np.isin(GROUPS, ["positive", "negative"])
        noise = chance.normal(size=(2, len(GROUPS)))
        local = scores(noise[0] + shift_in_context * polar, **options)
        return measure_prominence(
            local, scores(noise[1] + shift_alone * polar, **options), GROUPS, resamples=500
        )

    def test_more_alone(self):
        found = {each.group: each for each in self.planted(0, 2)}
        assert set(found) == {"polar vs neutral", "positive vs neutral", "negative vs neutral"}
        for each in found.values():
            assert each.gain.low > 0.2
            assert each.alone.low > 0.8
            assert each.gain.mean == pytest.approx(each.alone.mean - each.local.mean)
        assert found["polar vs neutral"].gain.n == 260

    def test_more_in_context(self):
        assert all(each.gain.high < -0.2 for each in self.planted(2, 0))

    def test_alike(self):
        assert all(each.gain.low < 0 < each.gain.high for each in self.planted(1, 1))

    def test_the_same_scores_gain_nothing(self):
        local = scores(np.random.default_rng(0).normal(size=300))
        found = measure_prominence(local, local, GROUPS, resamples=50)
        assert [each.gain[:4] for each in found] == [(0, None, 0, 0)] * 3

    def test_of_signed_scores_the_size_counts(self):
        values = np.where(GROUPS == "negative", -3.0, np.where(GROUPS == "positive", 3.0, 0.5))
        first = measure_prominence(
            scores(values, signed=True), scores(values, signed=True), GROUPS, resamples=20
        )
        assert {each.quantity for each in first} == {"|score|"}
        assert all(each.local.mean == 1 for each in first)
        second = measure_prominence(scores(values), scores(values), GROUPS, resamples=20)
        assert {each.group: each.local.mean for each in second}["negative vs neutral"] == 0

    def test_nothing_neutral_and_a_single_token(self):
        local = scores([1.0, 2.0, 3.0])
        (alone,) = measure_prominence(local, local, ["positive"] * 3)
        assert alone.gain == (None, None, None, None, 3)
        (one,) = measure_prominence(
            local, replace(local, score=-local.score), ["positive", "neutral", "neutral"]
        )
        assert one.gain == (1.0, None, None, None, 3)
