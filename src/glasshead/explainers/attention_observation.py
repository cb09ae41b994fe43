"""What questions about attention are answered from: the selected weights, and what they do."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

from jaxtyping import Bool, Float, Int
from torch import Tensor

AttentionChange = Literal["zero-weight", "renormalise", "zero-value"]
"""How keys are taken out of an attention: their weights become zero; they are masked, so that the others
share their place; or their values become zero in all heads of the layer, also those that are not read."""

OnTexts = Callable[[float, int], None]
"""Called with how many of the texts are done, parts of one included, and how many there are."""


def not_watched(done: float, total: int) -> None:
    """Do nothing."""


def count_on(progress: OnTexts, before: int, total: int, done: float, _: int) -> None:
    """Report progress over all texts: those ``before`` this batch, and those ``done`` in it."""
    progress(before + done, total)


class AttentionObservation(ABC):
    """The selected attention, one number for each token, on the CPU; zeros on padding.

    ``weights`` are those that the model computes (the mean of several heads or rows), and ``canonical`` the
    same in the canonical gauge, if there is one. Where sentences have weights, their tokens share them
    equally.
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
        """The share of each token in the number of its sentence; 1 where tokens have weights."""

    @abstractmethod
    def without(
        self,
        change: AttentionChange,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """Logits of variants of the texts, each with a set of tokens removed from the attention."""

    @abstractmethod
    def without_each(self, change: AttentionChange) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each token, or sentence, alone; those of the whole text at padding."""
