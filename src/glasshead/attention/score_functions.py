"""How a token gets its score in a classifier with one attention output: f(q, k) before the activation."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.registry import Registry


class ContextScore(nn.Module):
    """s_i = h_iᵀ V / λ with a learned context vector V (Sun and Lu 2020, eq. 34)."""

    def __init__(self, hidden_size: int, head_dim: int, temperature: float) -> None:
        super().__init__()
        self.context = nn.Linear(hidden_size, 1, bias=False)
        self.temperature = temperature

    def forward(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys"]:
        return self.context(hidden).squeeze(-1) / self.temperature

    def keys(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys d"]:
        """∂s_i/∂V: what the one query is multiplied with."""
        return hidden / self.temperature


class QueryKeyScore(nn.Module):
    """s_i = Q_i · K_i / λ, both affine in h_i (Huang et al. 2024, section 3)."""

    def __init__(self, hidden_size: int, head_dim: int, temperature: float) -> None:
        super().__init__()
        self.query = nn.Linear(hidden_size, head_dim)
        self.key = nn.Linear(hidden_size, head_dim)
        self.temperature = temperature

    def forward(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys"]:
        return (self.query(hidden) * self.key(hidden)).sum(dim=-1) / self.temperature

    def keys(self, hidden: Float[Tensor, "batch keys d"]) -> None:
        """Every token has a query of its own, so there is none that draws the whole map."""


class BilinearScore(QueryKeyScore):
    """s_i = Q_iᵀ M K_i / λ, both affine in h_i (Luong, Pham and Manning 2015, "general")."""

    def __init__(self, hidden_size: int, head_dim: int, temperature: float) -> None:
        super().__init__(hidden_size, head_dim, temperature)
        self.map = nn.Linear(head_dim, head_dim, bias=False)

    def forward(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys"]:
        return (self.query(hidden) * self.map(self.key(hidden))).sum(dim=-1) / self.temperature


class AdditiveScore(nn.Module):
    """s_i = tanh(M h_i)ᵀ V / λ: the form that the gradients 66–68 of Sun and Lu (2020) belong to.

    Their eq. 65 prints tanh(M h_i · V), which those gradients contradict.
    """

    def __init__(self, hidden_size: int, head_dim: int, temperature: float) -> None:
        super().__init__()
        self.key = nn.Linear(hidden_size, head_dim, bias=False)
        self.context = nn.Linear(head_dim, 1, bias=False)
        self.temperature = temperature

    def forward(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys"]:
        return self.context(torch.tanh(self.key(hidden))).squeeze(-1) / self.temperature

    def keys(self, hidden: Float[Tensor, "batch keys d"]) -> Float[Tensor, "batch keys head_dim"]:
        """∂s_i/∂V: what the one query is multiplied with."""
        return torch.tanh(self.key(hidden)) / self.temperature


SCORE_FUNCTIONS: Registry[type[nn.Module]] = Registry("score function")
SCORE_FUNCTIONS.register("context")(ContextScore)
SCORE_FUNCTIONS.register("query-key")(QueryKeyScore)
SCORE_FUNCTIONS.register("bilinear")(BilinearScore)
SCORE_FUNCTIONS.register("additive")(AdditiveScore)
