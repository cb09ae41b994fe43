"""Pairs: one encoder for both texts, joined in order."""

import pytest
import torch

from glasshead.errors import InputError
from glasshead.models import PairEncoderConfig
from small_encoders import batch, small


@pytest.mark.parametrize("pooling", ["first", "attention"])
def test_two_texts_are_read_by_one_encoder_and_joined(pooling):
    model = small("pair-encoder", pooling=pooling)
    ids, types = torch.tensor([[7, 8, 9, 10, 11]]), torch.tensor([[0, 0, 0, 1, 1]])
    texts = [model.embedding(ids[types == which])[None] for which in (0, 1)]
    vectors = [model.encoder(each, torch.ones(1, each.shape[1], dtype=torch.bool))[0] for each in texts]
    expected = model.classifier(torch.cat(vectors, dim=-1))
    torch.testing.assert_close(model(input_ids=ids, token_type_ids=types).logits, expected)


def test_the_order_of_the_texts_matters():
    model = small("pair-encoder")
    one = model(input_ids=torch.tensor([[7, 8, 9]]), token_type_ids=torch.tensor([[0, 0, 1]])).logits
    other = model(input_ids=torch.tensor([[9, 7, 8]]), token_type_ids=torch.tensor([[0, 1, 1]])).logits
    assert not torch.allclose(one, other)


def test_the_weights_are_those_of_each_text():
    model, given = small("pair-encoder", num_hidden_layers=2), batch("pair-encoder")
    found = model(**given, output_attentions=True).attentions
    assert [tuple(each.shape) for each in found] == [(8, 3, 6, 6), (8, 3, 6, 6), (8, 1, 1, 6)]
    segments = model.segments(given["input_ids"], given["attention_mask"].bool(), given["token_type_ids"])
    assert segments.text.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert segments.number.tolist() == [0, 1] * 4
    assert (found[0].sum(dim=2)[:, 0] > 0).equal(segments.mask)


@pytest.mark.parametrize(
    "types",
    [None, [[0, 0, 0, 0]], [[1, 1, 1, 1]], [[0, 0, 1, 1], [0, 0, 0, 0]], [[0, 0, 1, 1], [1, 1, 1, 1]]],
)
def test_single_texts_are_refused(types):
    given = {"token_type_ids": torch.tensor(types)} if types else {}
    with pytest.raises(InputError, match="compares two texts: give it pairs"):
        small("pair-encoder")(input_ids=torch.tensor([[7, 8, 9, 10]] * len(types or [0])), **given)


@pytest.mark.parametrize("types", [[[0, 1, 1, 2]], [[1, 1, 0, 0]]])
def test_types_that_are_no_pair_are_refused(types):
    with pytest.raises(InputError, match="0 for the first text, then 1 for the second"):
        small("pair-encoder")(input_ids=torch.tensor([[7, 8, 9, 10]]), token_type_ids=torch.tensor(types))


def test_a_pair_is_compared():
    """[u; v; |u − v|; u ∘ v]; with the last two alone the order of the texts does not matter."""
    model = small("pair-encoder", pair_features="compare")
    ids, types = torch.tensor([[7, 8, 9, 10, 11]]), torch.tensor([[0, 0, 0, 1, 1]])
    texts = [model.embedding(ids[types == which])[None] for which in (0, 1)]
    u, v = (model.encoder(each, torch.ones(1, each.shape[1], dtype=torch.bool))[0] for each in texts)
    expected = model.classifier(torch.cat([u, v, (u - v).abs(), u * v], dim=-1))
    torch.testing.assert_close(model(input_ids=ids, token_type_ids=types).logits, expected)
    with torch.no_grad():
        model.classifier.weight[:, : 2 * model.config.hidden_size] = 0.0
    turned = model(input_ids=ids.roll(2, 1), token_type_ids=torch.tensor([[0, 0, 1, 1, 1]])).logits
    torch.testing.assert_close(turned, model(input_ids=ids, token_type_ids=types).logits)


@pytest.mark.parametrize("features", ["concat", "compare"])
def test_only_a_head_that_compares_asks_whether_texts_agree(features):
    """Concatenated vectors give a sum of one score for each text: f(a, a) + f(b, b) = f(a, b) + f(b, a)."""
    model = small("pair-encoder", labels=2, pair_features=features)

    def z(first, second):
        return model(input_ids=torch.tensor([[first, second]]), token_type_ids=torch.tensor([[0, 1]])).logits[
            0, 1
        ]

    interaction = z(7, 7) + z(12, 12) - z(7, 12) - z(12, 7)
    assert (interaction.abs() < 1e-5) == (features == "concat")


def test_unknown_features_are_refused():
    with pytest.raises(InputError, match="unknown pair features 'sum'"):
        PairEncoderConfig(pair_features="sum").check()
