"""A written text before the model that wrote it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.generation.reading import answer_logits, split_inputs
from glasshead.huggingface import NextTokenClassifier

Progress = Callable[[int, int], None]
"""Called with how many of how many steps are done."""


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class ReadText:
    """A text of which everything from ``start`` on is the answer; ``progress`` is told of long work.

    An encoder reads its first ``source`` tokens, if there is one; a decoder begins behind them.
    """

    classifier: NextTokenClassifier
    tokenizer: PreTrainedTokenizerBase
    ids: Int[Tensor, "1 n"]
    start: int
    progress: Progress = no_progress
    source: int = 0

    @property
    def model(self) -> PreTrainedModel:
        """The language model."""
        return self.classifier.model

    @property
    def reader(self) -> PreTrainedModel:
        """What a pass over the text is recorded of: the question of the next token asks the vocabulary once,
        an encoder–decoder has two inputs and is called itself."""
        return self.model if self.source else self.classifier

    @property
    def answer(self) -> Int[Tensor, " answer"]:
        """The tokens that were written."""
        return self.ids[0, self.start :]

    @property
    def before(self) -> Int[Tensor, "1 read"]:
        """What the model reads: all tokens but the last."""
        return self.ids[:, :-1]

    @property
    def sizes(self) -> list[int]:
        """How many of these tokens each part of the model reads: an encoder, if there is one, the decoder."""
        read = self.before.shape[1]
        return [self.source, read - self.source] if self.source else [read]

    @property
    def rows(self) -> list[int]:
        """The places that the tokens of the answer were written from: each one before its own."""
        return list(range(self.start - 1, self.ids.shape[1] - 1))

    @property
    def decoder_rows(self) -> list[int]:
        """Rows, counted from the first token of the decoder."""
        return [row - self.source for row in self.rows]

    @property
    def inputs(self) -> dict[str, Tensor]:
        """What the model is called with."""
        inputs = split_inputs(self.before, self.source)
        return inputs | {"attention_mask": torch.ones_like(inputs["input_ids"])}

    def logits(self, ids: Int[Tensor, "b n"] | None = None) -> Float[Tensor, "b answer vocabulary"]:
        """The logits of the answer's tokens, in this text or in others of its length."""
        ids = self.ids if ids is None else ids
        return answer_logits(self.model, ids, self.start, source=self.source)

    def triangle(self, scores: Float[Tensor, "answer read"]) -> tuple[tuple[float, ...], ...]:
        """Rows of what stood before each token of the answer."""
        lists: list[list[float]] = scores.double().cpu().tolist()
        return tuple(tuple(row[: place + 1]) for place, row in zip(self.rows, lists, strict=True))
