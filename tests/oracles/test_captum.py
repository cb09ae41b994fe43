"""Our explanations against Captum's."""

import pytest
import torch
from captum.attr import FeatureAblation, InputXGradient, LayerGradientXActivation, Saliency

from classifier_families import FAMILIES, TEXTS
from glasshead.explainers import EXPLAINERS
from small import random_model, tokenizer
from tolerances import ONE_MODEL

TEXT = "the film was bad and long and the scene was short"


def prepared(**options):
    model = random_model(**options)
    ids = tokenizer()(TEXT, return_tensors="pt")["input_ids"]
    return model, ids, torch.ones_like(ids)


def positive(logits):
    return logits.softmax(dim=-1)[:, 1]


every_shape = pytest.mark.parametrize(
    "options",
    [
        {"activation": "softmax"},
        {"activation": "tanhmax", "score": "additive"},
        {"activation": "tanhmax", "encoder": "lstm", "score": "query-key"},
    ],
)


def ours(name, model):
    (attribution,) = EXPLAINERS[name](model, tokenizer(), [TEXT])
    return torch.tensor(attribution.scores)


@every_shape
def test_mask_token_erasure_is_feature_ablation(options):
    model, ids, mask = prepared(**options)
    ablation = FeatureAblation(lambda ids, mask: positive(model(ids, mask).logits))
    expected = ablation.attribute(ids, baselines=tokenizer().mask_token_id, additional_forward_args=mask)
    torch.testing.assert_close(ours("erasure-mask-token", model), expected[0].float(), **ONE_MODEL)


@every_shape
def test_gradients(options):
    model, ids, mask = prepared(**options)
    embedded = model.get_input_embeddings()(ids).detach()

    def forward(vectors):
        return positive(model(inputs_embeds=vectors, attention_mask=mask).logits)

    product = InputXGradient(forward).attribute(embedded.clone().requires_grad_())[0]
    torch.testing.assert_close(ours("gradient", model), product.sum(dim=-1).detach(), **ONE_MODEL)
    gradient = Saliency(forward).attribute(embedded.clone().requires_grad_(), abs=False)[0]
    torch.testing.assert_close(ours("gradient-mean", model), gradient.mean(dim=-1), **ONE_MODEL)
    torch.testing.assert_close(ours("gradient-l1", model), gradient.abs().mean(dim=-1), **ONE_MODEL)
    torch.testing.assert_close(ours("gradient-l2", model), gradient.pow(2).sum(dim=-1).sqrt(), **ONE_MODEL)


def test_gradient_times_input_behind_the_norm_of_the_embeddings():
    model, tokenizer = FAMILIES["Bert"].build(labels=2), FAMILIES["Bert"].tokenizer()
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    layered = LayerGradientXActivation(lambda ids: positive(model(ids).logits), model.bert.embeddings)
    (attribution,) = EXPLAINERS["gradient-after-norm"](model, tokenizer, TEXTS[:1])
    expected = layered.attribute(ids)[0].sum(dim=-1).detach()
    torch.testing.assert_close(torch.tensor(attribution.scores), expected, **ONE_MODEL)
