"""AD: x_i = M e_i, a_i = tanh(x_i)ᵀV / λ, s_i = W e_i (Sun and Lu 2020, section E).

Their eqs. 65 and 70 print tanh(x_iᵀV), which the gradients 66–68 contradict; this is what the gradients
belong to.
"""

import torch
from torch import Tensor

from glasshead.papers.dynamics.forms.affine import embedding_map
from glasshead.papers.dynamics.forms.form import (
    FORMS,
    ClosedForm,
    FormParameters,
    OutputGradients,
    ScoreFlow,
    TokenFunctions,
    weight_descent,
)


class Additive(ClosedForm):
    """Additive attention; D_e = Diag(1 − tanh² x_e), and U_e = MᵀD_eV / λ is what pulls a_e."""

    name = "AD"
    title = "additive attention over embeddings"
    polarity_terms = {  # noqa: RUF012
        "A": "the token's lead over its texts, through U_eᵀW",
        "B": "the token's own labels, times ‖W‖²",
        "C": "the labels of texts with similar tokens (Ω), through W",
    }
    score_terms = {  # noqa: RUF012
        "D": "the token's own labels, times U_eᵀW",
        "E": "the token's lead over its texts, times ‖U_e‖²",
        "F": "the leads of similar tokens (tanh x_e · tanh x_j), through V",
        "M": "the leads of similar tokens (Ω), through M, times VᵀD_eD_jV",
    }

    def tokens(self, p: FormParameters, temperature: float) -> TokenFunctions:
        """s_e = W e and a_e = tanh(M e)ᵀV / λ."""
        hidden = torch.tanh(p.embeddings @ embedding_map(p).T)
        return TokenFunctions(p.embeddings @ p.output.T, hidden @ p.context / temperature)

    def couplings(self, p: FormParameters) -> dict[str, Tensor]:
        """(MᵀV)ᵀW, which is λ U_eᵀW near tanh(x) = x (eq. 71)."""
        return {"V′ᵀW": p.output @ (p.context @ embedding_map(p))}

    def score_gradient(self, p: FormParameters, temperature: float) -> Tensor:
        """U_e = MᵀD_eV / λ of every token (from eq. 66)."""
        return tanh_slope(p, p.embeddings) @ embedding_map(p) / temperature

    def descent(self, p: FormParameters, temperature: float, grads: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) U_e + Wᵀπ(e) (eq. 66), −∂ℓ/∂V = Σ_e ε(e) tanh x_e / λ (eq. 67),
        −∂ℓ/∂M = Σ_e ε(e) D_eV eᵀ / λ (eq. 68).

        The paper subtracts the mean from the tanh, we from the s_j, which is the same:
        Σ_j α_j s_j (t_j − t̄) = Σ_j α_j (s_j − s) t_j.
        """
        hidden = torch.tanh(p.embeddings @ embedding_map(p).T)
        return weight_descent(grads, p.embeddings) | {
            "embeddings": grads.epsilon[:, None] * self.score_gradient(p, temperature) + grads.pi @ p.output,
            "context": grads.epsilon @ hidden / temperature,
            "map": (grads.epsilon[:, None] * tanh_slope(p, p.embeddings)).T @ p.embeddings / temperature,
        }

    def flow(self, p: FormParameters, temperature: float, grads: OutputGradients) -> ScoreFlow:
        """Eq. 69 and the exact form of eq. 70; the paper's eq. 71 is `linear_terms`."""
        descent = self.descent(p, temperature, grads)
        score_gradient = self.score_gradient(p, temperature)
        hidden = torch.tanh(p.embeddings @ embedding_map(p).T)
        coupling = score_gradient @ p.output.T  # U_eᵀW [v, k]
        slopes = tanh_slope(p, p.embeddings)
        through_map = (slopes * (p.embeddings @ descent["map"].T)).sum(dim=1) / temperature
        return ScoreFlow(
            polarity={
                "A": grads.epsilon[:, None] * coupling,
                "B": grads.pi @ (p.output @ p.output.T),
                "C": p.embeddings @ descent["output"].T,
            },
            score={
                "D": (grads.pi * coupling).sum(dim=1),
                "E": grads.epsilon * score_gradient.square().sum(dim=1),
                "F": hidden @ descent["context"] / temperature,
                "M": through_map,
            },
        )


def tanh_slope(p: FormParameters, embedded: Tensor) -> Tensor:
    """D V of every vector."""
    return (1 - torch.tanh(embedded @ embedding_map(p).T).square()) * p.context


def linear_terms(p: FormParameters, temperature: float, grads: OutputGradients) -> dict[str, Tensor]:
    """Eq. 71: the terms of da_e/dτ with tanh(x) ≈ x, by the names of the exact ones."""
    m = embedding_map(p)
    inner = p.context @ m  # MᵀV
    hidden = p.embeddings @ m.T
    return {
        "D": grads.pi @ (p.output @ inner) / temperature,
        "E": grads.epsilon * (inner @ inner) / temperature**2,
        "F": hidden @ (grads.epsilon @ hidden) / temperature**2,
        "M": p.embeddings @ (grads.epsilon @ p.embeddings) * (p.context @ p.context) / temperature**2,
    }


FORMS.register("AD")(Additive())
