"""The flow of scores of any parameters: exact, and by the approximations of Sun and Lu (2020)."""

import torch

from glasshead.papers.dynamics import (
    FORMS,
    Batch,
    FormParameters,
    linear_terms,
    output_gradients,
    rate_products,
    score_flow,
)

rng = torch.Generator().manual_seed(0)


def draw(*shape):
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


tokens, size = 20, 8
dot = FormParameters(embeddings=draw(tokens, size), context=draw(size), output=draw(1, size))
texts = torch.randint(tokens, (6, 10), generator=rng)
everything = torch.arange(tokens)


def missing(approximate, exact):
    return f"{float((approximate - exact).norm() / exact.norm()):.3f}"


print("left out by   eq. 46  eq. 47")
for scale in (1.0, 10.0, 100.0):
    batch = Batch(texts, torch.ones(6, 10, dtype=torch.bool), texts[:, 0] % 2, scale)
    rates = rate_products(
        FORMS["DP"], dot, scale, output_gradients(FORMS["DP"], dot, batch), everything, everything
    )
    flow = score_flow(FORMS["DP"], dot, batch)
    without_a = flow.polarity["B"] + flow.polarity["C"]
    print(
        f"λ = {scale:<9g} {missing(rates.approximate(), rates.total())}   "
        f"{missing(without_a, flow.total().polarity)}"
    )

print("\nleft out by   eq. 71")
for stretch in (1.0, 0.1):
    additive = FormParameters(dot.embeddings, dot.context, dot.output, map=stretch * torch.eye(size).double())
    linear = linear_terms(additive, scale, output_gradients(FORMS["AD"], additive, batch))
    exact = score_flow(FORMS["AD"], additive, batch).total().score
    print(f"M = {stretch:g} I".ljust(13) + f" {missing(sum(linear.values()), exact)}")
