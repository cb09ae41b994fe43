"""The pooled classifier: gradients in closed form, padding, gauge, and Hugging Face manners."""

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from glasshead.attention import ACTIVATIONS, SCORE_FUNCTIONS, AttentionPooling
from glasshead.models import ENCODERS, PooledClassifier, PooledConfig
from tolerances import EXACT_MATHS, ONE_MODEL


def classifier(seed=0, classes=2, **options):
    torch.manual_seed(seed)
    names = {index: f"label {index}" for index in range(classes)}
    defaults = {"vocab_size": 40, "embedding_size": 6, "hidden_size": 8, "head_dim": 5, "temperature": 2.0}
    config = PooledConfig(**defaults | options, id2label=names, label2id={v: k for k, v in names.items()})
    model = PooledClassifier(config).eval()
    with torch.no_grad():  # larger than at initialisation: attention is far from uniform
        for parameter in model.parameters():
            parameter.mul_(3)
    return model


def batch(seed=0, lengths=(7, 3, 1)):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, 40, (len(lengths), max(lengths)), generator=generator)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return ids * mask, mask


every_shape = pytest.mark.parametrize(
    ("encoder", "score", "activation", "classes"),
    [
        (list(ENCODERS)[(row + column) % len(ENCODERS)], score, activation, 2 + (row // 2 + column) % 2)
        for row, score in enumerate(SCORE_FUNCTIONS)
        for column, activation in enumerate(ACTIVATIONS)
    ],
)
"""Every score with every activation; encoders and numbers of classes go round."""


@every_shape
def test_padding_and_company_never_matter(encoder, score, activation, classes):
    model = classifier(encoder=encoder, score=score, activation=activation, classes=classes)
    ids, mask = batch()
    together = model(ids, mask, output_attentions=True)
    for row, length in enumerate(mask.sum(dim=1)):
        alone = model(ids[row : row + 1, :length], mask[row : row + 1, :length], output_attentions=True)
        torch.testing.assert_close(alone.logits[0], together.logits[row], **ONE_MODEL)
        torch.testing.assert_close(alone.weights[0], together.weights[row, :length], **ONE_MODEL)
    assert (together.weights[~mask] == 0).all()
    # What stands on padding is never read.
    other = torch.where(mask, ids, 17)
    torch.testing.assert_close(model(other, mask).logits, together.logits, **ONE_MODEL)


@every_shape
def test_the_logits_are_weights_times_polarity(encoder, score, activation, classes):
    model = classifier(encoder=encoder, score=score, activation=activation, classes=classes, value_dim=4)
    output = model(*batch(), output_attentions=True)
    z = torch.einsum("bn,bnk->bk", output.weights, output.polarity) + model.classifier.bias
    expected = torch.stack([torch.zeros(3), z[:, 0]], dim=1) if classes == 2 else z
    torch.testing.assert_close(output.logits, expected, **ONE_MODEL)
    assert output.attentions[0].shape == (3, 1, 1, 7)


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_a_masked_vector_that_is_no_number_reaches_no_output(activation):
    torch.manual_seed(0)
    pooling = AttentionPooling(6, score="context", activation=activation, temperature=1.0, head_dim=4)
    hidden, mask = torch.randn(2, 5, 6), torch.arange(5) < torch.tensor([[5], [3]])
    expected = pooling(hidden, mask).output
    poisoned = hidden.masked_fill(~mask[..., None], torch.nan).requires_grad_()
    output = pooling(poisoned, mask).output
    torch.testing.assert_close(output, expected, **ONE_MODEL)
    assert torch.autograd.grad(output.sum(), poisoned)[0].isfinite().all()


def test_an_empty_text_gets_the_bias_alone():
    for encoder in ENCODERS:
        model = classifier(encoder=encoder)
        output = model(torch.zeros(2, 3, dtype=torch.long), torch.zeros(2, 3), output_attentions=True)
        assert (output.weights == 0).all()
        torch.testing.assert_close(output.logits[:, 1], model.classifier.bias.expand(2))


def test_labels_reach_the_loss_and_nothing_else():
    model = classifier()
    ids, mask = batch()
    plain = model(ids, mask)
    for labels in (torch.tensor([0, 0, 0]), torch.tensor([1, 0, 1])):
        output = model(ids, mask, labels=labels)
        torch.testing.assert_close(output.logits, plain.logits, **ONE_MODEL)
        torch.testing.assert_close(output.loss, torch.nn.functional.cross_entropy(plain.logits, labels))
    assert plain.loss is None


def test_two_logits_are_the_sigmoid_and_its_loss():
    logits = classifier()(*batch()).logits
    z = logits[:, 1]
    torch.testing.assert_close(logits.softmax(dim=-1)[:, 1], torch.sigmoid(z))
    labels = torch.tensor([1, 0, 1])
    torch.testing.assert_close(
        torch.nn.functional.cross_entropy(logits, labels),
        torch.nn.functional.binary_cross_entropy_with_logits(z, labels.float()),
    )


@pytest.mark.parametrize("score", ["query-key", "context", "additive"])
def test_the_sign_of_tanhmax_is_a_gauge(score):
    """Negating the scores (through W_k, b_k or V) and the value map leaves every output as it was."""
    model = classifier(activation="tanhmax", score=score, value_dim=4)
    ids, mask = batch()
    before = model(ids, mask, output_attentions=True)
    with torch.no_grad():
        module = model.pooling.score.key if score == "query-key" else model.pooling.score.context
        for parameter in [*module.parameters(), *model.pooling.value.parameters()]:
            parameter.neg_()
    after = model(ids, mask, output_attentions=True)
    torch.testing.assert_close(after.logits, before.logits, **ONE_MODEL)
    torch.testing.assert_close(after.weights, -before.weights, **ONE_MODEL)
    torch.testing.assert_close(
        after.weights[..., None] * after.polarity, before.weights[..., None] * before.polarity
    )


def test_softmax_has_no_such_gauge():
    model = classifier(activation="softmax", value_dim=4)
    before = model(*batch()).logits
    with torch.no_grad():
        for parameter in [*model.pooling.score.context.parameters(), *model.pooling.value.parameters()]:
            parameter.neg_()
    assert (model(*batch()).logits - before).abs().max() > 1e-3


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_gradients_of_sun_and_lu_in_closed_form(y):
    """Eqs. 29, 36 and 40 for scaled dot-product attention, softmax, no bias, one instance."""
    scale = 3.0
    model = classifier(score="context", temperature=scale, bias=False).double()
    ids = torch.tensor([[7, 8, 9, 7]])
    embedded = model.embedding(ids).detach().requires_grad_()
    output = model(inputs_embeds=embedded, attention_mask=torch.ones(1, 4), output_attentions=True)
    label = torch.tensor([int(y > 0)])
    loss = torch.nn.functional.cross_entropy(output.logits, label)
    W, V = model.classifier.weight[0], model.pooling.score.context.weight[0]
    d_e, d_W, d_V = torch.autograd.grad(
        loss, [embedded, model.classifier.weight, model.pooling.score.context.weight]
    )
    e, a = embedded[0], output.weights[0]
    h = a @ e
    s = h @ W
    beta = torch.sigmoid(-y * s)
    torch.testing.assert_close(d_W[0], -y * beta * h, **EXACT_MATHS)
    identity = torch.eye(6, dtype=torch.float64)
    for i in range(4):
        expected = -y * beta * a[i] * (torch.outer(V, e[i] - h) / scale + identity) @ W
        torch.testing.assert_close(d_e[0, i], expected, **EXACT_MATHS)
    spread = sum(a[j] * torch.outer(e[j], e[j] - h) for j in range(4))
    torch.testing.assert_close(d_V[0], -y * beta / scale * spread @ W, **EXACT_MATHS)


def test_gradient_of_additive_attention_has_the_form_of_equation_66():
    """∂ℓ/∂e_i = −yβα_i [(Mᵀ D_i V)(e_i − h)ᵀ/λ + I] W with D_i = diag(1 − tanh² M e_i)."""
    scale = 2.0
    model = classifier(score="additive", temperature=scale, bias=False).double()
    ids = torch.tensor([[7, 8, 9]])
    embedded = model.embedding(ids).detach().requires_grad_()
    output = model(inputs_embeds=embedded, attention_mask=torch.ones(1, 3), output_attentions=True)
    (d_e,) = torch.autograd.grad(
        torch.nn.functional.cross_entropy(output.logits, torch.tensor([1])), embedded
    )
    W, V, M = (
        model.classifier.weight[0],
        model.pooling.score.context.weight[0],
        model.pooling.score.key.weight,
    )
    e, a = embedded[0], output.weights[0]
    h = a @ e
    beta = torch.sigmoid(-h @ W)
    for i in range(3):
        D = torch.diag(1 - torch.tanh(M @ e[i]) ** 2)
        expected = -beta * a[i] * (torch.outer(M.T @ D @ V, e[i] - h) / scale + torch.eye(6)) @ W
        torch.testing.assert_close(d_e[0, i], expected, **EXACT_MATHS)


def test_embeddings_begin_uniform_and_nothing_is_uninitialised(tmp_path):
    config = PooledConfig(vocab_size=5000, initializer_range=0.1, value_dim=9, encoder="lstm")
    torch.manual_seed(0)
    model = PooledClassifier(config)
    embedding = model.embedding.weight.detach()
    assert embedding.min() >= -0.1
    assert embedding.max() <= 0.1
    assert abs(float(embedding.std()) - 0.1 / 3**0.5) < 1e-3
    model.save_pretrained(tmp_path)
    again, info = AutoModelForSequenceClassification.from_pretrained(tmp_path, output_loading_info=True)
    assert isinstance(again, PooledClassifier)
    assert not info["missing_keys"]
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, dict(again.named_parameters())[name])


def test_padding_can_be_told_from_ids_but_not_from_vectors():
    model = classifier()
    ids, mask = batch()
    torch.testing.assert_close(model(ids).logits, model(ids, mask).logits)
    with pytest.raises(ValueError, match="attention_mask"):
        model(inputs_embeds=torch.zeros(1, 2, 6))
    with pytest.raises(ValueError, match="input_ids"):
        model()
