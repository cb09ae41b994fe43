"""LIME and KernelSHAP: closed forms, Captum asked directly, and draws that depend on the text alone."""

from itertools import combinations
from math import comb
from zlib import crc32

import numpy as np
import pytest
import torch
from captum._utils.models.linear_model import SkLearnRidge
from captum.attr import KernelShap, Lime

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, find_explainer, make_context
from small import planted_model, random_model, tokenizer
from tolerances import ONE_MODEL

METHODS = ("captum:lime", "captum:kernel-shap")
TEXTS = ("the film was good", "bad plot", "film", "", "a scene was short and the end was good")
each_method = pytest.mark.parametrize("name", METHODS)


def explain(name, model, texts=TEXTS, **options):
    return EXPLAINERS[name](model, tokenizer(), list(texts), **options)


def removal_logits(model, text, kept):
    """Class scores where tokens that are not kept become [MASK]."""
    ids = tokenizer()(text, return_tensors="pt")["input_ids"].repeat(len(kept), 1)
    ids = torch.where(kept > 0.5, ids, tokenizer().mask_token_id)
    with torch.no_grad():
        return model(ids, torch.ones_like(ids)).logits


@each_method
def test_draws_depend_on_the_text_alone_and_leave_those_of_others(name):
    model = random_model(activation="tanhmax")
    state = torch.get_rng_state()
    together = explain(name, model)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(5)
    for text, attribution in zip(TEXTS, together, strict=True):
        (alone,) = explain(name, model, [text])
        np.testing.assert_allclose(alone.scores, attribution.scores, **ONE_MODEL)


@each_method
def test_it_is_captums(name):
    model = random_model(activation="softmax", encoder="lstm")
    (found,) = explain(name, model, TEXTS[:1])
    ids = tokenizer()(TEXTS[0], return_tensors="pt")["input_ids"][0]

    def forward(kept):
        return removal_logits(model, TEXTS[0], kept).softmax(dim=-1)[:, 1]

    methods = {
        "captum:lime": lambda: Lime(forward, interpretable_model=SkLearnRidge(alpha=1.0)),
        "captum:kernel-shap": lambda: KernelShap(forward),
    }
    torch.manual_seed(crc32(ids.numpy().tobytes()))
    samples = 200  # the least, for four tokens
    expected = methods[name]().attribute(torch.ones(1, len(ids)), baselines=0.0, n_samples=samples)
    torch.testing.assert_close(torch.tensor(found.scores), expected[0].float(), rtol=1e-3, atol=1e-5)
    assert "[MASK]" in found.settings


@each_method
def test_options(name):
    model = random_model(activation="softmax")
    (found,) = find_explainer(f"{name}+n_samples=64+baselines=unk")(model, tokenizer(), [TEXTS[0]])
    assert found.settings == "64 samples; removed tokens become [UNK]"
    (again,) = find_explainer(f"{name}+n_samples=64+baselines=unk")(model, tokenizer(), [TEXTS[0]])
    (other,) = find_explainer(f"{name}+n_samples=64")(model, tokenizer(), [TEXTS[0]])
    np.testing.assert_allclose(found.scores, again.scores, **ONE_MODEL)
    assert np.abs(np.subtract(found.scores, other.scores)).max() > 1e-3
    context = make_context(model, encode(tokenizer(), [TEXTS[0]]), tokenizer())
    removals = [find_explainer(f"{name}+baselines={one}").own_removal(context) for one in ("unk", "pad")]
    assert removals == ["unknown-token", None]


@each_method
@pytest.mark.parametrize("samples", [1, 2, 5])
def test_samples_that_cannot_rank_the_tokens_are_refused(name, samples):
    model = random_model(activation="softmax")
    with pytest.raises(InputError, match="cannot rank 4 tokens: 'n_samples' has to be at least 6"):
        find_explainer(f"{name}+n_samples={samples}")(model, tokenizer(), [TEXTS[0]])
    (found,) = find_explainer(f"{name}+n_samples=6")(model, tokenizer(), [TEXTS[0]])
    assert np.abs(found.scores).max() > 0
    assert find_explainer(f"{name}+n_samples=1")(model, tokenizer(), ["film"])[0].settings.startswith(
        "1 sample;"
    )


def additive_model():
    """Zero scores: every token weighs the same, and the logit adds up a term for each token."""
    model = random_model(activation="softmax").double()
    with torch.no_grad():
        for parameter in model.pooling.score.parameters():
            parameter.zero_()
    return model


def test_kernel_shap_of_an_additive_model_is_its_terms():
    model = additive_model()
    (found,) = explain("captum:kernel-shap", model, TEXTS[-1:], target_fn="logit")
    n = len(found.tokens)
    singles = removal_logits(model, TEXTS[-1], 1 - torch.eye(n))[:, 1]
    whole = removal_logits(model, TEXTS[-1], torch.ones(1, n))[0, 1]
    torch.testing.assert_close(torch.tensor(found.scores).double(), whole - singles, rtol=1e-3, atol=1e-5)


def test_kernel_shap_comes_near_the_shapley_values_of_all_orders():
    model = random_model(activation="softmax", score="query-key")
    (found,) = explain("captum:kernel-shap", model, TEXTS[:1])
    n = len(found.tokens)
    subsets = [frozenset(each) for size in range(n + 1) for each in combinations(range(n), size)]
    kept = torch.tensor([[float(token in subset) for token in range(n)] for subset in subsets])
    value = dict(
        zip(subsets, removal_logits(model, TEXTS[0], kept).softmax(dim=-1)[:, 1].tolist(), strict=True)
    )
    exact = [
        sum(
            (value[subset | {token}] - value[subset]) / (n * comb(n - 1, len(subset)))
            for subset in subsets
            if token not in subset
        )
        for token in range(n)
    ]
    assert np.abs(np.array(found.scores) - exact).max() < 0.15 * np.ptp(exact)
    assert sum(found.scores) == pytest.approx(sum(exact), abs=1e-4)


@each_method
def test_one_token_is_its_own_change_and_no_token_none(name):
    model = random_model(activation="softmax")
    one, none = explain(name, model, ["film", ""])
    logits = removal_logits(model, "film", torch.tensor([[1.0], [0.0]])).softmax(dim=-1)[:, 1]
    assert one.scores[0] == pytest.approx((logits[0] - logits[1]).item(), abs=1e-6)
    assert none.scores == ()


@each_method
def test_planted_truth(name):
    found = explain(name, planted_model("softmax"), (TEXTS[0], TEXTS[-1]))
    assert all(each.tokens[int(np.argmax(np.abs(each.scores)))] == "good" for each in found)


@each_method
def test_without_a_mask_token_another_stands_in(name):
    words = tokenizer()
    words.mask_token, mask = None, words.mask_token
    try:
        (found,) = EXPLAINERS[name](random_model(activation="softmax"), words, TEXTS[:1])
    finally:
        words.mask_token = mask
    assert words.unk_token in found.settings
