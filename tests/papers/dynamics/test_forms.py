"""Every gradient in closed form is that of autograd, of the trained model, and of the paper's equations."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import outer, tanh
from written_out import (
    NAMES,
    assert_exact,
    autograd_gradients,
    cases,
    loss_of,
    random_batch,
    random_parameters,
    texts_of,
    tokens_of,
)

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.papers.dynamics.forms.form import FORMS, Batch, form_gradients, output_gradients
from glasshead.papers.dynamics.forms.select import form_of, no_closed_form_reason, read_parameters
from glasshead.training.trainer import make_scaled_loss
from small import TEXTS, random_model, tokenizer


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name in expected:
        assert_exact(found[name], expected[name], msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_autograd(name, data):
    p, batch = data.draw(cases(name))
    found = form_gradients(FORMS[name], p, batch)
    expected = autograd_gradients(name, p, batch)
    assert_same({key: found[key] for key in expected}, expected)
    assert set(found) - set(expected) <= {"bias"}  # told also where the model has none


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_scores_and_pushes(name, data):
    """Tokens by loops, π and ε as sums of a token's places, and the lead as ∂ℓ/∂a."""
    p, batch = data.draw(cases(name))
    polarity, score = tokens_of(name, p, batch.temperature)
    tokens = FORMS[name].tokens(p, batch.temperature)
    assert_exact(tokens.polarity, polarity)
    assert_exact(tokens.score, score)
    grads = output_gradients(FORMS[name], p, batch)
    assert not grads.by_polarity[~batch.mask].any()
    assert not grads.by_score[~batch.mask].any()
    for word in range(len(p.embeddings)):
        places = (batch.ids == word) & batch.mask
        assert_exact(grads.pi[word], grads.by_polarity[places].sum(dim=0))
        assert_exact(grads.epsilon[word], grads.by_score[places].sum())
    added = torch.zeros(batch.ids.shape, dtype=torch.float64, requires_grad=True)
    weights = (score[batch.ids] + added).masked_fill(~batch.mask, -torch.inf).softmax(dim=1)
    s = torch.einsum("mn,mnk->mk", weights, polarity[batch.ids])
    logits = s if p.bias is None else s + p.bias
    logits = torch.cat([torch.zeros_like(logits), logits], dim=1) if logits.shape[1] == 1 else logits
    (by_autograd,) = torch.autograd.grad(
        batch.loss_scale * torch.nn.functional.cross_entropy(logits, batch.labels), added
    )
    assert_exact(grads.by_score, -by_autograd)
    assert_exact(grads.weights, weights.detach())


@pytest.mark.parametrize("name", NAMES)
def test_the_pull_and_the_couplings(name):
    p = random_parameters(name, classes=3)
    form, scale = FORMS[name], 3.0
    embeddings = p.embeddings.clone().requires_grad_()
    score = tokens_of(name, p.with_tensors({"embeddings": embeddings}), scale)[1]
    (pull,) = torch.autograd.grad(score.sum(), embeddings)
    assert_exact(form.score_gradient(p, scale), pull)
    context = p.context if p.map is None else p.map.T @ p.context
    output = p.output @ p.map if name == "DP-A" else p.output
    expected = {("V′ᵀW" if name == "AD" else "V′ᵀW′" if name == "DP-A" else "VᵀW"): output @ context}
    if name == "DP-A":
        expected = {"VᵀW": p.output @ p.context} | expected
    assert_same(form.couplings(p), expected)


def test_two_scores_that_mirror_each_other_are_one():
    """W_1 = −W_0 with K = 2 rows is one row of 2 W_1: K classes differ from two in δ alone."""
    one = random_parameters("DP", classes=1, bias=False)
    two = one.with_tensors({"output": torch.cat([-one.output, one.output]) / 2})
    batch = random_batch()
    found, expected = (form_gradients(FORMS["DP"], p, batch) for p in (two, one))
    for name in ("embeddings", "context"):
        assert_exact(found[name], expected[name])
    assert_exact(found["output"], torch.cat([-expected["output"], expected["output"]]))


def test_an_empty_text_has_no_weights():
    batch = random_batch()
    batch.mask[2] = False
    with pytest.raises(ValueError, match="an empty text has no attention weights"):
        form_gradients(FORMS["DP"], random_parameters("DP"), batch)


class TestEquationsAsPrinted:
    """Sun and Lu (2020) with loops over texts and places, in the letters of the paper."""

    @staticmethod
    def make_record(name, p, batch):
        """Of every text: words, e_j, h_j, x_j, α_j, s_j, s, h, and yβ (two classes) or −p̂ (K)."""
        for words, label in texts_of(batch):
            e = p.embeddings[words]
            x = e if p.map is None else e @ p.map.T
            h_j = x if name == "DP-A" else e
            alpha = ((tanh(x) if name == "AD" else x) @ p.context / batch.temperature).softmax(dim=0)
            h = alpha @ h_j
            if len(p.output) == 1:
                W = p.output[0]
                y = 1 if label else -1
                yb = y * torch.sigmoid(-y * (h @ W + p.bias[0]))
                yield words, e, h_j, x, alpha, h_j @ W, h @ W, h, yb
            else:
                p_hat = (p.output @ h + p.bias).softmax(dim=0)
                p_hat[label] -= 1  # eq. 75
                yield words, e, h_j, x, alpha, h_j @ p.output.T, p.output @ h, h, p_hat

    @pytest.fixture(params=range(3))
    def seed(self, request):
        return request.param

    def test_dot_product(self, seed):
        """Eqs. 29, 36–37, 40–41, 42."""
        p, batch = random_parameters("DP", seed=seed), random_batch(seed=seed, scale=1.5 + seed)
        W, V, m, scale = p.output[0], p.context, len(batch.ids), batch.temperature
        d_W, d_V, also_d_V = (torch.zeros(4, dtype=torch.float64) for _ in range(3))
        d_e, also_d_e = torch.zeros_like(p.embeddings), torch.zeros_like(p.embeddings)
        for words, e, _, _, alpha, s_j, s, h, yb in self.make_record("DP", p, batch):
            d_W -= yb * h / m  # 29
            for j, word in enumerate(words):
                d_e[word] -= yb * alpha[j] * (outer(V, e[j] - h) / scale + torch.eye(4)) @ W / m  # 37
                also_d_e[word] -= yb * alpha[j] * ((s_j[j] - s) / scale * V + W) / m  # 42
                d_V -= yb / scale * alpha[j] * outer(e[j] - h, e[j]) @ W / m  # 40
                also_d_V -= yb * alpha[j] * e[j] * (s_j[j] - s) / (m * scale)  # 41
        found = form_gradients(FORMS["DP"], p, batch)
        assert_exact(found["output"][0], d_W)
        for expected in (d_e, also_d_e):
            assert_exact(found["embeddings"], expected)
        for expected in (d_V, also_d_V):
            assert_exact(found["context"], expected)

    def test_affine(self, seed):
        """Eqs. 59, 60, 61."""
        p, batch = random_parameters("DP-A", seed=seed), random_batch(seed=seed, scale=1.5 + seed)
        W, V, M, m, scale = p.output[0], p.context, p.map, len(batch.ids), batch.temperature
        d_e, d_V, d_M = (torch.zeros_like(each) for each in (p.embeddings, V, M))
        for words, e, h_j, _, alpha, s_j, s, _, yb in self.make_record("DP-A", p, batch):
            for j, word in enumerate(words):
                d_e[word] -= yb * alpha[j] * ((s_j[j] - s) * M.T @ V / scale + M.T @ W) / m
                d_V -= yb * alpha[j] * (s_j[j] - s) * h_j[j] / scale / m
                d_M -= yb * alpha[j] * ((s_j[j] - s) * outer(V, e[j]) / scale + outer(W, e[j])) / m
        found = form_gradients(FORMS["DP-A"], p, batch)
        assert_exact(found["embeddings"], d_e)
        assert_exact(found["context"], d_V)
        assert_exact(found["map"], d_M)

    def test_additive(self, seed):
        """Eqs. 66, 67, 68."""
        p, batch = random_parameters("AD", seed=seed), random_batch(seed=seed, scale=1.5 + seed)
        W, V, M, m, scale = p.output[0], p.context, p.map, len(batch.ids), batch.temperature
        d_e, d_V, d_M = (torch.zeros_like(each) for each in (p.embeddings, V, M))
        for words, e, _, x, alpha, s_j, _, h, yb in self.make_record("AD", p, batch):
            D = [torch.diag(1 - tanh(each) ** 2) for each in x]
            mean = sum(a * tanh(each) for a, each in zip(alpha, x, strict=True))
            mean_M = sum(a * outer(e[i], V) @ D[i] for i, a in enumerate(alpha))
            for j, word in enumerate(words):
                d_e[word] -= yb * alpha[j] * (outer(M.T @ D[j] @ V, e[j] - h) / scale + torch.eye(4)) @ W / m
                d_V -= yb / scale * alpha[j] * s_j[j] * (tanh(x[j]) - mean) / m
                d_M -= yb / scale * alpha[j] * s_j[j] * (outer(e[j], V) @ D[j] - mean_M).T / m
        found = form_gradients(FORMS["AD"], p, batch)
        assert_exact(found["embeddings"], d_e)
        assert_exact(found["context"], d_V)
        assert_exact(found["map"], d_M)

    def test_more_classes(self, seed):
        """Eqs. 75–80, in which W^h is [d, K], our W transposed."""
        p = random_parameters("DP", classes=3 + seed, seed=seed)
        batch = random_batch(classes=3 + seed, seed=seed, scale=1.5 + seed)
        W, V, m, scale = p.output.T, p.context, len(batch.ids), batch.temperature
        d_e, d_V, also_d_V, d_W = (torch.zeros_like(each) for each in (p.embeddings, V, V, W))
        residuals = []
        for words, e, _, _, alpha, s_j, s, h, p_hat in self.make_record("DP", p, batch):
            residuals.append(p_hat)  # 76
            d_W += outer(h, p_hat) / m  # 77, 79
            for j, word in enumerate(words):
                d_e[word] += alpha[j] * (outer(V, e[j] - h) / scale + torch.eye(4)) @ W @ p_hat / m  # 78
                d_V += alpha[j] * e[j] * ((e[j] - h) @ W @ p_hat) / (m * scale)  # 80
                also_d_V += alpha[j] * e[j] * ((s_j[j] - s) @ p_hat) / (m * scale)  # 80
        found = form_gradients(FORMS["DP"], p, batch)
        assert_exact(output_gradients(FORMS["DP"], p, batch).residual, torch.stack(residuals))
        assert_exact(found["output"].T, d_W)
        assert_exact(found["embeddings"], d_e)
        for expected in (d_V, also_d_V):
            assert_exact(found["context"], expected)


KINDS = {"DP": ("context", "none"), "DP-A": ("context", "affine"), "AD": ("additive", "none")}


def encoded(classes):
    """The texts of `small` that are not empty, as a batch of the model's inputs."""
    texts = encode(tokenizer(), [text for text in TEXTS if text])
    return texts.ids, texts.mask, torch.arange(len(texts.ids)) % classes


class TestTheTrainedModel:
    """`PooledClassifier` with the loss of the training."""

    @pytest.mark.parametrize("loss_scale", [1.0, 100.0])
    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("classes", [2, 4])
    @pytest.mark.parametrize("name", NAMES)
    def test_its_gradients(self, name, classes, bias, loss_scale):
        score, encoder = KINDS[name]
        model = random_model(
            classes=classes, score=score, encoder=encoder, bias=bias, temperature=2.5, dropout=0.5
        ).double()
        ids, mask, labels = encoded(classes)
        assert form_of(model).name == name
        batch = Batch(ids, mask.bool(), labels, model.config.temperature, loss_scale)
        make_scaled_loss(loss_scale, rated=False)(model(ids, mask), labels).backward()
        p = read_parameters(model)
        found = form_gradients(form_of(model), p, batch)
        expected = read_parameters(model, read=lambda parameter: parameter.grad).leaves()
        there = ({"bias"} if bias else set()) | ({"map"} if name != "DP" else set())
        assert expected.keys() == {"embeddings", "context", "output"} | there
        assert_same({key: found[key] for key in expected}, expected)
        assert not found["embeddings"][model.config.pad_token_id].any()
        counted = sum(each.numel() for each in p.leaves().values())
        assert counted == sum(each.numel() for each in model.parameters())  # no parameter is left out

    @pytest.mark.parametrize("name", NAMES)
    def test_its_scores_polarities_and_weights(self, name):
        score, encoder = KINDS[name]
        model = random_model(classes=3, score=score, encoder=encoder, temperature=2.5).double()
        ids, mask, labels = encoded(3)
        output = model(ids, mask, output_attentions=True)
        p = read_parameters(model)
        tokens = form_of(model).tokens(p, 2.5)
        real = mask.bool()
        assert_exact(tokens.score[ids][real], output.scores[real])
        assert_exact(tokens.polarity[ids][real], output.polarity[real])
        grads = output_gradients(form_of(model), p, Batch(ids, real, labels, 2.5))
        assert_exact(grads.weights, output.weights)

    def test_parameters_are_copies(self):
        model = random_model()
        p = read_parameters(model)
        assert not any(each.requires_grad for each in p.leaves().values())
        assert {each.dtype for each in p.leaves().values()} == {torch.float64}

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"score": "query-key"}, "no closed form is known for the score query-key over the encoder none"),
            ({"encoder": "lstm"}, "no closed form is known for the score context over the encoder lstm"),
            ({"score": "additive", "encoder": "affine"}, "the score additive over the encoder affine"),
            ({"activation": "tanhmax"}, "closed forms are known for softmax, not for tanhmax"),
            ({"value_dim": 3}, "only if the vectors themselves are the values"),
        ],
    )
    def test_models_without_one(self, options, reason):
        model = random_model(**options)
        assert reason in no_closed_form_reason(model)
        with pytest.raises(InputError, match="are recorded anyway"):
            form_of(model)

    def test_ratings_have_none(self):
        model = PooledClassifier(PooledConfig(vocab_size=5, problem_type="regression", num_labels=1))
        assert "not for ratings" in no_closed_form_reason(model)


def test_the_loss_written_out_is_that_of_the_training():
    """What the other tests of this room rest on."""
    for classes in (1, 4):
        p, batch = random_parameters("DP", classes=classes), random_batch(classes=classes, loss_scale=3.0)
        polarity, score = tokens_of("DP", p, batch.temperature)
        weights = score[batch.ids].masked_fill(~batch.mask, -torch.inf).softmax(dim=1)
        outputs = torch.einsum("mn,mnk->mk", weights, polarity[batch.ids]) + p.bias
        logits = torch.cat([torch.zeros_like(outputs), outputs], dim=1) if classes == 1 else outputs
        expected = make_scaled_loss(3.0, rated=False)({"logits": logits}, batch.labels)
        assert_exact(loss_of("DP", p, batch), expected)
