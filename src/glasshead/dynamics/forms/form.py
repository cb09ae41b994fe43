"""What the closed forms share: parameters, a batch, and how hard every occurrence of a token is pushed.

Sun and Lu (2020) write every gradient with the same two factors. In a batch of m texts, with δ = ∂ℓ/∂s and
attention weights α, the token at place j of text t is pushed by

    push_jk = −δ_k α_j / m          (their y β α_j / m in the binary case, where δ = −yβ, eq. 29)
    lead_j  = Σ_k push_jk (s_jk − s_k)      (their y β α_j (s_j − s) / m)

where s_j is the polarity of the token and s that of the text. All of eqs. 37–42, 59–61, 66–68 and 78–80 are
sums of these two times a vector; K classes (eqs. 72–80) differ from two in δ = p − 1_k alone.
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
class Parameters:
    """E [v, d_e], V [d], W [k, d], and M [d, d_e] or a bias [k] where the model has one.

    Two classes have one vector W (k = 1), whose score is that of class 1.
    """

    embeddings: Float[Tensor, "v d_e"]
    context: Float[Tensor, " d"]
    output: Float[Tensor, "k d_w"]
    map: Float[Tensor, "d d_e"] | None = None
    bias: Float[Tensor, " k"] | None = None

    def leaves(self) -> dict[str, Tensor]:
        """The tensors there are, by name."""
        return {name: each for name, each in vars(self).items() if each is not None}

    def changed(self, leaves: Mapping[str, Tensor]) -> "Parameters":
        """The same with other tensors."""
        return replace(self, **leaves)


class Batch(NamedTuple):
    """Texts as ids, where they are real, their classes; ``scale`` is λ and ``loss_scale`` multiplies ℓ."""

    ids: Int[Tensor, "m n"]
    mask: Bool[Tensor, "m n"]
    labels: Int[Tensor, " m"]
    scale: float
    loss_scale: float = 1.0


class OutputGradients(NamedTuple):
    """``push`` [m, n, k] and ``lead`` [m, n] of every place, and their sums π [v, k] and ε [v] over the
    places of every token; ``weights`` [m, n] is α, ``logits`` [m, k] is s + b, ``residual`` [m, k] is δ."""

    push: Float[Tensor, "m n k"]
    lead: Float[Tensor, "m n"]
    own_push: Float[Tensor, "v k"]
    own_lead: Float[Tensor, " v"]
    weights: Float[Tensor, "m n"]
    logits: Float[Tensor, "m k"]
    residual: Float[Tensor, "m k"]


class Tokens(NamedTuple):
    """Polarity s_e [v, k] and attention score a_e [v] of every token."""

    polarity: Float[Tensor, "v k"]
    score: Float[Tensor, " v"]


@dataclass(frozen=True)
class ScoreFlow:
    """ds_e/dτ and da_e/dτ of every token under gradient flow, as named terms that add up to it."""

    polarity: dict[str, Float[Tensor, "v k"]]
    score: dict[str, Float[Tensor, " v"]]

    def total(self) -> Tokens:
        """The sum of the terms."""
        return Tokens(sum_of(self.polarity), sum_of(self.score))


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
    def tokens(self, p: Parameters, scale: float) -> Tokens:
        """s_e and a_e of every token."""

    @abstractmethod
    def descent(self, p: Parameters, scale: float, push: OutputGradients) -> dict[str, Tensor]:
        """−∂ℓ/∂θ of every parameter, by the names of `Parameters`."""

    @abstractmethod
    def flow(self, p: Parameters, scale: float, push: OutputGradients) -> ScoreFlow:
        """The terms of ds_e/dτ and da_e/dτ under dθ/dτ = −∂ℓ/∂θ."""

    @abstractmethod
    def couplings(self, p: Parameters) -> dict[str, Float[Tensor, " k"]]:
        """The dot products of V and W that drive positive and negative tokens apart, by their names."""

    @abstractmethod
    def pull(self, p: Parameters, scale: float) -> Float[Tensor, "v d_e"]:
        """∂a_e/∂e of every token."""


FORMS: Registry[ClosedForm] = Registry("closed form")


def output_gradients(form: ClosedForm, p: Parameters, batch: Batch) -> OutputGradients:
    """How hard every occurrence is pushed in a batch with the mean cross-entropy as loss.

    Raises:
        ValueError: if a text is empty, for which there is no α.
    """
    if not batch.mask.any(dim=1).all():
        raise ValueError("an empty text has no attention weights")
    tokens = form.tokens(p, batch.scale)
    scores = tokens.score[batch.ids].masked_fill(~batch.mask, -torch.inf)
    weights = scores.softmax(dim=1)
    polarity = tokens.polarity[batch.ids]  # [m, n, k]
    total = torch.einsum("mn,mnk->mk", weights, polarity)
    logits = total if p.bias is None else total + p.bias
    residual = residuals(logits, batch.labels)
    size = batch.loss_scale / len(batch.ids)
    push = -size * weights[..., None] * residual[:, None, :]
    lead = (push * (polarity - total[:, None, :])).sum(dim=-1)
    return OutputGradients(
        push, lead, *gather_by_token(len(p.embeddings), batch, push, lead), weights, logits, residual
    )


def gather_by_token(size: int, batch: Batch, push: Tensor, lead: Tensor) -> tuple[Tensor, Tensor]:
    """π(e) and ε(e): sums over the places (t, j) with e_j ≡ e; padding adds nothing."""
    places, real = batch.ids[batch.mask], batch.mask
    own_push = push.new_zeros(size, push.shape[-1]).index_add(0, places, push[real])
    return own_push, lead.new_zeros(size).index_add(0, places, lead[real])


def residuals(logits: Float[Tensor, "m k"], labels: Int[Tensor, " m"]) -> Float[Tensor, "m k"]:
    """∂ℓ/∂s: σ(s) − y of one score, which is −yβ with y = ±1 (eq. 29), else p − 1_k (eqs. 75–76)."""
    if logits.shape[1] == 1:
        return logits.sigmoid() - labels[:, None]
    return logits.softmax(dim=1) - torch.nn.functional.one_hot(labels, logits.shape[1])


def gradients(form: ClosedForm, p: Parameters, batch: Batch) -> dict[str, Tensor]:
    """∂ℓ/∂θ of every parameter in closed form."""
    return {
        name: -each for name, each in form.descent(p, batch.scale, output_gradients(form, p, batch)).items()
    }


def score_flow(form: ClosedForm, p: Parameters, batch: Batch) -> ScoreFlow:
    """The terms of ds_e/dτ and da_e/dτ on a batch."""
    return form.flow(p, batch.scale, output_gradients(form, p, batch))


def along(form: ClosedForm, p: Parameters, scale: float, direction: Mapping[str, Tensor]) -> Tokens:
    """How s_e and a_e change as the parameters move along a direction: the term of a regulariser, with its
    −∂P/∂θ; with −∂ℓ/∂θ it is the sum of all terms of `score_flow`."""
    leaves = p.leaves()
    tangents = {name: direction.get(name, torch.zeros_like(each)) for name, each in leaves.items()}

    def read(moving: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        return tuple(form.tokens(p.changed(moving), scale))  # type: ignore[return-value]

    change = torch.func.jvp(read, (leaves,), (tangents,))[1]
    return Tokens(*change)


def shared_descent(push: OutputGradients, hidden: Float[Tensor, "v d"]) -> dict[str, Tensor]:
    """−∂ℓ/∂W = Σ_j push_j h_jᵀ (eqs. 29, 79), and −∂ℓ/∂b.

    As everywhere here, a sum over all places is one over tokens: Σ_j push_j h_jᵀ = Σ_e π(e) h_eᵀ.
    """
    return {
        "output": push.own_push.T @ hidden,
        "bias": push.own_push.sum(dim=0),
    }
