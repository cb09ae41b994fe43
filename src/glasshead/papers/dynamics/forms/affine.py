"""DP-A: h_i = M e_i, a_i = h_iᵀV / λ, s_i = W h_i (Sun and Lu 2020, section D)."""

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.papers.dynamics.forms.form import (
    FORMS,
    ClosedForm,
    FormParameters,
    OutputGradients,
    ScoreFlow,
    TokenFunctions,
)


def embedding_map(p: FormParameters) -> Tensor:
    """M, which this model has."""
    assert p.map is not None
    return p.map


class Affine(ClosedForm):
    """Scaled dot-product attention over an affine layer; V′ = MᵀV and W′ = W M."""

    name = "DP-A"
    title = "scaled dot-product attention over an affine layer"
    polarity_terms = {  # noqa: RUF012
        "A": "the token's lead over its texts, through V′ᵀW′",
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

    def tokens(self, p: FormParameters, temperature: float) -> TokenFunctions:
        """s_e = W M e and a_e = (M e)ᵀV / λ (eqs. 56–58)."""
        inner_v, inner_w = pull_back(p)
        return TokenFunctions(p.embeddings @ inner_w.T, p.embeddings @ inner_v / temperature)

    def couplings(self, p: FormParameters) -> dict[str, Tensor]:
        """VᵀW and V′ᵀW′ = VᵀMMᵀW, which both move the scores (eq. 64)."""
        inner_v, inner_w = pull_back(p)
        return {"VᵀW": p.output @ p.context, "V′ᵀW′": inner_w @ inner_v}

    def score_gradient(self, p: FormParameters, temperature: float) -> Tensor:
        """MᵀV / λ."""
        return (pull_back(p)[0] / temperature).expand_as(p.embeddings)

    def descent(self, p: FormParameters, temperature: float, grads: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) MᵀV/λ + MᵀWᵀπ(e) (eq. 59), −∂ℓ/∂V = Σ_e ε(e) h_e / λ (eq. 60),
        −∂ℓ/∂M = Σ_e (V ε(e)/λ + Wᵀπ(e)) eᵀ (eq. 61)."""
        inner_v, inner_w = pull_back(p)
        sum_epsilon, sum_pi = sum_embeddings(p, grads)
        return {
            "embeddings": torch.outer(grads.epsilon, inner_v) / temperature + grads.pi @ inner_w,
            "context": sum_epsilon @ embedding_map(p).T / temperature,
            "output": sum_pi @ embedding_map(p).T,
            "bias": grads.pi.sum(dim=0),
            "map": torch.outer(p.context, sum_epsilon) / temperature + p.output.T @ sum_pi,
        }

    def flow(self, p: FormParameters, temperature: float, grads: OutputGradients) -> ScoreFlow:
        """Eqs. 63 and 64, term by term; Q is VᵀW, where eq. 63 prints V′ᵀW."""
        sum_epsilon, sum_pi = sum_embeddings(p, grads)
        inner_v, inner_w = pull_back(p)
        alike = embedding_map(p).T @ embedding_map(p)  # h_eᵀh_j = eᵀ MᵀM e_j
        coupling = p.output @ p.context / temperature
        own_coupling = inner_w @ inner_v / temperature
        similar_pi, similar_epsilon = p.embeddings @ sum_pi.T, p.embeddings @ sum_epsilon  # [v, k], [v]
        return ScoreFlow(
            polarity={
                "A": torch.outer(grads.epsilon, own_coupling),
                "B": grads.pi @ (inner_w @ inner_w.T),
                "C": p.embeddings @ (sum_pi @ alike).T,
                "M, W": similar_pi @ (p.output @ p.output.T),
                "M, V": torch.outer(similar_epsilon, coupling),
            },
            score={
                "D": grads.pi @ own_coupling,
                "E": grads.epsilon * (inner_v @ inner_v) / temperature**2,
                "F": p.embeddings @ (sum_epsilon @ alike) / temperature**2,
                "M, W": similar_pi @ coupling,
                "M, V": similar_epsilon * (p.context @ p.context) / temperature**2,
            },
        )


def pull_back(p: FormParameters) -> tuple[Float[Tensor, " d_e"], Float[Tensor, "k d_e"]]:
    """V′ = MᵀV and W′ = MᵀW: with them nothing has to be mapped token by token."""
    return p.context @ embedding_map(p), p.output @ embedding_map(p)


def sum_embeddings(
    p: FormParameters, grads: OutputGradients
) -> tuple[Float[Tensor, " d_e"], Float[Tensor, "k d_e"]]:
    """Σ_e ε(e) e and Σ_e π(e) eᵀ."""
    return grads.epsilon @ p.embeddings, grads.pi.T @ p.embeddings


FORMS.register("DP-A")(Affine())
