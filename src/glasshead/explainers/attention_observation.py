"""What questions about attention are answered from: the weights that are read, and what they do."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor


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
