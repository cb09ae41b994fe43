"""The encoder layer against torch's, its parameters counted, its positions and poolings."""

import json
import math

import pytest
import torch
from torch import nn
from transformers import AutoModelForSequenceClassification

from glasshead.attention.learned_query import LearnedQueryAttention
from glasshead.errors import InputError
from glasshead.models import Encoder, EncoderClassifier, EncoderConfig
from glasshead.models.encoder import EncoderLayer
from glasshead.training import TRAINING_PRESETS
from small_encoders import batch, small
from tolerances import EXACT_MATHS, ONE_MODEL

REAL = torch.tensor([[True] * 6, [True, True, True, False, False, False]])


def config(**options):
    return EncoderConfig(
        **{
            "hidden_size": 12,
            "num_attention_heads": 3,
            "intermediate_size": 20,
            "dropout": 0.0,
            "num_hidden_layers": 1,
        }
        | options
    )


def vectors(batch=2, length=6, size=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, length, size, dtype=torch.float64, generator=generator)


def random(module):
    torch.manual_seed(3)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(torch.randn_like(each) / 2)
    return module.double().eval()


def count(module):
    return sum(each.numel() for each in module.parameters())


def layer_count(d, heads, head_dim, value_dim, feed_forward, head_combination):
    joined = value_dim if head_combination == "add" else heads * value_dim
    attention = 2 * (d + 1) * heads * head_dim + (d + 1) * heads * value_dim + (joined + 1) * d
    return attention + (d + 1) * feed_forward + (feed_forward + 1) * d + 2 * 2 * d


@pytest.mark.parametrize("head_combination", ["concat", "add"])
@pytest.mark.parametrize("head_dim", [None, 1, 7])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("pooling", ["first", "mean", "attention"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned"])
def test_parameters_are_those_of_the_formulas(head_combination, head_dim, layers, pooling, positions):
    options = {
        "head_combination": head_combination,
        "head_dim": head_dim,
        "num_hidden_layers": layers,
        "pooling": pooling,
    }
    made = EncoderClassifier(
        config(vocab_size=50, num_labels=5, positions=positions, max_length=9, **options)
    )
    d, size = 12, {"concat": 4, "add": 12}[head_combination]
    expected = 50 * d + layers * layer_count(d, 3, head_dim or 4, size, 20, head_combination) + 5 * (d + 1)
    expected += 9 * d if positions == "learned" else 0
    expected += d * (d + 1) + d if pooling == "attention" else 0
    assert count(made) == expected


@pytest.mark.parametrize("heads", [2, 4])
def test_distance_aware_attention_adds_two_numbers_for_each_head(heads):
    plain, aware = (
        count(Encoder(config(num_attention_heads=heads, attention=each)))
        for each in ("softmax", "distance-aware")
    )
    assert aware - plain == 2 * heads


@pytest.mark.parametrize("mask", [torch.ones_like(REAL), REAL])
def test_a_layer_with_joined_heads_is_that_of_torch(mask):
    made = random(EncoderLayer(config()))
    twin = nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, activation="relu", batch_first=True, norm_first=False
    )
    twin = twin.double().eval()
    attention = made.attention
    maps = (attention.query, attention.key, attention.value)
    with torch.no_grad():
        twin.self_attn.in_proj_weight.copy_(torch.cat([each.weight for each in maps]))
        twin.self_attn.in_proj_bias.copy_(torch.cat([each.bias for each in maps]))
        pairs = {
            twin.self_attn.out_proj: attention.output,
            twin.linear1: made.feed_forward[0],
            twin.linear2: made.feed_forward[3],
            twin.norm1: made.attention_norm,
            twin.norm2: made.feed_forward_norm,
        }
        for theirs, ours in pairs.items():
            theirs.load_state_dict(ours.state_dict())
    x = vectors()
    expected = twin(x, src_key_padding_mask=~mask)
    found, _ = made(x, mask)
    torch.testing.assert_close(found[mask], expected[mask], **EXACT_MATHS)


def test_layers_are_one_after_the_other():
    made = random(Encoder(config(num_hidden_layers=2, positions="none", pooling="first")))
    x = vectors()
    found, _ = made(x, REAL)
    expected = made.layers[1](made.layers[0](x, REAL)[0], REAL)[0][:, 0]
    torch.testing.assert_close(found, expected, **EXACT_MATHS)


@pytest.mark.parametrize("spec", ["softmax", "tanhmax", "distance-aware"])
def test_added_heads_agree_with_joined_ones_when_built_to(spec):
    """V_h := V'_h D'_h and D := 1 in the added layer; everything else is copied."""
    joined, added = (
        random(EncoderLayer(config(attention=spec, head_combination=each))) for each in ("concat", "add")
    )
    source, target = joined.attention, added.attention
    added.load_state_dict(
        {
            name: each
            for name, each in joined.state_dict().items()
            if ".value." not in name and ".output." not in name
        },
        strict=False,
    )
    with torch.no_grad():
        target.value.bias.zero_()
        source.value.bias.zero_()
        for head in range(3):
            narrow, wide = slice(4 * head, 4 * head + 4), slice(12 * head, 12 * head + 12)
            target.value.weight[wide] = source.output.weight[:, narrow] @ source.value.weight[narrow]
        target.output.weight.copy_(torch.eye(12))
        target.output.bias.copy_(source.output.bias)
    x = vectors()
    torch.testing.assert_close(added(x, REAL)[0], joined(x, REAL)[0], **EXACT_MATHS)


@pytest.mark.parametrize("size", [1, 7, 12])
def test_sinusoidal_positions_by_hand(size):
    made = Encoder(
        config(hidden_size=size, num_attention_heads=1, head_dim=2, value_dim=2, positions="sinusoidal")
    )
    zeros = torch.zeros(2, 5, size, dtype=torch.float64)
    found = made.positions(zeros, torch.arange(5)[None])
    half = math.ceil(size / 2)
    for place in range(5):
        angles = [place / 10000 ** (2 * wave / size) for wave in range(half)]
        expected = [*map(math.sin, angles), *map(math.cos, angles)][:size]
        torch.testing.assert_close(found[0, place], torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(found[0], found[1], **EXACT_MATHS)


def test_learned_positions_are_rows_of_a_table():
    made = random(Encoder(config(positions="learned", max_length=5)))
    x = vectors(length=5)
    expected = x + made.positions.embedding.weight
    torch.testing.assert_close(made.positions(x, torch.arange(5)[None]), expected, **EXACT_MATHS)


def test_padding_needs_no_learned_position():
    model = small(positions="learned", max_length=5)
    given = batch(lengths=(5, 3))
    wider = {name: torch.nn.functional.pad(each, (0, 4)) for name, each in given.items()}
    torch.testing.assert_close(model(**wider).logits, model(**given).logits, **ONE_MODEL)


@pytest.mark.parametrize("attention", ["softmax", "distance-aware", "tanhmax", "tener"])
def test_padding_changes_nothing_in_longer_texts(attention):
    """Long enough for kernels that short texts never see."""
    model = small(attention=attention, positions="auto", pooling="attention").double()
    given = batch(lengths=(70, 40, 66))
    together = model(**given).logits
    alone = [
        model(**{name: each[row : row + 1, :n] for name, each in given.items()}).logits
        for row, n in enumerate((70, 40, 66))
    ]
    torch.testing.assert_close(together, torch.cat(alone))
    left = {
        name: torch.stack([each[row].roll(70 - n) for row, n in enumerate((70, 40, 66))])
        for name, each in given.items()
    }
    torch.testing.assert_close(model(**left).logits, together)


def test_sinusoids_do_not_drown_the_words():
    made = small(positions="sinusoidal", hidden_size=9)
    ids = torch.arange(6)[None]
    torch.testing.assert_close(made.embedding(ids), 3 * made.embedding.weight[ids])
    for attention, factor in (("softmax", 3.0), ("distance-aware", 1.0)):
        assert small(positions="auto", attention=attention, hidden_size=9).embedding.factor == factor


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned"])
@pytest.mark.parametrize(
    "attention", ["softmax", "distance-aware", "shaw", "transformer-xl", "tener", "uniform"]
)
def test_any_positions_and_one_scale_for_any_mechanism(attention, positions):
    ids = torch.arange(1, 7)[None]
    for scaled, factor in ((True, 3.0), (False, 1.0)):
        made = small(
            attention=attention, positions=positions, scale_embedding=scaled, hidden_size=9, head_dim=4
        )
        torch.testing.assert_close(made.embedding(ids), factor * made.embedding.weight[ids])
        order = (ids, ids.flip(1))
        first, second = (
            made.encoder.positions(made.embedding(each), torch.arange(6)[None]) for each in order
        )
        assert torch.allclose(first, second.flip(1)) == (positions == "none")


def read_by_the_first_layer(model, given):
    seen = []
    hook = model.encoder.layers[0].register_forward_pre_hook(lambda layer, args: seen.append(args[0]))
    model(**given)
    hook.remove()
    return seen[0][given["attention_mask"].bool()]


@pytest.mark.parametrize("spread", [0.1, 1.0])
@pytest.mark.parametrize("preset", ["da-transformer-small", "transformer-small", "tener-small", "shaw"])
def test_the_presets_read_one_scale(preset, spread):
    """At first the vanilla Transformer read words of 0.8, and all others of 0.1."""
    options = dict(TRAINING_PRESETS[preset].architecture) | {"initializer_range": spread, "dropout": 0.0}
    torch.manual_seed(0)
    made = EncoderClassifier(EncoderConfig(vocab_size=500, **options))
    given = {"input_ids": torch.arange(1, 41)[None], "attention_mask": torch.ones(1, 40, dtype=torch.long)}
    read = read_by_the_first_layer(made, given).detach()
    assert float(read.square().mean().sqrt()) == pytest.approx(1.0, abs=0.01)


def test_a_layer_norm_gives_the_first_layer_vectors_of_one_length():
    for factor in (0.01, 100.0):
        made = small(layernorm_embedding=True, positions="none")
        with torch.no_grad():
            made.embedding.weight.mul_(factor)
            made.encoder.embedding_norm.weight.fill_(2.0)
            made.encoder.embedding_norm.bias.fill_(1.0)
            made.encoder.embedding_norm.eps = 1e-12
        read = read_by_the_first_layer(made, batch())
        torch.testing.assert_close(read.mean(dim=1), torch.ones(len(read)))
        torch.testing.assert_close(read.std(dim=1, correction=0), torch.full((len(read),), 2.0))


@pytest.mark.parametrize("family", ["encoder", "pair-encoder", "hierarchical"])
@pytest.mark.parametrize("attention", ["softmax", "distance-aware"])
def test_a_model_saved_before_there_was_a_scale_is_what_it_was(tmp_path, family, attention):
    """Its configuration has no word on it: √d where sinusoids are added, 1 elsewhere, no norm."""
    model = small(family, attention=attention, hidden_size=9)
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    saved = json.loads(path.read_text())
    for later in ("scale_embedding", "layernorm_embedding", "pair_features"):
        saved.pop(later, None)
    path.write_text(json.dumps(saved))
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    factor = 3.0 if attention == "softmax" else 1.0
    words = again.embedding(torch.arange(1, 30))
    torch.testing.assert_close(words, factor * model.embedding.weight[1:])
    assert set(again.state_dict()) == set(model.state_dict())
    assert not any("embedding_norm" in name for name in again.state_dict())
    torch.testing.assert_close(again(**batch(family)).logits, model(**batch(family)).logits, **ONE_MODEL)


def test_the_mean_of_the_vectors_of_real_tokens():
    made = random(Encoder(config(pooling="mean", positions="none")))
    x = vectors()
    found, weights = made(x, REAL, need_weights=True)
    hidden, _ = made.layers[0](x, REAL)
    expected = torch.stack([hidden[0].mean(dim=0), hidden[1, :3].mean(dim=0)])
    torch.testing.assert_close(found, expected, **EXACT_MATHS)
    assert len(weights) == 1  # pooling has none of its own


def test_uniform_attention_with_the_mean_has_no_weight_to_learn():
    """The row "uniform attention" of a table: every weight of every call is one over the number of tokens."""
    model = small(attention="uniform", pooling="mean")
    (weights,) = model(**batch(), output_attentions=True).attentions
    real = batch()["attention_mask"]
    expected = (real / real.sum(dim=1, keepdim=True))[:, None, None].expand_as(weights)
    torch.testing.assert_close(weights, expected)


def test_a_text_longer_than_the_learned_positions_is_refused():
    model = small(positions="learned", max_length=5)
    with pytest.raises(
        InputError, match=r"a text of 6 tokens is longer than the 5 positions .* `max_length`"
    ):
        model(input_ids=torch.full((1, 6), 7))
    assert model(input_ids=torch.full((1, 5), 7)).logits.isfinite().all()


@pytest.mark.parametrize("pooling", ["first", "attention"])
@pytest.mark.parametrize("head_combination", ["concat", "add"])
def test_weights_of_every_layer_and_of_the_pooling(pooling, head_combination):
    made = random(Encoder(config(num_hidden_layers=2, pooling=pooling, head_combination=head_combination)))
    plain, none = made(vectors(), REAL)
    found, weights = made(vectors(), REAL, need_weights=True)
    assert none == ()
    torch.testing.assert_close(found, plain, **EXACT_MATHS)
    shapes = [(2, 3, 6, 6), (2, 3, 6, 6)] + [(2, 1, 1, 6)] * (pooling == "attention")
    assert [tuple(each.shape) for each in weights] == shapes
    for each in weights:
        assert each[1, :, :, 3:].count_nonzero() == 0
        torch.testing.assert_close(each.sum(dim=-1), torch.ones_like(each[..., 0]), **EXACT_MATHS)


def test_attention_pooling_by_hand():
    """a = softmax(qᵀ tanh(W h + b)), o = Σ a h."""
    made = random(Encoder(config(pooling="attention")))
    h, summary = vectors(), made.pooling.summary
    scores = torch.tanh(h @ summary.key.weight.T + summary.key.bias) @ summary.query.weight[0]
    weights = scores.masked_fill(~REAL, -math.inf).softmax(dim=-1)
    found, seen = made.pooling(h, REAL, True)
    torch.testing.assert_close(found, (weights[:, :, None] * h).sum(dim=1), **EXACT_MATHS)
    torch.testing.assert_close(seen[:, 0, 0], weights, **EXACT_MATHS)


def test_a_mechanism_with_a_position_pools_nothing():
    for spec in ("distance-aware", "cosformer"):
        with pytest.raises(InputError, match="has no position: use an activation alone"):
            LearnedQueryAttention(4, mechanism=spec)
    assert LearnedQueryAttention(4, mechanism="tanhmax").mechanism.name == "tanhmax"


def test_dropout_acts_in_training_only():
    torch.manual_seed(0)
    made = Encoder(config(dropout=0.5)).double()
    x = vectors()
    one, other = made(x, REAL)[0], made(x, REAL)[0]
    assert not torch.equal(one, other)
    made.eval()
    assert torch.equal(made(x, REAL)[0], made(x, REAL)[0])


def test_initial_values():
    made = EncoderClassifier(config(vocab_size=4000, initializer_range=0.5, attention="distance-aware"))
    table = made.embedding.weight.detach()
    assert float(table[1:].std()) == pytest.approx(0.5, rel=0.02)
    assert table[0].count_nonzero() == 0
    query = made.encoder.layers[0].attention.query
    assert float(query.weight.detach().abs().max()) <= math.sqrt(6 / 24)
    assert query.bias.count_nonzero() == 0
    position = made.encoder.layers[0].attention.mechanism.position
    torch.testing.assert_close(position.w.detach(), torch.tensor([-0.05, 0.0, 0.05]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_hidden_layers": 0}, "layers` must be at least 1, not 0"),
        ({"intermediate_size": 0}, "`intermediate_size` must be at least 1"),
        ({"dropout": 1.0}, r"`dropout` must be in \[0, 1\), not 1.0"),
        ({"initializer_range": 0.0}, "`initializer_range` must be a positive number"),
        ({"positions": "lerned"}, "did you mean 'learned'"),
        ({"pooling": "frist"}, "did you mean 'first'"),
        ({"head_combination": "mean"}, "`head_combination` must be concat or sum, not 'mean'"),
        ({"num_attention_heads": 5}, "5 heads do not divide the size 12"),
        (
            {"head_combination": "add", "value_dim": 4},
            "summed heads have the size 12 of the layer, not 4",
        ),
        ({"attention": "tanhmx"}, "did you mean 'tanhmax'"),
        ({"head_dim": 0}, "`head_dim` must be at least 1"),
    ],
)
def test_values_that_build_no_encoder(options, message):
    with pytest.raises(InputError, match=message):
        config(**options).check()


def test_good_values_pass():
    config().check()
    config(
        attention={"activation": "tanhmax", "position": {"name": "shaw", "clip": 3}}, head_combination="add"
    ).check()
