"""How dot products of embeddings move: by autograd, by measured steps, by eq. 44 and by its limit."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from written_out import (
    NAMES,
    assert_exact,
    autograd_gradients,
    cases,
    random_batch,
    random_parameters,
    step,
    texts_of,
)

from glasshead.papers.dynamics.embedding_products import (
    GradientFactors,
    gradient_factors,
    mean_rates,
    product_quartiles,
    rate_products,
)
from glasshead.papers.dynamics.forms.form import FORMS, output_gradients


def rates_of(name, p, batch, first=None, second=None):
    everything = torch.arange(len(p.embeddings))
    first, second = (everything if each is None else each for each in (first, second))
    return rate_products(
        FORMS[name], p, batch.temperature, output_gradients(FORMS[name], p, batch), first, second
    )


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_equation_43_with_the_gradients_of_autograd(name, data):
    p, batch = data.draw(cases(name))
    first = torch.tensor(data.draw(st.lists(st.integers(0, len(p.embeddings) - 1), min_size=1, max_size=5)))
    second = torch.tensor(data.draw(st.lists(st.integers(0, len(p.embeddings) - 1), min_size=1, max_size=5)))
    d_e, e = autograd_gradients(name, p, batch)["embeddings"], p.embeddings
    rates = rates_of(name, p, batch, first, second)
    expected = -d_e[first] @ e[second].T - e[first] @ d_e[second].T
    assert_exact(rates.total(), expected)
    ahead = rates.a_ik + rates.b_ik
    assert_exact(ahead, -d_e[first] @ e[second].T)


@pytest.mark.parametrize("name", NAMES)
def test_measured_changes_of_sgd(name):
    p, batch = random_parameters(name, classes=3), random_batch(classes=3)
    before, total = p.embeddings @ p.embeddings.T, rates_of(name, p, batch).total()
    assert_exact(total, total.T)
    errors = []
    for rate in (2.0**-8, 2.0**-9, 2.0**-10):
        after = step(name, p, batch, rate).embeddings
        errors.append(float(((after @ after.T - before) / rate - total).abs().max()))
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.01)
    assert errors[2] / errors[1] == pytest.approx(0.5, abs=0.01)
    assert errors[2] < 0.01 * float(total.abs().max())


@pytest.mark.parametrize("name", ["DP", "DP-A"])
def test_the_parts_by_loops(name):
    """A_ik = (1/m) Σ yβα (s_i − s) a_k and B_ik = (1/m) Σ yβα s_k; eq. 44 prints A_ik with 1/λ once more."""
    p, batch = random_parameters(name), random_batch(scale=3.0)
    form, m = FORMS[name], len(batch.ids)
    tokens = form.tokens(p, batch.temperature)
    s, a = tokens.polarity[:, 0], tokens.score
    size = len(s)
    A, B = torch.zeros(size, size, dtype=torch.float64), torch.zeros(size, size, dtype=torch.float64)
    for words, label in texts_of(batch):
        alpha = a[words].softmax(dim=0)
        y = 1 if label else -1
        text = alpha @ s[words]
        beta = torch.sigmoid(-y * (text + p.bias[0]))
        for j, i in enumerate(words):
            for k in range(size):
                A[i, k] += y * beta * alpha[j] * (s[i] - text) * a[k] / m
                B[i, k] += y * beta * alpha[j] * s[k] / m
    rates = rates_of(name, p, batch)
    assert_exact(rates.a_ik, A)
    assert_exact(rates.b_ik, B)
    assert_exact(rates.a_ki, A.T)
    assert_exact(rates.b_ki, B.T)
    assert_exact(rates.approximate(), B + B.T)


@pytest.mark.parametrize("name", NAMES)
def test_equation_46_is_the_limit_of_large_scales(name):
    """What it leaves out shrinks like 1/λ, and what it keeps does not."""
    p = random_parameters(name)
    scales = [2.0**power for power in range(7, 14)]
    missing = []
    for scale in scales:
        rates = rates_of(name, p, random_batch(scale=scale))
        missing.append(float((rates.total() - rates.approximate()).abs().max()))
        assert rates.approximate().abs().max() > 0.1
    assert np.polyfit(np.log(scales), np.log(missing), 1)[0] == pytest.approx(-1, abs=0.05)
    assert missing[-1] < 1e-3
    rates = rates_of(name, p, random_batch(scale=1.0))
    assert (rates.total() - rates.approximate()).abs().max() > 0.02 * rates.total().abs().max()


MEMBERS = {"first": np.array([5, 7, 8]), "second": np.array([2, 6]), "lonely": np.array([3])}
PAIRS = {
    "first × first": [(5, 7), (5, 8), (7, 8)],
    "first × second": [(i, k) for i in (5, 7, 8) for k in (2, 6)],
    "first × lonely": [(i, 3) for i in (5, 7, 8)],
    "second × second": [(2, 6)],
    "second × lonely": [(2, 3), (6, 3)],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("classes", [2, 3])
def test_means_over_pairs_of_groups_by_loops(name, classes):
    """With a part of its own for what penalises the embeddings: here Σe⁴, whose −∂/∂e is −4e³."""
    p, batch = random_parameters(name, classes=classes), random_batch(classes=classes)
    e = p.embeddings
    grads = output_gradients(FORMS[name], p, batch)
    parts = gradient_factors(FORMS[name], p, batch.temperature, grads) | {"R": GradientFactors(-4 * e**3, e)}
    found = {(quantity, pair): (mean, n) for quantity, pair, mean, _, n in mean_rates(parts, MEMBERS)}
    rates = rates_of(name, p, batch)
    slow = {
        "Ω A": rates.a_ik + rates.a_ki,
        "Ω B": rates.approximate(),
        "Ω R": -4 * (e**3 @ e.T + e @ e.T**3),
    }
    expected = {
        (part, pair): (float(np.mean([values[i, k] for i, k in pairs])), len(pairs))
        for part, values in slow.items()
        for pair, pairs in PAIRS.items()
    }
    assert set(found) == set(expected)
    for key, (mean, n) in expected.items():
        assert found[key] == (pytest.approx(mean, rel=1e-10, abs=1e-12), n), key
    descent = autograd_gradients(name, p, batch)["embeddings"].neg() - 4 * e**3
    total = descent @ e.T + e @ descent.T
    for pair, pairs in PAIRS.items():
        whole = np.mean([total[i, k] for i, k in pairs])
        assert sum(found[part, pair][0] for part in slow) == pytest.approx(whole, rel=1e-10, abs=1e-12)


def test_without_groups_there_are_no_pairs():
    p, batch = random_parameters("DP"), random_batch()
    parts = gradient_factors(FORMS["DP"], p, batch.temperature, output_gradients(FORMS["DP"], p, batch))
    assert mean_rates(parts, {}) == product_quartiles("e", p.embeddings, {}) == []


def test_boxes_by_loops():
    e = random_parameters("DP").embeddings
    found = {row[1]: row[2:] for row in product_quartiles("e", e, MEMBERS)}
    assert set(found) == set(PAIRS)
    for pair, pairs in PAIRS.items():
        products = [float(e[i] @ e[k]) for i, k in pairs]
        *quartiles, mean, n = found[pair]
        assert quartiles == pytest.approx(np.quantile(products, [0, 0.25, 0.5, 0.75, 1]))
        assert (mean, n) == (pytest.approx(np.mean(products)), len(pairs))
