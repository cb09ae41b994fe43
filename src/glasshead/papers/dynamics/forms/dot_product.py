"""DP: a_i = e_iᵀV / λ, s_i = W e_i (Sun and Lu 2020, sections A and B; K classes: section F)."""

import torch
from torch import Tensor

from glasshead.papers.dynamics.forms.form import (
    FORMS,
    ClosedForm,
    FormParameters,
    OutputGradients,
    ScoreFlow,
    TokenFunctions,
    weight_descent,
)


class DotProduct(ClosedForm):
    """Scaled dot-product attention with a context vector over word embeddings."""

    name = "DP"
    title = "scaled dot-product attention over embeddings"
    polarity_terms = {  # noqa: RUF012
        "A": "the token's lead over its texts, through VᵀW",
        "B": "the token's own labels, times ‖W‖²",
        "C": "the labels of texts with similar tokens (Ω), through W",
    }
    score_terms = {  # noqa: RUF012
        "D": "the token's own labels, times VᵀW",
        "E": "the token's lead over its texts, times ‖V‖²",
        "F": "the leads of similar tokens (Ω), through V",
    }

    def tokens(self, p: FormParameters, temperature: float) -> TokenFunctions:
        """s_e = W e (eq. 81) and a_e = eᵀV / λ (eq. 34)."""
        return TokenFunctions(p.embeddings @ p.output.T, p.embeddings @ p.context / temperature)

    def couplings(self, p: FormParameters) -> dict[str, Tensor]:
        """VᵀW of every row of W."""
        return {"VᵀW": p.output @ p.context}

    def score_gradient(self, p: FormParameters, temperature: float) -> Tensor:
        """V / λ (eq. 34)."""
        return (p.context / temperature).expand_as(p.embeddings)

    def descent(self, p: FormParameters, temperature: float, grads: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂e = ε(e) V/λ + Wᵀπ(e) (eqs. 37, 42, 78), −∂ℓ/∂V = Σ_e ε(e) e / λ (eqs. 41, 80), and those
        of W and b (eqs. 29, 79)."""
        return weight_descent(grads, p.embeddings) | {
            "embeddings": torch.outer(grads.epsilon, p.context) / temperature + grads.pi @ p.output,
            "context": grads.epsilon @ p.embeddings / temperature,
        }

    def flow(self, p: FormParameters, temperature: float, grads: OutputGradients) -> ScoreFlow:
        """Eqs. 63–64 with M = I and without what dM/dτ adds: for one score

            ds_e/dτ = ε VᵀW/λ [A] + π‖W‖² [B] + Σ_j π(e_j) Ω_ej [C]
            da_e/dτ = π VᵀW/λ [D] + ε‖V‖²/λ² [E] + Σ_j ε(e_j) Ω_ej / λ² [F].

        The paper's eq. 47 leaves A out; eq. 82 lacks the α_j of A and B, and eq. 83 a factor −1/λ of F.
        """
        descent = self.descent(p, temperature, grads)
        coupling = p.output @ p.context / temperature  # [k]
        return ScoreFlow(
            polarity={
                "A": torch.outer(grads.epsilon, coupling),
                "B": grads.pi @ (p.output @ p.output.T),
                "C": p.embeddings @ descent["output"].T,
            },
            score={
                "D": grads.pi @ coupling,
                "E": grads.epsilon * (p.context @ p.context) / temperature**2,
                "F": p.embeddings @ descent["context"] / temperature,
            },
        )


FORMS.register("DP")(DotProduct())
