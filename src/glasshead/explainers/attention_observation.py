"""What questions about attention are answered from: the weights that are read, and what they do."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import Activation
from glasshead.errors import InputError
from glasshead.models import PooledClassifier, as_logits, is_regression
from glasshead.trace import target_polarity

# Elements of the largest intermediate; a batch is cut so that memory stays bounded at any length.
BUDGET = 8_000_000


class AttentionObservation(ABC):
    """Attention as it is read, one number for each token, on the CPU; zeros on padding.

    ``weights`` are those the model computes (of several heads or rows: their mean), ``canonical`` the same in
    the canonical gauge, if there is one. Where a sentence was weighed, its tokens share the weight equally.
    """

    mask: Bool[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    exact: ClassVar[bool]
    """Whether z = Σ_i a_i o_i + b: contributions are then no approximation."""

    @property
    @abstractmethod
    def signed(self) -> bool:
        """Whether weights can be negative."""

    @property
    @abstractmethod
    def has_gauge(self) -> bool:
        """Whether the sign of signed weights was fixed."""

    @property
    @abstractmethod
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        """The weights in the canonical gauge."""

    def contributions(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        """What each token adds to the score of a target class, that of its text or its own."""
        return self.canonical * self.slopes(target)

    @abstractmethod
    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        """What each token would add at weight 1 in the canonical gauge, towards the target."""

    @abstractmethod
    def shares(self) -> Float[Tensor, "texts tokens"]:
        """Of what is true of a whole sentence, the part of each of its tokens; 1 where tokens are weighed."""

    @abstractmethod
    def zero_weight(self) -> Float[Tensor, "texts tokens classes"]:
        """Logits where the weight of a token is zero and all others stay."""

    @abstractmethod
    def renormalise(self) -> Float[Tensor, "texts tokens classes"]:
        """Logits where a token may not be attended to."""


@dataclass(frozen=True)
class LinearReadout(AttentionObservation):
    """Scores s, weights a [N, n], polarity o [N, n, K'], bias b [K'] of z = Σ_i a_i o_i + b.

    All is answered from these, without another pass. ``part`` [N, n] numbers the texts of a pair, each of
    which has weights of its own.
    """

    mask: Bool[Tensor, "texts tokens"]
    scores: Float[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    polarity: Float[Tensor, "texts tokens outputs"]
    logits: Float[Tensor, "texts classes"]
    bias: Float[Tensor, " outputs"]
    activation: Activation
    gauge: int = 1
    rating: bool = False
    part: Int[Tensor, "texts tokens"] | None = None

    exact = True

    @property
    def signed(self) -> bool:
        return self.activation.signed

    @property
    def has_gauge(self) -> bool:
        return True

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.gauge * self.weights

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self.slopes_of(self.polarity, target)

    def slopes_of(
        self,
        polarity: Float[Tensor, "texts units outputs"],
        target: Int[Tensor, " texts"] | Int[Tensor, "texts units"],
    ) -> Float[Tensor, "texts units"]:
        """The canonical polarity towards the target."""
        return self.gauge * (polarity[..., 0] if self.rating else target_polarity(polarity, target))

    def parts(self) -> Int[Tensor, "texts tokens"]:
        return torch.zeros_like(self.mask, dtype=torch.long) if self.part is None else self.part

    def shares(self) -> Float[Tensor, "texts tokens"]:
        return self.mask.to(self.weights.dtype)

    def to_logits(self, outputs: Float[Tensor, "*b outputs"]) -> Float[Tensor, "*b classes"]:
        """Outputs z as logits."""
        return outputs if self.rating else as_logits(outputs)

    def zero_weight(self) -> Float[Tensor, "texts tokens classes"]:
        """z − a_i o_i (Huang et al. 2024, section 5.2)."""
        # Subtracting o·a from z − b, not from the logits: the binary logit of class 0 stays 0.
        outputs = torch.einsum("tk,tko->to", self.weights, self.polarity) + self.bias
        return self.to_logits(outputs[:, None, :] - self.weights[..., None] * self.polarity)

    def renormalise(self) -> Float[Tensor, "texts tokens classes"]:
        """The token is masked before the activation, so the other weights share its place."""
        n = self.mask.shape[1]
        others = ~torch.eye(n, dtype=torch.bool)
        step = max(BUDGET // (n * n), 1)
        results = []
        for start in range(0, len(self.mask), step):
            rows = slice(start, start + step)
            mask = self.mask[rows, None, :] & others  # [t, removed, tokens]
            scores, part = self.scores[rows, None, :].expand(mask.shape), self.parts()[rows, None, :]
            weights = torch.zeros_like(scores)
            for number in range(int(part.max()) + 1 if part.numel() else 1):
                weights = weights + self.activation.weights(scores, mask & (part == number))
            results.append(self.to_logits(weights @ self.polarity[rows] + self.bias))
        return torch.cat(results)


@dataclass(frozen=True)
class SentenceReadout(AttentionObservation):
    """The linear readout of the sentences of each text, whose tokens share equally what is true of them.

    ``sentence_of_token`` [N, n] is the sentence of each token, −1 on padding.
    """

    mask: Bool[Tensor, "texts tokens"]
    sentence_of_token: Int[Tensor, "texts tokens"]
    sentences: LinearReadout

    exact = True

    @property
    def signed(self) -> bool:
        return self.sentences.signed

    @property
    def has_gauge(self) -> bool:
        return self.sentences.has_gauge

    @property
    def weights(self) -> Float[Tensor, "texts tokens"]:  # type: ignore[override]
        return self.spread(self.sentences.weights) * self.shares()

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.sentences.gauge * self.weights

    def spread(self, values: Float[Tensor, "texts sentences *k"]) -> Float[Tensor, "texts tokens *k"]:
        """Numbers of sentences where their tokens stand; zeros on padding."""
        rows = torch.arange(len(values))[:, None].expand(self.sentence_of_token.shape)
        real = self.mask.reshape(self.mask.shape + (1,) * (values.ndim - 2))
        return values[rows, self.sentence_of_token.clamp(min=0)] * real

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self.sentences.slopes_of(self.spread(self.sentences.polarity), target)

    def shares(self) -> Float[Tensor, "texts tokens"]:
        sizes = (self.sentence_of_token[..., None] == torch.arange(self.sentences.mask.shape[1])).sum(dim=1)
        return self.spread(1 / sizes.clamp(min=1).to(self.sentences.weights.dtype))

    def zero_weight(self) -> Float[Tensor, "texts tokens classes"]:
        return self.spread(self.sentences.zero_weight())

    def renormalise(self) -> Float[Tensor, "texts tokens classes"]:
        return self.spread(self.sentences.renormalise())


@torch.inference_mode()
def observe_pooled(
    model: PreTrainedModel,
    ids: Int[Tensor, "texts tokens"],
    mask: Bool[Tensor, "texts tokens"],
    *,
    batch_size: int = 512,
) -> LinearReadout:
    """Run a pooled classifier over encoded texts, in batches, and keep what its output is made of.

    Raises:
        InputError: if the model is of another family.
    """
    if not isinstance(model, PooledClassifier):
        raise InputError(f"{type(model).__name__} has no single attention output: record its layers instead")
    parts = [
        model(
            input_ids=ids[start : start + batch_size].to(model.device),
            attention_mask=mask[start : start + batch_size].to(model.device),
            output_attentions=True,
        )
        for start in range(0, len(ids), batch_size)
    ]
    scores, weights, polarity, logits = (
        torch.cat([getattr(part, name).cpu() for part in parts])
        for name in ("scores", "weights", "polarity", "logits")
    )
    bias = torch.zeros(polarity.shape[-1])
    if model.classifier.bias is not None:
        bias = model.classifier.bias.detach().cpu()
    return LinearReadout(
        mask.cpu(),
        scores,
        weights,
        polarity,
        logits,
        bias.to(logits.dtype),
        model.activation,
        gauge=model.config.gauge,
        rating=is_regression(model.config),
    )
