"""AD: x_i = M e_i, a_i = tanh(x_i)ᵀV / λ, s_i = W e_i (Sun and Lu 2020, section E).

Their eqs. 65 and 70 print tanh(x_iᵀV), which the gradients 66–68 contradict; this is what the gradients
belong to.
"""

import torch
from torch import Tensor

from glasshead.dynamics.forms.affine import mapped_embeddings
from glasshead.dynamics.forms.form import (
    FORMS,
    ClosedForm,
    OutputGradients,
    Parameters,
    ScoreFlow,
    Tokens,
    shared_descent,
)


class Additive(ClosedForm):
    """Additive attention; D_e = Diag(1 − tanh² x_e), and U_e = MᵀD_eV / λ is what pulls a_e."""

    name = "AD"
    title = "additive attention over embeddings"
    polarity_terms = {  # noqa: RUF012
        "A": "what the token's lead over its texts adds through U_eᵀW",
        "B": "the token's own labels, times ‖W‖²",
        "C": "the labels of texts with similar tokens (Ω), through W",
    }
    score_terms = {  # noqa: RUF012
        "D": "the token's own labels, times U_eᵀW",
        "E": "the token's lead over its texts, times ‖U_e‖²",
        "F": "the leads of similar tokens (tanh x_e · tanh x_j), through V",
        "M": "the leads of similar tokens (Ω), through M, times VᵀD_eD_jV",
    }

    def tokens(self, p: Parameters, scale: float) -> Tokens:
        """s_e = W e and a_e = tanh(M e)ᵀV / λ."""
        hidden = torch.tanh(p.embeddings @ mapped_embeddings(p).T)
        return Tokens(p.embeddings @ p.output.T, hidden @ p.context / scale)

    def couplings(self, p: Parameters) -> dict[str, Tensor]:
        """(MᵀV)ᵀW, which is λ U_eᵀW near tanh(x) = x (eq. 71)."""
        return {"V′ᵀW": p.output @ (p.context @ mapped_embeddings(p))}

    def pull(self, p: Parameters, scale: float) -> Tensor:
        """U_e = MᵀD_eV / λ of every token (from eq. 66)."""
        return tanh_slope(p, p.embeddings) @ mapped_embeddings(p) / scale

    def descent(self, p: Parameters, scale: float, push: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) U_e + Wᵀπ(e) (eq. 66), −∂ℓ/∂V = Σ_j lead_j tanh x_j / λ (eq. 67),
        −∂ℓ/∂M = Σ_j lead_j D_jV e_jᵀ / λ (eq. 68).

        The paper subtracts the mean from the tanh, we from the s_j, which is the same:
        Σ_j α_j s_j (t_j − t̄) = Σ_j α_j (s_j − s) t_j.
        """
        hidden = torch.tanh(p.embeddings @ mapped_embeddings(p).T)
        return shared_descent(push, p.embeddings) | {
            "embeddings": push.own_lead[:, None] * self.pull(p, scale) + push.own_push @ p.output,
            "context": push.own_lead @ hidden / scale,
            "map": (push.own_lead[:, None] * tanh_slope(p, p.embeddings)).T @ p.embeddings / scale,
        }

    def flow(self, p: Parameters, scale: float, push: OutputGradients) -> ScoreFlow:
        """Eq. 69 and the exact form of eq. 70; the paper's eq. 71 is `linearised`."""
        moves = self.descent(p, scale, push)
        pull = self.pull(p, scale)
        hidden = torch.tanh(p.embeddings @ mapped_embeddings(p).T)
        coupling = pull @ p.output.T  # U_eᵀW [v, k]
        through_map = (tanh_slope(p, p.embeddings) * (p.embeddings @ moves["map"].T)).sum(dim=1) / scale
        return ScoreFlow(
            polarity={
                "A": push.own_lead[:, None] * coupling,
                "B": push.own_push @ (p.output @ p.output.T),
                "C": p.embeddings @ moves["output"].T,
            },
            score={
                "D": (push.own_push * coupling).sum(dim=1),
                "E": push.own_lead * pull.square().sum(dim=1),
                "F": hidden @ moves["context"] / scale,
                "M": through_map,
            },
        )


def tanh_slope(p: Parameters, embedded: Tensor) -> Tensor:
    """D V of every vector."""
    return (1 - torch.tanh(embedded @ mapped_embeddings(p).T).square()) * p.context


def linearised(p: Parameters, scale: float, push: OutputGradients) -> dict[str, Tensor]:
    """Eq. 71: the terms of da_e/dτ with tanh(x) ≈ x, by the names of the exact ones."""
    m = mapped_embeddings(p)
    inner = p.context @ m  # MᵀV
    hidden = p.embeddings @ m.T
    return {
        "D": push.own_push @ (p.output @ inner) / scale,
        "E": push.own_lead * (inner @ inner) / scale**2,
        "F": hidden @ (push.own_lead @ hidden) / scale**2,
        "M": p.embeddings @ (push.own_lead @ p.embeddings) * (p.context @ p.context) / scale**2,
    }


FORMS.register("AD")(Additive())
