"""DP-A: h_i = M e_i, a_i = h_iᵀV / λ, s_i = W h_i (Sun and Lu 2020, section D)."""

import torch
from torch import Tensor

from glasshead.dynamics.forms.form import FORMS, Flow, Form, Parameters, Push, Tokens, shared_descent


def mapped(p: Parameters) -> Tensor:
    """M, which this model has."""
    assert p.map is not None
    return p.map


class Affine(Form):
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
        hidden = p.embeddings @ mapped(p).T
        return Tokens(hidden @ p.output.T, hidden @ p.context / scale)

    def couplings(self, p: Parameters) -> dict[str, Tensor]:
        """VᵀW and V′ᵀW′ = VᵀMMᵀW, which both move the scores (eq. 64)."""
        return {"VᵀW": p.output @ p.context, "V′ᵀW′": (p.output @ mapped(p)) @ (p.context @ mapped(p))}

    def pull(self, p: Parameters, scale: float) -> Tensor:
        """MᵀV / λ."""
        return (p.context @ mapped(p) / scale).expand_as(p.embeddings)

    def descent(self, p: Parameters, scale: float, push: Push) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) MᵀV/λ + MᵀWᵀπ(e) (eq. 59), −∂ℓ/∂V = Σ_j lead_j h_j / λ (eq. 60),
        −∂ℓ/∂M = Σ_j (V lead_j/λ + Wᵀpush_j) e_jᵀ (eq. 61)."""
        hidden = p.embeddings @ mapped(p).T
        leading, pushing = push.own_lead @ p.embeddings, push.own_push.T @ p.embeddings
        at_hidden = torch.outer(push.own_lead, p.context) / scale + push.own_push @ p.output
        return shared_descent(push, hidden) | {
            "embeddings": at_hidden @ mapped(p),
            "context": push.own_lead @ hidden / scale,
            "map": torch.outer(p.context, leading) / scale + p.output.T @ pushing,
        }

    def flow(self, p: Parameters, scale: float, push: Push) -> Flow:
        """Eqs. 63 and 64, term by term; Q is VᵀW, where eq. 63 prints V′ᵀW."""
        moves = self.descent(p, scale, push)
        leading, pushing = push.own_lead @ p.embeddings, push.own_push.T @ p.embeddings
        hidden = p.embeddings @ mapped(p).T
        inner_v, inner_w = p.context @ mapped(p), p.output @ mapped(p)  # V′ [d_e], W′ [k, d_e]
        coupling = p.output @ p.context / scale
        own_coupling = inner_w @ inner_v / scale
        alike_push, alike_lead = p.embeddings @ pushing.T, p.embeddings @ leading  # [v, k], [v]
        return Flow(
            polarity={
                "A": torch.outer(push.own_lead, own_coupling),
                "B": push.own_push @ (inner_w @ inner_w.T),
                "C": hidden @ moves["output"].T,
                "M, W": alike_push @ (p.output @ p.output.T),
                "M, V": torch.outer(alike_lead, coupling),
            },
            score={
                "D": push.own_push @ own_coupling,
                "E": push.own_lead * (inner_v @ inner_v) / scale**2,
                "F": hidden @ moves["context"] / scale,
                "M, W": alike_push @ coupling,
                "M, V": alike_lead * (p.context @ p.context) / scale**2,
            },
        )


FORMS.register("DP-A")(Affine())
