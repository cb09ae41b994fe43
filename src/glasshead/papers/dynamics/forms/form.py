"""What the closed forms share: parameters, a batch, and the gradients of the loss by every occurrence of a
token.

Sun and Lu (2020) write every gradient with the same two factors. In a batch of m texts, with δ = ∂ℓ/∂s and
attention weights α, they are for the token at place j of text t

    −∂ℓ/∂s_jk = −δ_k α_j / m                    (their y β α_j / m in the binary case, where δ = −yβ, eq. 29)
    −∂ℓ/∂a_j  = Σ_k −∂ℓ/∂s_jk (s_jk − s_k)      (their y β α_j (s_j − s) / m)

where a_j is the score, s_j is the polarity of the token and s that of the text. All of eqs. 37–42, 59–61,
66–68 and 78–80 are sums of these two times a vector; K classes (eqs. 72–80) differ from two in δ = p − 1_k
alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.registry import Registry


@dataclass(frozen=True)
class FormParameters:
    """E [v, d_e], V [d], W [k, d], and M [d, d_e] or a bias [k] where the model has one.

    Two classes have one vector W (k = 1), whose score is that of class 1.
    """

    embeddings: Float[Tensor, "v d_e"]
    context: Float[Tensor, " d"]
    output: Float[Tensor, "k d_w"]
    map: Float[Tensor, "d d_e"] | None = None
    bias: Float[Tensor, " k"] | None = None

    def leaves(self) -> dict[str, Tensor]:
        """The existing tensors, by name."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}

    def with_tensors(self, leaves: Mapping[str, Tensor]) -> "FormParameters":
        """A copy with other tensors."""
        return replace(self, **leaves)


class Batch(NamedTuple):
    """Texts as ids, where they are real, their classes; ``temperature`` is λ and ``loss_scale`` multiplies
    ℓ.
    """

    ids: Int[Tensor, "m n"]
    mask: Bool[Tensor, "m n"]
    labels: Int[Tensor, " m"]
    temperature: float
    loss_scale: float = 1.0


class OutputGradients(NamedTuple):
    """−∂ℓ/∂s_j, ``by_polarity`` [m, n, k], and −∂ℓ/∂a_j, ``by_score`` [m, n], of every place, and their sums
    π [v, k] and ε [v] over the places of every token; ``weights`` [m, n] is α, ``logits`` [m, k] is s + b,
    ``residual`` [m, k] is δ."""

    by_polarity: Float[Tensor, "m n k"]
    by_score: Float[Tensor, "m n"]
    pi: Float[Tensor, "v k"]
    epsilon: Float[Tensor, " v"]
    weights: Float[Tensor, "m n"]
    logits: Float[Tensor, "m k"]
    residual: Float[Tensor, "m k"]


class TokenFunctions(NamedTuple):
    """Polarity s_e [v, k] and attention score a_e [v] of every token."""

    polarity: Float[Tensor, "v k"]
    score: Float[Tensor, " v"]


@dataclass(frozen=True)
class ScoreFlow:
    """ds_e/dτ and da_e/dτ of every token under gradient flow, as named terms that add up to it."""

    polarity: dict[str, Float[Tensor, "v k"]]
    score: dict[str, Float[Tensor, " v"]]

    def total(self) -> TokenFunctions:
        """The sum of the terms."""
        return TokenFunctions(sum_of(self.polarity), sum_of(self.score))


def sum_of(terms: Mapping[str, Tensor]) -> Tensor:
    """All terms together."""
    return torch.stack(list(terms.values())).sum(dim=0)


class ClosedForm(ABC):
    """A model for which Sun and Lu (2020) give gradients and the flow of scores in closed form.

    ``polarity_terms`` and ``score_terms`` say what every term is, for readers.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    polarity_terms: ClassVar[dict[str, str]]
    score_terms: ClassVar[dict[str, str]]

    @abstractmethod
    def tokens(self, p: FormParameters, temperature: float) -> TokenFunctions:
        """s_e and a_e of every token."""

    @abstractmethod
    def descent(self, p: FormParameters, temperature: float, grads: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂θ of every parameter, by the names of `FormParameters`."""

    @abstractmethod
    def flow(self, p: FormParameters, temperature: float, grads: OutputGradients) -> ScoreFlow:
        """The terms of ds_e/dτ and da_e/dτ under dθ/dτ = −∂ℓ/∂θ."""

    @abstractmethod
    def couplings(self, p: FormParameters) -> dict[str, Float[Tensor, " k"]]:
        """The dot products of V and W that drive positive and negative tokens apart, by their names."""

    @abstractmethod
    def score_gradient(self, p: FormParameters, temperature: float) -> Float[Tensor, "v d_e"]:
        """∂a_e/∂e of every token."""


FORMS: Registry[ClosedForm] = Registry("closed form")


def output_gradients(form: ClosedForm, p: FormParameters, batch: Batch) -> OutputGradients:
    """The gradients by every occurrence in a batch, with the mean cross-entropy as loss.

    Raises:
        ValueError: if a text is empty, since it has no α.
    """
    if not batch.mask.any(dim=1).all():
        raise ValueError("an empty text has no attention weights")
    tokens = form.tokens(p, batch.temperature)
    scores = tokens.score[batch.ids].masked_fill(~batch.mask, -torch.inf)
    weights = scores.softmax(dim=1)
    polarity = tokens.polarity[batch.ids]  # [m, n, k]
    total = torch.einsum("mn,mnk->mk", weights, polarity)
    logits = total if p.bias is None else total + p.bias
    residual = output_residuals(logits, batch.labels)
    size = batch.loss_scale / len(batch.ids)
    by_polarity = -size * weights[..., None] * residual[:, None, :]
    by_score = (by_polarity * (polarity - total[:, None, :])).sum(dim=-1)
    sums = sum_by_token(len(p.embeddings), batch, by_polarity, by_score)
    return OutputGradients(by_polarity, by_score, *sums, weights, logits, residual)


def sum_by_token(size: int, batch: Batch, by_polarity: Tensor, by_score: Tensor) -> tuple[Tensor, Tensor]:
    """π(e) and ε(e): sums over the places (t, j) with e_j ≡ e; padding adds nothing."""
    places, real = batch.ids[batch.mask], batch.mask
    pi = by_polarity.new_zeros(size, by_polarity.shape[-1]).index_add(0, places, by_polarity[real])
    return pi, by_score.new_zeros(size).index_add(0, places, by_score[real])


def output_residuals(logits: Float[Tensor, "m k"], labels: Int[Tensor, " m"]) -> Float[Tensor, "m k"]:
    """∂ℓ/∂s: σ(s) − y of one score, which is −yβ with y = ±1 (eq. 29), else p − 1_k (eqs. 75–76)."""
    if logits.shape[1] == 1:
        return logits.sigmoid() - labels[:, None]
    return logits.softmax(dim=1) - torch.nn.functional.one_hot(labels, logits.shape[1])


def form_gradients(form: ClosedForm, p: FormParameters, batch: Batch) -> dict[str, Tensor]:
    """∂ℓ/∂θ of every parameter in closed form."""
    return {
        name: -step
        for name, step in form.descent(p, batch.temperature, output_gradients(form, p, batch)).items()
    }


def score_flow(form: ClosedForm, p: FormParameters, batch: Batch) -> ScoreFlow:
    """The terms of ds_e/dτ and da_e/dτ on a batch."""
    return form.flow(p, batch.temperature, output_gradients(form, p, batch))


def directional_change(
    form: ClosedForm, p: FormParameters, temperature: float, direction: Mapping[str, Tensor]
) -> TokenFunctions:
    """How s_e and a_e change as the parameters move along a direction: the term of a regulariser, with its
    −∂P/∂θ; with −∂ℓ/∂θ it is the sum of all terms of `score_flow`."""
    leaves = p.leaves()
    tangents = {name: direction.get(name, torch.zeros_like(leaf)) for name, leaf in leaves.items()}

    def tokens_at(moving: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return tuple(form.tokens(p.with_tensors(moving), temperature))  # type: ignore[return-value]

    change = torch.func.jvp(tokens_at, (leaves,), (tangents,))[1]
    return TokenFunctions(*change)


def weight_descent(grads: OutputGradients, hidden: Float[Tensor, "v d"]) -> dict[str, Tensor]:
    """−∂ℓ/∂W = Σ_j −∂ℓ/∂s_j h_jᵀ (eqs. 29, 79), and −∂ℓ/∂b.

    As everywhere here, a sum over all places is one over tokens: Σ_j −∂ℓ/∂s_j h_jᵀ = Σ_e π(e) h_eᵀ.
    """
    return {
        "output": grads.pi.T @ hidden,
        "bias": grads.pi.sum(dim=0),
    }
