"""A written text before the model that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.generation.reading import answer_logits
from glasshead.huggingface import NextTokenClassifier

Progress = Callable[[int, int], None]
"""Called with how many of how many steps are done."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class ReadText:
    """A text of which everything from ``start`` on is the answer; ``progress`` is told of long work."""

    classifier: NextTokenClassifier
    tokenizer: PreTrainedTokenizerBase
    ids: Int[Tensor, "1 n"]
    start: int
    progress: Progress = no_progress

    @property
    def model(self) -> PreTrainedModel:
        """The language model."""
        return self.classifier.model

    @property
    def answer(self) -> Int[Tensor, " answer"]:
        """The tokens that were written."""
        return self.ids[0, self.start :]

    @property
    def before(self) -> Int[Tensor, "1 read"]:
        """What the model reads: all tokens but the last."""
        return self.ids[:, :-1]

    @property
    def rows(self) -> list[int]:
        """The places that the tokens of the answer were written from: each one before its own."""
        return list(range(self.start - 1, self.ids.shape[1] - 1))

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What the model is called with."""
        return {"input_ids": self.before, "attention_mask": torch.ones_like(self.before)}

    def logits(self, ids: Int[Tensor, "b n"] | None = None) -> Float[Tensor, "b answer vocabulary"]:
        """The logits of the answer's tokens, in this text or in others of its length."""
        return answer_logits(self.model, self.ids if ids is None else ids, self.start)

    def triangle(self, scores: Float[Tensor, "answer read"]) -> tuple[tuple[float, ...], ...]:
        """Rows of what stood before each token of the answer."""
        lists: list[list[float]] = scores.double().cpu().tolist()
        return tuple(tuple(row[: place + 1]) for place, row in zip(self.rows, lists, strict=True))
