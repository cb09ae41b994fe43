"""DP-A: h_i = M e_i, a_i = h_iᵀV / λ, s_i = W h_i (Sun and Lu 2020, section D)."""

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.dynamics.forms.form import FORMS, ClosedForm, OutputGradients, Parameters, ScoreFlow, Tokens


def mapped_embeddings(p: Parameters) -> Tensor:
    """M, which this model has."""
    assert p.map is not None
    return p.map


class Affine(ClosedForm):
    """Scaled dot-product attention over an affine layer; V′ = MᵀV and W′ = W M."""

    name = "DP-A"
    title = "scaled dot-product attention over an affine layer"
    polarity_terms = {  # noqa: RUF012
        "A": "what the token's lead over its texts adds through V′ᵀW′",
        "B": "the token's own labels, times ‖W′‖²",
        "C": "the labels of texts with similar tokens (h_eᵀh_j), through W",
        "M, W": "the labels of texts with similar tokens (Ω), through M, times ‖W‖²",
        "M, V": "the leads of similar tokens (Ω), through M, times VᵀW",
    }
    score_terms = {  # noqa: RUF012
        "D": "the token's own labels, times V′ᵀW′",
        "E": "the token's lead over its texts, times ‖V′‖²",
        "F": "the leads of similar tokens (h_eᵀh_j), through V",
        "M, W": "the labels of texts with similar tokens (Ω), through M, times VᵀW",
        "M, V": "the leads of similar tokens (Ω), through M, times ‖V‖²",
    }

    def tokens(self, p: Parameters, scale: float) -> Tokens:
        """s_e = W M e and a_e = (M e)ᵀV / λ (eqs. 56–58)."""
        inner_v, inner_w = inner(p)
        return Tokens(p.embeddings @ inner_w.T, p.embeddings @ inner_v / scale)

    def couplings(self, p: Parameters) -> dict[str, Tensor]:
        """VᵀW and V′ᵀW′ = VᵀMMᵀW, which both move the scores (eq. 64)."""
        inner_v, inner_w = inner(p)
        return {"VᵀW": p.output @ p.context, "V′ᵀW′": inner_w @ inner_v}

    def pull(self, p: Parameters, scale: float) -> Tensor:
        """MᵀV / λ."""
        return (inner(p)[0] / scale).expand_as(p.embeddings)

    def descent(self, p: Parameters, scale: float, push: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) MᵀV/λ + MᵀWᵀπ(e) (eq. 59), −∂ℓ/∂V = Σ_j lead_j h_j / λ (eq. 60),
        −∂ℓ/∂M = Σ_j (V lead_j/λ + Wᵀpush_j) e_jᵀ (eq. 61)."""
        inner_v, inner_w = inner(p)
        leading, pushing = gathered_embeddings(p, push)
        return {
            "embeddings": torch.outer(push.own_lead, inner_v) / scale + push.own_push @ inner_w,
            "context": leading @ mapped_embeddings(p).T / scale,
            "output": pushing @ mapped_embeddings(p).T,
            "bias": push.own_push.sum(dim=0),
            "map": torch.outer(p.context, leading) / scale + p.output.T @ pushing,
        }

    def flow(self, p: Parameters, scale: float, push: OutputGradients) -> ScoreFlow:
        """Eqs. 63 and 64, term by term; Q is VᵀW, where eq. 63 prints V′ᵀW."""
        leading, pushing = gathered_embeddings(p, push)
        inner_v, inner_w = inner(p)
        alike = mapped_embeddings(p).T @ mapped_embeddings(p)  # h_eᵀh_j = eᵀ MᵀM e_j
        coupling = p.output @ p.context / scale
        own_coupling = inner_w @ inner_v / scale
        alike_push, alike_lead = p.embeddings @ pushing.T, p.embeddings @ leading  # [v, k], [v]
        return ScoreFlow(
            polarity={
                "A": torch.outer(push.own_lead, own_coupling),
                "B": push.own_push @ (inner_w @ inner_w.T),
                "C": p.embeddings @ (pushing @ alike).T,
                "M, W": alike_push @ (p.output @ p.output.T),
                "M, V": torch.outer(alike_lead, coupling),
            },
            score={
                "D": push.own_push @ own_coupling,
                "E": push.own_lead * (inner_v @ inner_v) / scale**2,
                "F": p.embeddings @ (leading @ alike) / scale**2,
                "M, W": alike_push @ coupling,
                "M, V": alike_lead * (p.context @ p.context) / scale**2,
            },
        )


def inner(p: Parameters) -> tuple[Float[Tensor, " d_e"], Float[Tensor, "k d_e"]]:
    """V′ = MᵀV and W′ = MᵀW: with them nothing has to be mapped token by token."""
    return p.context @ mapped_embeddings(p), p.output @ mapped_embeddings(p)


def gathered_embeddings(
    p: Parameters, push: OutputGradients
) -> tuple[Float[Tensor, " d_e"], Float[Tensor, "k d_e"]]:
    """Σ_j lead_j e_j and Σ_j push_j e_jᵀ, as sums over tokens."""
    return push.own_lead @ p.embeddings, push.own_push.T @ p.embeddings


FORMS.register("DP-A")(Affine())
