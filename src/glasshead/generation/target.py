"""What is explained of an answer: a number for each of its tokens, or their sum."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from glasshead.explainers import TARGETS


@dataclass(frozen=True)
class AnswerTarget:
    """A function of the logits at each place: one of `TARGETS` of the token that was written or, with
    ``other``, log p(x_t | x_<t) − log p(other | x_<t); of the ``whole`` answer the sum over its tokens."""

    name: str
    answer: Int[Tensor, " answer"]
    other: int | None = None
    whole: bool = False

    def __call__(self, logits: Float[Tensor, "b answer vocabulary"]) -> Float[Tensor, "b values"]:
        tokens = self.answer.to(logits.device).expand(logits.shape[:2])
        if self.other is None:
            values = TARGETS[self.name](logits, tokens)
        else:  # the sum over the vocabulary cancels
            values = logits.gather(-1, tokens[..., None])[..., 0] - logits[..., self.other]
        return values.sum(dim=-1, keepdim=True) if self.whole else values

    def description(self, other: str | None) -> str:
        """The target in words."""
        words = self.name if other is None else f"log-probability relative to that of {other}"
        return f"{words} of the whole answer" if self.whole else words
