"""The models of the closed forms once more, as plain as can be, and random batches for them."""

import torch
from hypothesis import strategies as st

from glasshead.papers.dynamics.forms.form import FORMS, Batch, FormParameters
from tolerances import EXACT_MATHS

NAMES = tuple(FORMS)


def assert_exact(found, expected, msg=None):
    """Equal to 1e-10 relative; what cancels is as exact as what it is the rest of, the largest of them."""
    atol = EXACT_MATHS["atol"] * max(1.0, float(expected.detach().abs().max()))
    torch.testing.assert_close(found, expected, rtol=EXACT_MATHS["rtol"], atol=atol, msg=msg)


def random_parameters(name, *, classes=1, vocabulary=9, size=5, embedded=4, bias=True, seed=0):
    """Parameters in float64; ``classes`` 1 are the two of one score, and DP has no map."""
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    width = size if name == "DP-A" else embedded
    return FormParameters(
        embeddings=draw(vocabulary, embedded),
        context=draw(embedded if name == "DP" else size),
        output=draw(classes, width),
        map=None if name == "DP" else draw(size, embedded),
        bias=draw(classes) if bias else None,
    )


def random_batch(*, texts=6, length=7, vocabulary=9, classes=1, scale=2.0, loss_scale=1.0, seed=0):
    """Few words, so that they come again; padding anywhere, with a word under it that must not count."""
    rng = torch.Generator().manual_seed(1000 + seed)
    mask = torch.rand(texts, length, generator=rng) < 0.7
    mask[torch.arange(texts), torch.randint(length, (texts,), generator=rng)] = True
    return Batch(
        torch.randint(vocabulary, (texts, length), generator=rng),
        mask,
        torch.randint(max(2, classes), (texts,), generator=rng),
        scale,
        loss_scale,
    )


@st.composite
def cases(draw, name):
    """A model and a batch of any size."""
    classes = draw(st.sampled_from([1, 3, 4, 5]))
    vocabulary, seed = draw(st.integers(2, 9)), draw(st.integers(0, 10_000))
    p = random_parameters(
        name,
        classes=classes,
        vocabulary=vocabulary,
        size=draw(st.integers(1, 6)),
        embedded=draw(st.integers(1, 6)),
        bias=draw(st.booleans()),
        seed=seed,
    )
    batch = random_batch(
        texts=draw(st.integers(1, 7)),
        length=draw(st.integers(1, 8)),
        vocabulary=vocabulary,
        classes=classes,
        scale=draw(st.floats(0.3, 50.0)),
        loss_scale=draw(st.sampled_from([1.0, 0.5, 100.0])),
        seed=seed,
    )
    return p, batch


def mapped(name, p, e):
    """h of one embedding."""
    return p.map @ e if name == "DP-A" else e


def score_of(name, p, scale, e):
    """a of one embedding."""
    if name == "AD":
        return torch.tanh(p.map @ e) @ p.context / scale
    return mapped(name, p, e) @ p.context / scale


def polarity_of(name, p, e):
    """s of one embedding, a number for every class."""
    return torch.stack([w @ mapped(name, p, e) for w in p.output])


def texts_of(batch):
    """The ids of the real words of every text, and its class."""
    for ids, mask, label in zip(batch.ids.tolist(), batch.mask.tolist(), batch.labels.tolist(), strict=True):
        yield [word for word, real in zip(ids, mask, strict=True) if real], label


def loss_of(name, p, batch, score=score_of):
    """Mean over the texts of log(1 + e^(−ys)) of one score, −log p_k of more (eq. 74)."""
    losses = []
    for words, label in texts_of(batch):
        weights = torch.stack(
            [score(name, p, batch.temperature, p.embeddings[word]) for word in words]
        ).softmax(0)
        s = sum(a * polarity_of(name, p, p.embeddings[word]) for a, word in zip(weights, words, strict=True))
        s = s if p.bias is None else s + p.bias
        if len(s) == 1:
            losses.append(torch.log1p(torch.exp(-(1 if label else -1) * s[0])))
        else:
            losses.append(torch.logsumexp(s, 0) - s[label])
    return batch.loss_scale * sum(losses) / len(losses)


def autograd_gradients(name, p, batch, score=score_of):
    """∂ℓ/∂θ of every parameter."""
    leaves = {key: each.clone().requires_grad_() for key, each in p.leaves().items()}
    loss = loss_of(name, p.with_tensors(leaves), batch, score)
    return dict(
        zip(leaves, torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True), strict=True)
    )


def step(name, p, batch, rate, penalty=None):
    """The parameters after one step of plain SGD."""
    leaves = {key: each.clone().requires_grad_() for key, each in p.leaves().items()}
    optimizer = torch.optim.SGD(list(leaves.values()), lr=rate)
    loss = loss_of(name, p.with_tensors(leaves), batch)
    (loss if penalty is None else loss + penalty(p.with_tensors(leaves))).backward()
    optimizer.step()
    return p.with_tensors({key: each.detach() for key, each in leaves.items()})


def tokens_of(name, p, scale):
    """s_e [v, k] and a_e [v] of all words."""
    return (
        torch.stack([polarity_of(name, p, e) for e in p.embeddings]),
        torch.stack([score_of(name, p, scale, e) for e in p.embeddings]),
    )
