"""Whether attention is used: planted scores and weights, and models whose attention is known."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import entropy as scipy_entropy

import small
from classifier_families import COMPLETE, FAMILIES, MORE, TEXTS
from glasshead.attention import MultiHeadAttention
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.models import EncoderClassifier, EncoderConfig
from glasshead.opening import open as open_model
from glasshead.results import is_unused, note_unused
from glasshead.trace import attention_use, record
from glasshead.trace.attention_use import distances_from_uniform, entropies, score_deviations

ROWS = torch.tensor([[0.25, 0.25, 0.25, 0.25], [1.0, 0, 0, 0], [0.5, 0.5, 7.0, 7.0], [1.0, 9.0, 9.0, 9.0]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=torch.bool)


def encoder(seed=0, **options):
    config = EncoderConfig(
        vocab_size=len(small.tokenizer()),
        hidden_size=8,
        num_attention_heads=2,
        intermediate_size=16,
        **options,
    )
    torch.manual_seed(seed)
    return EncoderClassifier(config).eval()


def texts():
    return encode(small.tokenizer(), list(small.TEXTS))


class TestOfRows:
    def test_entropy_is_1_of_equal_weights_and_0_of_one(self):
        values = entropies(ROWS, MASK)
        torch.testing.assert_close(values[:3], torch.tensor([1.0, 0.0, 1.0]))
        assert values[3].isnan()

    def test_distance_is_0_of_equal_weights_and_largest_of_one(self):
        values = distances_from_uniform(ROWS, MASK)
        torch.testing.assert_close(values[:3], torch.tensor([0.0, 0.75, 0.0]))
        assert values[3].isnan()

    def test_a_row_and_its_negative_are_equally_far(self):
        rows, mask = torch.tensor([[0.1, -0.2, 0.4]]), torch.ones(1, 3, dtype=torch.bool)
        there, negated = distances_from_uniform(rows, mask), distances_from_uniform(-rows, mask)
        torch.testing.assert_close(there, negated)
        p = np.array([0.1, -0.2, 0.4]) / 0.7
        assert there.item() == pytest.approx(min(abs(p - 1 / 3).sum(), abs(p + 1 / 3).sum()) / 2)

    def test_the_spread_of_scores_does_not_depend_on_a_constant(self):
        scores = torch.tensor([[1.0, 2.0, 3.0, 50.0]], dtype=torch.float64)
        mask = torch.tensor([[True, True, True, False]])
        expected = float(np.std([1, 2, 3]))
        assert score_deviations(scores, mask).item() == pytest.approx(expected)
        assert score_deviations(scores + 7, mask).item() == pytest.approx(expected)


class TestOfModels:
    def test_every_number_is_the_mean_over_texts_of_rows(self):
        """A literal loop over texts, heads and rows, one text at a time."""
        model, encoded = encoder(num_hidden_layers=2), texts()
        for layer in attention_use(model, encoded):
            by_text = []
            for text in range(len(encoded.ids)):
                with torch.no_grad(), record(model) as trace:
                    model(**encoded.some(np.array([text])).inputs())
                rows = []
                one = trace[layer["layer"]]
                length = int(encoded.mask[text].sum())
                if length < 2:
                    continue
                for head in range(one.weights.shape[1]):
                    for row in range(one.weights.shape[2]):
                        a = one.weights[0, head, row].double().numpy()
                        s = one.scores[0, head, row].double().numpy()
                        entropy = scipy_entropy(a) / math.log(length)
                        rows.append((s.std(), entropy, abs(a - 1 / length).sum() / 2))
                by_text.append(np.mean(rows, axis=0))
            expected = np.mean(by_text, axis=0)
            numbers = [layer["score_sd"], layer["entropy"], layer["distance"]]
            np.testing.assert_allclose(numbers, expected, rtol=1e-4)
            assert layer["sequences"] == len(by_text)
            low, high = layer["interval"]
            assert low <= layer["entropy"] <= high

    def test_a_model_of_zero_queries_does_not_use_its_attention(self):
        model = encoder(pooling="first")
        attention = next(module for module in model.modules() if isinstance(module, MultiHeadAttention))
        with torch.no_grad():
            attention.query.weight.zero_()
        (layer,) = attention_use(model, texts())
        assert layer["entropy"] == pytest.approx(1.0)
        assert layer["distance"] == pytest.approx(0.0, abs=1e-6)
        assert layer["score_sd"] == pytest.approx(0.0, abs=1e-6)
        assert is_unused(layer)
        assert "its weights differ little" in note_unused([layer])

    def test_a_model_of_large_scores_uses_it(self):
        model = encoder(pooling="first")
        attention = next(module for module in model.modules() if isinstance(module, MultiHeadAttention))
        with torch.no_grad():
            attention.query.weight.mul_(20)
        (layer,) = attention_use(model, texts())
        assert layer["entropy"] < 0.7
        assert not is_unused(layer)
        assert note_unused([layer]) == ""

    def test_signed_weights_that_are_all_0_are_not_used(self):
        model = encoder(pooling="first", attention="tanhmax")
        attention = next(module for module in model.modules() if isinstance(module, MultiHeadAttention))
        with torch.no_grad():
            attention.query.weight.zero_()
        (layer,) = attention_use(model, texts())
        assert layer["signed"]
        assert layer["entropy"] is None
        assert layer["zero_rows"] == 1.0
        assert is_unused(layer)

    @pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
    def test_pooled(self, activation):
        model, encoded = small.random_model(activation=activation), texts()
        (layer,) = attention_use(model, encoded)
        with torch.no_grad():
            output = model(**encoded.inputs(), output_attentions=True)
        long = encoded.mask.sum(dim=1) > 1
        deviations = [
            output.scores[text][encoded.mask[text]].std(correction=0) for text in long.nonzero()[:, 0]
        ]
        assert layer["sequences"] == int(long.sum())
        assert layer["score_sd"] == pytest.approx(float(torch.stack(deviations).mean()), rel=1e-5)
        assert layer["signed"] == (activation == "tanhmax")

    def test_padding_does_not_count(self):
        model = encoder(num_hidden_layers=1)
        encoded = texts()
        kept = np.array([0, 6])
        wide = attention_use(model, encoded.some(np.array([0, 6])))
        one = [attention_use(model, encoded.some(kept[[place]])) for place in (0, 1)]
        for layer, first, second in zip(wide, *one, strict=True):
            for key in ("score_sd", "entropy", "distance"):
                assert layer[key] == pytest.approx((first[key] + second[key]) / 2, rel=1e-5)


class TestTheLine:
    @pytest.mark.parametrize(
        ("entropy", "signed", "distance", "unused"),
        [
            (0.981, False, 0.1, True),
            (0.98, False, 0.1, False),
            (0.5, False, 0.1, False),
            (0.99, True, 0.1, True),
            (0.99, True, 0.6, False),
        ],
    )
    def test_appears_above_098_unless_signs_choose(self, entropy, signed, distance, unused):
        layer = {"layer": 0, "name": "a", "signed": signed, "sequences": 9, "rows": 9, "score_sd": 0.1,
                 "entropy": entropy, "interval": None, "distance": distance, "zero_rows": 0.0}  # fmt: skip
        assert is_unused(layer) == unused
        assert bool(note_unused([layer])) == unused
        other = layer | {"layer": 1, "entropy": 0.3}
        assert ("layer 0 of 2" in note_unused([layer, other])) == unused


def assert_family_is_measured(family):
    subject = open_model(family.build(), tokenizer=family.tokenizer())
    encoded = encode(subject.tokenizer, TEXTS[:2])
    layers = attention_use(subject.model, encoded)
    with torch.no_grad(), record(subject.model) as trace:
        subject.model(**encoded.some(np.array([0])).inputs())
    assert [layer["layer"] for layer in layers] == list(range(len(trace)))
    for layer in layers:
        assert layer["score_sd"] > 0
        assert 0 < layer["entropy"] < 1
        assert 0 < layer["distance"] < 1


@pytest.mark.parametrize("name", ["Bert", "Deberta", "GPT2"])
def test_families(name):
    assert_family_is_measured(FAMILIES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [family.name for family in [*COMPLETE, *MORE]])
def test_every_family(name):
    family = FAMILIES[name]
    if "attention" in family.lacks or "all" in family.lacks:
        with pytest.raises(InputError):
            assert_family_is_measured(family)
        return
    assert_family_is_measured(family)
