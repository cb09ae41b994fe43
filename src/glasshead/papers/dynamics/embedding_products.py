"""Dot products Ω_ik = e_iᵀe_k of embeddings, by groups, and how they move (Sun and Lu 2020, section B)."""

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.papers.dynamics.forms.form import ClosedForm, FormParameters, OutputGradients
from glasshead.papers.dynamics.snapshots import BoxRow, CurveRow
from glasshead.papers.results import PRODUCT_RATE

SCORE_PART, POLARITY_PART = "A", "B"
Members = Mapping[str, NDArray[np.int64]]
"""The tokens of every group."""


class GradientFactors(NamedTuple):
    """x and y of all tokens: x_iᵀy_k is one part of −(∂ℓ/∂e_i)ᵀe_k, of what the move of e_i does to Ω_ik."""

    left: Float[Tensor, "v f"]
    right: Float[Tensor, "v f"]

    def rates(self, first: Int[Tensor, " i"], second: Int[Tensor, " k"]) -> Float[Tensor, "i k"]:
        """x_iᵀy_k between two lists of tokens."""
        return self.left[first] @ self.right[second].T


def gradient_factors(
    form: ClosedForm, p: FormParameters, temperature: float, grads: OutputGradients
) -> dict[str, GradientFactors]:
    """The parts of −(∂ℓ/∂e_i)ᵀe_k (eq. 44).

    A_ik = ε(e_i) (∂a_i/∂e_i)ᵀ e_k, which is ε(e_i) a_k where a is linear in e, and B_ik = π(e_i)ᵀ(∂s/∂e) e_k,
    which is π(e_i) s_k. The paper prints A_ik with one 1/λ too many: a_k has it already.
    """
    return {
        SCORE_PART: GradientFactors(
            grads.epsilon[:, None] * form.score_gradient(p, temperature), p.embeddings
        ),
        POLARITY_PART: GradientFactors(grads.pi, form.tokens(p, temperature).polarity),
    }


class ProductRates(NamedTuple):
    """The parts of dΩ_ik/dτ [i, k] (eqs. 43–44): A_ik + B_ik + A_ki + B_ki."""

    a_ik: Float[Tensor, "i k"]
    b_ik: Float[Tensor, "i k"]
    a_ki: Float[Tensor, "i k"]
    b_ki: Float[Tensor, "i k"]

    def total(self) -> Float[Tensor, "i k"]:
        """dΩ_ik/dτ (eq. 43)."""
        return sum(self, start=torch.zeros_like(self.a_ik))

    def approximate(self) -> Float[Tensor, "i k"]:
        """π(e_k) s_i + π(e_i) s_k, for large λ (eq. 46)."""
        return self.b_ik + self.b_ki


def rate_products(
    form: ClosedForm,
    p: FormParameters,
    temperature: float,
    grads: OutputGradients,
    first: Int[Tensor, " i"],
    second: Int[Tensor, " k"],
) -> ProductRates:
    """dΩ_ik/dτ between two lists of tokens, in its parts."""
    by_score, by_polarity = gradient_factors(form, p, temperature, grads).values()
    return ProductRates(
        by_score.rates(first, second),
        by_polarity.rates(first, second),
        by_score.rates(second, first).T,
        by_polarity.rates(second, first).T,
    )


def product_quartiles(name: str, vectors: Float[Tensor, "v d"], members: Members) -> list[BoxRow]:
    """Minimum, quartiles, maximum and mean of Ω between the tokens of every two groups; within a group each
    pair counts once, and no token with itself."""
    boxes: list[BoxRow] = []
    for first, second in combinations_with_replacement(members, 2):
        products = (vectors[members[first]] @ vectors[members[second]].T).numpy()
        if first == second:
            products = products[np.triu_indices(len(products), 1)]
        if products.size:
            quartiles = np.quantile(products, [0, 0.25, 0.5, 0.75, 1]).tolist()
            boxes.append((name, pair_name(first, second), *quartiles, float(products.mean()), products.size))
    return boxes


def mean_rates(parts: Mapping[str, GradientFactors], members: Members) -> list[CurveRow]:
    """The mean of x_iᵀy_k + x_kᵀy_i over the pairs of every two groups, for each part of dΩ_ik/dτ (eq. 43).

    The sums X and Y of a group's vectors are enough, Σ_ik x_iᵀy_k = XᵀY, and of a group with itself
    Σ_{i<k} (x_iᵀy_k + x_kᵀy_i) = XᵀY − Σ_i x_iᵀy_i.
    """
    curves: list[CurveRow] = []
    if not members:
        return curves
    for name, (left, right) in parts.items():
        vectors = {group: (left[ids].double(), right[ids].double()) for group, ids in members.items()}
        x, y = (torch.stack([pair[side].sum(dim=0) for pair in vectors.values()]) for side in (0, 1))
        sums = (x @ y.T).numpy()  # [groups, groups]
        diagonal = [float((x_ * y_).sum()) for x_, y_ in vectors.values()]
        for (one, first), (other, second) in combinations_with_replacement(enumerate(members), 2):
            n, m = len(members[first]), len(members[second])
            size = n * (n - 1) // 2 if first == second else n * m
            total = sums[one, one] - diagonal[one] if first == second else sums[one, other] + sums[other, one]
            if size:
                pair = pair_name(first, second)
                curves.append((PRODUCT_RATE + name, pair, float(total) / size, float("nan"), size))
    return curves


def pair_name(first: str, second: str) -> str:
    """What a pair of groups is called."""
    return f"{first} × {second}"
