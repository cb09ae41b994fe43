"""Every registered explainer keeps the promises of its kind."""

import copy

import numpy as np
import pytest
import torch

import glasshead
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, TARGETS
from readable import KINDS, planted
from small import TEXTS, as_run, planted_model, planted_texts, random_model, split, tokenizer
from tolerances import ONE_MODEL

SURROGATES = ("captum:kernel-shap", "captum:lime")  # hundreds of passes a text
REFUSING = ("captum:deep-lift",)  # what its rules do not cover, such as attention: test_deep_lift.py
OF_IMAGES = {
    name for name, explainer in EXPLAINERS.items() if explainer.for_images
}  # tests/explainers/test_patches.py
METHODS = [name for name in EXPLAINERS if name not in (*SURROGATES, *REFUSING, *OF_IMAGES)]
NEED_LAYERS = {"alti", "value-norm-residual", "value-zeroing", "attn-lrp", "cp-lrp", "layer-chosen"}
NEED_SHARES = {"rollout", "attention-flow"}
NEED_POST_NORM = {"alti", "value-norm-residual"}
REFUSED = {
    "pooled": NEED_LAYERS,
    "pooled rating": NEED_LAYERS,
    "encoder first": NEED_SHARES,  # these two have signed weights
    "encoder added, three classes": NEED_SHARES,
    "gpt2": NEED_POST_NORM,
    "hierarchical": {"layer-chosen"},
    "hierarchical normalised": {"layer-chosen"},
    "hierarchical first, rating": {"layer-chosen"},
}
"""What a kind of model is refused, and nothing else."""
SIDE_BY_SIDE = {"layer-mean", "layer-max", "layer-min", "layer-sum"}
every_explainer = pytest.mark.parametrize(
    "name", [*METHODS, *(pytest.param(name, marks=pytest.mark.slow) for name in SURROGATES)]
)
MODELS = {
    "tanhmax": {"activation": "tanhmax", "score": "query-key", "value_dim": 4},
    "lstm": {"activation": "softmax", "encoder": "lstm"},
}


def pooled_cases(**activations):
    """(explainer, model) of all pooled models, by their activations, but for what they are refused."""
    return pytest.mark.parametrize(
        ("name", "model"),
        [
            pytest.param(name, model, marks=pytest.mark.slow if name in SURROGATES else ())
            for model, activation in activations.items()
            for name in [*METHODS, *SURROGATES]
            if name not in refused_of(activation)
        ],
    )


def refused_of(activation):
    """What a pooled model is refused, which has one attention and one learned query."""
    return NEED_LAYERS | NEED_SHARES if activation == "tanhmax" else NEED_LAYERS


every_case = pooled_cases(**{name: options["activation"] for name, options in MODELS.items()})
every_activation = pooled_cases(softmax="softmax", tanhmax="tanhmax")


def explain(name, model, texts=TEXTS, **options):
    return EXPLAINERS[name](model, tokenizer(), list(texts), **options)


@pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
def test_what_a_pooled_model_is_refused_is_refused_with_what_to_do_instead(activation):
    model = random_model(activation=activation)
    for name in sorted(refused_of(activation)):
        instead = f"'{name}-absolute'" if name in NEED_SHARES else "'contribution'"
        with pytest.raises(InputError, match=rf"'{name}'.* use {instead}$"):
            explain(name, model)


@every_case
def test_deterministic_and_batched_equals_one_by_one(name, model):
    model = random_model(**MODELS[model])
    together = explain(name, model)
    again = explain(name, model)
    for index, (attribution, same) in enumerate(zip(together, again, strict=True)):
        assert attribution == same
        (alone,) = explain(name, model, TEXTS[index : index + 1])
        assert (alone.tokens, alone.target, alone.predicted) == (
            attribution.tokens,
            attribution.target,
            attribution.predicted,
        )
        np.testing.assert_allclose(alone.scores, attribution.scores, **ONE_MODEL)


@every_activation
def test_the_model_is_left_as_it_was(name, model):
    model = random_model(activation=model)
    before = copy.deepcopy(model.state_dict())
    model.train()
    explain(name, model)
    assert model.training
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@every_activation
def test_one_number_per_token_and_offsets_into_the_text(name, model):
    model = random_model(activation=model)
    for text, attribution in zip(TEXTS, explain(name, model), strict=True):
        assert attribution.text == text
        assert attribution.method == name
        assert len(attribution.scores) == len(attribution.tokens) == len(attribution.offsets)
        assert np.isfinite(attribution.scores).all()
        for token, (start, end) in zip(attribution.tokens, attribution.offsets, strict=True):
            assert token == "[UNK]" or text[start:end] == token
    assert explain(name, model, []) == []


def told(name, kind, **options):
    return EXPLAINERS[name](kind.model, kind.tokenizer, kind.texts, kind.pairs, **options)


def dealt(kind):
    """An eighth of the methods, another one for the next kind; and those that are refused."""
    number = list(KINDS).index(kind)
    refused = REFUSED.get(kind, set())
    return [name for place, name in enumerate(METHODS) if place % 8 == number % 8 or name in refused]


@pytest.mark.parametrize(
    ("kind", "methods"),
    [
        *((kind, dealt(kind)) for kind in KINDS),
        *(
            pytest.param(kind, methods, marks=pytest.mark.slow)
            for kind in KINDS
            for methods in (METHODS, SURROGATES)
        ),
    ],
)
def test_every_family_in_batches_and_one_by_one(kind, methods):
    refused = REFUSED.get(kind, set())
    kind = KINDS[kind]().of(1, 3, 4)  # a short text, the longest, and one word
    kind.model.double()  # in single precision other batches are other numbers, as everywhere
    before = copy.deepcopy(kind.model.state_dict())
    hooks = {name: len(each._forward_pre_hooks) for name, each in kind.model.named_modules()}
    for name in methods:
        if name in refused:
            with pytest.raises(InputError, match=f"'{name}'"):
                told(name, kind)
            continue
        together = told(name, kind)
        assert together == told(name, kind)
        for index, attribution in enumerate(together):
            (alone,) = told(name, kind.of(index))
            assert (alone.tokens, alone.target) == (attribution.tokens, attribution.target)
            np.testing.assert_allclose(alone.scores, attribution.scores, **ONE_MODEL)
            assert np.isfinite(attribution.scores).all()
    for key, value in kind.model.state_dict().items():
        assert torch.equal(value, before[key])
    for name, each in kind.model.named_modules():
        assert not each._forward_hooks
        assert len(each._forward_pre_hooks) == hooks[name]
    assert all(parameter.grad is None for parameter in kind.model.parameters())


EMPTY = ("encoder", "pair-encoder", "cross-encoder", "hierarchical", "bert")


@pytest.mark.parametrize("number", range(len(EMPTY)), ids=EMPTY)
def test_an_empty_text_is_no_trouble(number):
    """Of each kind two methods in five, other ones for the next."""
    kind = KINDS[EMPTY[number]]()
    pairs = None if kind.pairs is None else ["good film", "film"]
    refused = REFUSED.get(EMPTY[number], set())
    dealt_out = [name for place, name in enumerate([*METHODS, *SURROGATES]) if (place + number) % 5 < 2]
    for name in [name for name in dealt_out if name not in refused]:
        first, second = EXPLAINERS[name](kind.model, kind.tokenizer, ["", "the film"], pairs)
        assert np.isfinite([*first.scores, *second.scores]).all()
        assert len(first.scores) == len(first.tokens)


@every_explainer
@pytest.mark.parametrize("pooling", ["attention", "first"])
def test_planted_truth_in_an_encoder(name, pooling):
    """Its decision rests on ``good``: every method must put it first, and the random one must not."""
    kind = planted(pooling)
    texts = ["the film was good and the plot was long", "good music and a long scene", "the end was good"]
    told = EXPLAINERS[name](kind.model, kind.tokenizer, texts)
    if name == "gradient-mean":  # a layer norm feels no shift, so the mean entry of its gradient is 0
        assert all(np.abs(attribution.scores).max() < 1e-4 for attribution in told)
        return
    if pooling == "attention" and name in SIDE_BY_SIDE | {"value-zeroing", "layer-chosen"}:
        # They read the layer below the learned query, which looks at all tokens alike.
        assert all(np.ptp(attribution.scores) < 1e-6 for attribution in told)
        return
    first = [
        # Words only: [CLS] stays in the residual sum, and a layer norm feels the share of each part of it.
        attribution.tokens[1 + int(np.argmax(np.abs(attribution.scores[1:])))] == "good"
        for attribution in told
    ]
    assert all(first) == (name != "random")


@every_explainer
def test_it_says_what_it_is(name):
    assert EXPLAINERS[name].description
    assert EXPLAINERS[name].citation


@every_activation
def test_planted_truth(name, model):
    """The decision rests on ``good``: every method must put it first, and the random one must not."""
    activation, model = model, planted_model(model)
    texts = [
        "the film was good and the plot was long",
        "good music and a long scene",
        "the end was good",
        "was the plot and the film good",
        "scene film good end",
    ]
    told = explain(name, model, texts)
    if (name, activation) == ("effective-attention", "tanhmax"):
        # All values are one number there: the output shows the sum of the weights, and that is all.
        assert all(np.ptp(attribution.scores) < 1e-6 for attribution in told)
        return
    first = [attribution.tokens[int(np.argmax(np.abs(attribution.scores)))] == "good" for attribution in told]
    assert all(first) == (name != "random")


def test_a_class_is_known_by_its_name_before_its_number():
    model = planted_model("softmax")
    model.config.id2label = {0: "1", 1: "0"}
    targets = {each: explain("erasure", model, TEXTS[:1], target=each)[0].target for each in ("0", "1", 0, 1)}
    assert targets == {"0": "0", "1": "1", 0: "1", 1: "0"}


# Entropy falls where the model becomes sure.
@pytest.mark.parametrize("of", [name for name in TARGETS if name not in ("rating", "entropy")])
def test_targets_agree_on_the_sign(of):
    model = planted_model("softmax")
    (attribution,) = explain("erasure", model, ["the film was good"], target_fn=of)
    assert attribution.scores[-1] > 0
    (other,) = explain("erasure", model, ["the film was good"], target_fn=of, target="negative")
    if of != "logit":  # the logit of class 0 is 0 by definition, whatever is erased
        assert other.scores[-1] < 0
    assert other.target == "negative"


@pytest.mark.slow
def test_every_explainer_can_be_ranked_and_leads_where_one_token_is_read():
    """All but random numbers put that token first, and so cannot be told apart."""
    texts, labels = planted_texts(counts=(30, 16))
    run = as_run(planted_model("softmax"), texts, labels)
    methods = [name for name in METHODS if name not in NEED_LAYERS]
    ranking = glasshead.rank(run, split(texts, labels), methods, removals=["delete"])
    leaders = ranking.leaders("comprehensiveness", "delete")
    assert leaders == [name for name in methods if name != "random"]
    assert ranking.methods[methods.index("random")].standing("comprehensiveness", "delete") == "not shown"
