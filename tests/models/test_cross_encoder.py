"""Pairs as one sequence: tokens of one text attend to those of the other, and know their text."""

import pytest
import torch

from glasshead.errors import InputError
from small_encoders import batch, small


def test_tokens_attend_to_the_other_text():
    model, given = small("cross-encoder"), batch("cross-encoder")
    weights, pooling = model(**given, output_attentions=True).attentions
    real = given["attention_mask"].bool()
    pairs = (real[:, None, :, None] & real[:, None, None, :]).expand_as(weights)
    assert (weights[pairs] > 0).all()
    assert pooling.shape == (4, 1, 1, 11)


def test_a_token_knows_its_text():
    model = small("cross-encoder", positions="none")
    ids = torch.tensor([[7, 8, 9, 10]])
    one, other = (
        model(input_ids=ids, token_type_ids=torch.tensor([types])).logits
        for types in ([0, 0, 0, 1], [0, 1, 1, 1])
    )
    assert not torch.allclose(one, other, atol=1e-3)
    with torch.no_grad():
        model.segment_embedding.weight.zero_()
    one, other = (
        model(input_ids=ids, token_type_ids=torch.tensor([types])).logits
        for types in ([0, 0, 0, 1], [0, 1, 1, 1])
    )
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("scaled", [True, False])
def test_words_and_segments_have_one_scale(scaled):
    model = small("cross-encoder", positions="none", hidden_size=9, scale_embedding=scaled)
    seen = []
    model.encoder.layers[0].register_forward_pre_hook(lambda layer, args: seen.append(args[0]))
    ids, types = torch.tensor([[7, 8, 9]]), torch.tensor([[0, 1, 1]])
    model(input_ids=ids, token_type_ids=types)
    expected = model.embedding.weight[ids] + model.segment_embedding.weight[types]
    torch.testing.assert_close(seen[0], (3.0 if scaled else 1.0) * expected)


@pytest.mark.parametrize("types", [None, [[0, 0, 0, 0]]])
def test_single_texts_are_refused(types):
    given = {"token_type_ids": torch.tensor(types)} if types else {}
    with pytest.raises(InputError, match="compares two texts: give it pairs"):
        small("cross-encoder")(input_ids=torch.tensor([[7, 8, 9, 10]]), **given)
