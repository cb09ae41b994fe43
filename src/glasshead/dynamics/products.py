"""Embedding dot products Ω_ik = e_iᵀe_k and how they move (Sun and Lu 2020, section B)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.dynamics.forms import Batch, Form, Parameters, Push


class ProductRates(NamedTuple):
    """The parts of dΩ_ik/dτ [i, k] (eqs. 43–44): A_ik + B_ik + A_ki + B_ki."""

    lead_first: Float[Tensor, "i k"]
    push_first: Float[Tensor, "i k"]
    lead_second: Float[Tensor, "i k"]
    push_second: Float[Tensor, "i k"]

    def total(self) -> Float[Tensor, "i k"]:
        """dΩ_ik/dτ (eq. 43)."""
        return sum(self, start=torch.zeros_like(self.lead_first))

    def approximate(self) -> Float[Tensor, "i k"]:
        """π(e_k) s_i + π(e_i) s_k, for large λ (eq. 46)."""
        return self.push_first + self.push_second


def product_rates(
    form: Form, p: Parameters, batch: Batch, push: Push, first: Int[Tensor, " i"], second: Int[Tensor, " k"]
) -> ProductRates:
    """dΩ_ik/dτ between two lists of tokens.

    A_ik = ε(e_i) (∂a_i/∂e_i)ᵀ e_k, which is ε(e_i) a_k where a is linear in e, and B_ik = π(e_i)ᵀ(∂s/∂e) e_k,
    which is π(e_i) s_k (eq. 44, whose A_ik is printed with one 1/λ too many: a_k has it already).
    """
    tokens, pull = form.tokens(p, batch.scale), form.pull(p, batch.scale)

    def parts(of: Tensor, with_: Tensor) -> tuple[Tensor, Tensor]:
        lead = push.own_lead[of, None] * (pull[of] @ p.embeddings[with_].T)
        return lead, push.own_push[of] @ tokens.polarity[with_].T

    lead_first, push_first = parts(first, second)
    lead_second, push_second = parts(second, first)
    return ProductRates(lead_first, push_first, lead_second.T, push_second.T)
