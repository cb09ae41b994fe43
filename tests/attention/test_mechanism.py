"""Words and specs: what they build, what they are called, and what is refused."""

import itertools
import json

import pytest
import torch
from torch import nn

from glasshead.attention import (
    ACTIVATIONS,
    MECHANISM_PRESETS,
    POSITIONS,
    AttentionInputs,
    HeadSizes,
    Mechanism,
    attend,
    mechanism,
)
from glasshead.attention.mechanism_spec import parse, to_name, to_spec
from glasshead.errors import InputError
from tolerances import EXACT_MATHS

HEADS = {"num_heads": 4, "head_dim": 6}
PAIRS = list(itertools.product(ACTIVATIONS, POSITIONS))


def qkv(heads=4, size=6, value_dim=6, length=5):
    torch.manual_seed(0)
    return (torch.randn(2, heads, length, d, dtype=torch.float64) for d in (size, size, value_dim))


def test_one_name_means_one_thing():
    """A word is looked up among presets, activations and positions, so no two may share one."""
    names = [*MECHANISM_PRESETS, *ACTIVATIONS, *POSITIONS]
    assert len(set(names)) == len(names)
    assert not any("+" in name or name != name.strip().lower() for name in names)


@pytest.mark.parametrize(
    ("word", "activation", "position"),
    [
        ("softmax", "softmax", "none"),
        ("tanhmax", "tanhmax", "none"),
        ("none", "softmax", "none"),
        ("distance-aware", "softmax", "distance-aware"),
        ("tanhmax+distance-aware", "tanhmax", "distance-aware"),
        ("distance-aware+tanhmax", "tanhmax", "distance-aware"),
        (" tanhmax + shaw ", "tanhmax", "shaw"),
        ("cosformer", "sum", "cosine"),
        ("sum+cosine", "sum", "cosine"),
        ({}, "softmax", "none"),
        ({"activation": "tanhmax"}, "tanhmax", "none"),
        ({"position": {"name": "tener"}}, "softmax", "tener"),
        ({"activation": {"name": "tanhmax"}, "position": "none"}, "tanhmax", "none"),
    ],
)
def test_words_and_specs(word, activation, position):
    made = mechanism(word, **HEADS)
    assert type(made.activation) is ACTIVATIONS[activation]
    assert type(made.position) is POSITIONS[position]


@pytest.mark.parametrize(("activation", "position"), PAIRS)
def test_a_spec_goes_through_json_and_comes_back(activation, position):
    made = mechanism({"activation": activation, "position": position}, **HEADS)
    again = mechanism(json.loads(json.dumps(made.spec)), **HEADS)
    assert again.spec == made.spec
    assert again.name == made.name == to_name(made.spec)
    # Without options, the name alone says it all.
    assert mechanism(made.name, **HEADS).spec == made.spec
    assert str(made).splitlines()[1].strip() == json.dumps(made.spec)


@pytest.mark.parametrize(
    ("spec", "name", "short"),
    [
        ("softmax", "softmax", {"activation": "softmax"}),
        ("none", "softmax", {"activation": "softmax"}),
        ("distance-aware", "distance-aware", {"activation": "softmax", "position": "distance-aware"}),
        ("tanhmax+shaw", "tanhmax+shaw", {"activation": "tanhmax", "position": "shaw"}),
        ("cosformer", "cosformer", {"activation": "sum", "position": "cosine"}),
        (
            {"activation": {"name": "sum"}, "position": {"name": "cosine"}},
            "cosformer",
            dict(MECHANISM_PRESETS["cosformer"]),
        ),
        (
            {"position": {"name": "distance-aware", "mapping": "clip"}},
            "distance-aware",
            {"activation": "softmax", "position": {"name": "distance-aware", "mapping": "clip"}},
        ),
        (
            {"activation": "sum", "position": {"name": "cosine", "reach": 64}},
            "sum+cosine",
            {"activation": "sum", "position": {"name": "cosine", "reach": 64}},
        ),
    ],
)
def test_names_and_saved_specs(spec, name, short):
    made = mechanism(spec, **HEADS)
    assert (made.name, made.spec) == (name, short)
    assert to_spec(parse(made.spec)) == short


def test_what_is_saved_belongs_to_the_mechanism():
    given = {"position": {"name": "distance-aware", "mapping": "clip"}}
    made = mechanism(given, **HEADS)
    given["position"]["mapping"] = "linear"
    assert made.spec["position"]["mapping"] == "clip"
    before = json.dumps(MECHANISM_PRESETS["cosformer"])
    mechanism("cosformer").spec["activation"] = "softmax"
    assert json.dumps(MECHANISM_PRESETS["cosformer"]) == before


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tanhmx", "unknown attention mechanism 'tanhmx': did you mean 'tanhmax'"),
        ("distance_aware", "did you mean 'distance-aware'"),
        ("zzzzzz", "choose from: .*cosformer.*softmax"),
        ("", "unknown attention mechanism ''"),
        ("tanhmax+", "unknown attention mechanism ''"),
        ("tanhmax+softmax", "'tanhmax.softmax' names two activations"),
        ("tanhmax+tanhmax", "names two activations"),
        ("shaw+tener", "names two positions"),
        ("cosformer+softmax", "names two activations"),
        ("cosformer+shaw", "names two positions"),
        ({"activations": "tanhmax"}, "a mechanism has no 'activations': did you mean 'activation'"),
        ({3: "tanhmax"}, "a mechanism has no 3: choose from: activation, position"),
        ({"activation": "tanhmx"}, "unknown activation 'tanhmx': did you mean 'tanhmax'"),
        ({"activation": "shaw"}, "unknown activation 'shaw'"),
        ({"position": "tanhmax"}, "unknown position 'tanhmax'"),
        ({"position": {"mapping": "clip"}}, r"the position must be a name or \{\"name\": …, options\}"),
        ({"position": {"name": 3}}, "the position must be a name or"),
        ({"position": None}, "the position must be a name or .*, not None"),
        ({"activation": ["tanhmax"]}, "the activation must be a name or"),
        (3, "a mechanism must be a word or a mapping, not int"),
        (None, "a mechanism must be a word or a mapping, not NoneType"),
        (
            {"position": {"name": "distance-aware", "maping": "clip"}},
            "position 'distance-aware' has no option 'maping': did you mean 'mapping'",
        ),
        (
            {"position": {"name": "distance-aware", "heads": 3}},
            "position 'distance-aware' has no option 'heads'",
        ),
        ({"activation": {"name": "softmax", "temperature": 2}}, "activation 'softmax' has no option"),
        ({"position": {"name": "distance-aware", "mapping": "clop"}}, "did you mean 'clip'"),
        (
            {"position": {"name": "distance-aware", "mapping": ["clip"]}},
            r"unknown mapping \['clip'\]: did you",
        ),
    ],
)
@pytest.mark.wrong_types
def test_what_is_no_mechanism(spec, message):
    with pytest.raises(InputError, match=message):
        mechanism(spec, **HEADS)


SIGNED_MULTIPLY = {"name": "distance-aware", "adjust": "signed-multiply"}
LEARNED = [name for name, position in POSITIONS.items() if position.learned]


@pytest.mark.parametrize("name", LEARNED)
def test_what_learns_needs_sizes(name):
    for sizes in ({}, {"num_heads": 4}, {"head_dim": 6}):
        with pytest.raises(InputError, match="has parameters per head: name their number"):
            mechanism(name, **sizes)
    assert mechanism(name, **HEADS).position.heads == HeadSizes(4, 6, 6)
    assert mechanism(name, **HEADS, value_dim=8).position.heads == HeadSizes(4, 6, 8)


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("size", ["num_heads", "head_dim", "value_dim"])
@pytest.mark.parametrize("value", [0, -1, 2.0])
@pytest.mark.wrong_types
def test_sizes_are_whole_numbers(name, size, value):
    with pytest.raises(InputError, match=f"{size} must be a whole number above 0, not {value}"):
        mechanism(name, **HEADS | {size: value})


@pytest.mark.parametrize("name", LEARNED)
def test_what_learns_was_built_for_its_heads(name):
    made = mechanism(name, **HEADS).double()
    assert attend(made, *qkv()).output.shape == (2, 4, 5, 6)
    for sizes in ({"heads": 2}, {"size": 4}, {"value_dim": 4}):
        with pytest.raises(InputError, match=f"{name} was built for .*num_heads=4, head_dim=6, value_dim=6"):
            attend(made, *qkv(**sizes))


@pytest.mark.parametrize("name", [name for name in POSITIONS if name not in LEARNED])
def test_what_learns_nothing_serves_any_heads(name):
    made = mechanism(name)
    for sizes in ({}, {"heads": 2}, {"size": 4, "value_dim": 3}):
        assert attend(made, *qkv(**sizes)).output.isfinite().all()


@pytest.mark.parametrize("name", [name for name, position in POSITIONS.items() if position.needs_positions])
def test_positions_need_one_sequence(name):
    q, k, v = qkv()
    with pytest.raises(InputError, match="it is for self-attention"):
        attend(mechanism(name, **HEADS).double(), q[:, :, :3], k, v)


@pytest.mark.parametrize("name", list(POSITIONS))
def test_a_mechanism_is_a_module_with_the_parameters_of_its_position(name):
    made = mechanism(name, **HEADS)
    assert isinstance(made, nn.Module)
    inside = {f"position.{key}" for key, _ in made.position.named_parameters()}
    assert {key for key, _ in made.named_parameters()} == set(made.state_dict()) == inside
    assert made.learned is bool(inside)
    assert made.learned is POSITIONS[name].learned


@pytest.mark.parametrize("name", LEARNED)
def test_parameters_are_saved_loaded_and_trained(name):
    made, other = (mechanism(name, **HEADS).double() for _ in range(2))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    other.load_state_dict(made.state_dict())
    output = attend(made, *qkv()).output
    torch.testing.assert_close(attend(other, *qkv()).output, output, **EXACT_MATHS)
    output.square().sum().backward()
    assert all(parameter.grad.count_nonzero() for parameter in made.parameters())


def test_a_built_mechanism_is_handed_through():
    made = mechanism("tanhmax")
    assert mechanism(made) is made
    assert isinstance(made, Mechanism)


def test_the_three_steps_are_the_formula():
    made = mechanism("tanhmax")
    q, k, v = qkv()
    call = AttentionInputs.of(made, q, k, v, is_causal=True)
    scores = made.scores(call)
    torch.testing.assert_close(scores, q @ k.transpose(2, 3) / 6**0.5, **EXACT_MATHS)
    weights = made.weights(call, scores)
    allowed = torch.ones(5, 5).tril().bool()
    total = (2 * scores.cosh()).masked_fill(~allowed, 0).sum(dim=-1, keepdim=True)
    expected = (2 * scores.sinh() / total).masked_fill(~allowed, 0)
    torch.testing.assert_close(weights, expected, **EXACT_MATHS)
    torch.testing.assert_close(made.output(call, weights), expected @ v, **EXACT_MATHS)
    output, same = made(call)
    torch.testing.assert_close(same, weights, **EXACT_MATHS)
    torch.testing.assert_close(output, made.output(call, weights), **EXACT_MATHS)


def test_dropout_of_the_formula_acts_on_weights():
    """With one key and value 1 the output is the weight: 0, or 1 / (1 − p)."""
    q, k, v = torch.ones(1, 1, 2000, 1), torch.ones(1, 1, 1, 1), torch.ones(1, 1, 1, 1)
    torch.manual_seed(0)
    call = AttentionInputs.of(mechanism("softmax"), q, k, v, dropout=0.25)
    output, weights = call.mechanism(call)
    assert (weights == 1).all()
    assert output.unique().tolist() == pytest.approx([0, 4 / 3])
    assert float((output == 0).float().mean()) == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize(
    ("spec", "signed"),
    [
        ("softmax", False),
        ("tanhmax", True),
        ("tanhmax+shaw", True),
        ("tanhmax+distance-aware", False),
        (
            {"activation": "tanhmax", "position": {"name": "distance-aware", "adjust": "signed-multiply"}},
            True,
        ),
        ({"position": {"name": "distance-aware", "adjust": "late-multiply", "mapping": "linear"}}, True),
        ({"position": {"name": "distance-aware", "adjust": "late-multiply"}}, False),
    ],
)
def test_whether_weights_can_be_negative(spec, signed):
    made = mechanism(spec, **HEADS).double()
    assert made.signed is signed
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=3)
    weights = attend(made, *qkv(), need_weights=True).weights
    assert bool((weights < 0).any()) is signed
