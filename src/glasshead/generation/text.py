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
    """Do nothing."""


@dataclass(frozen=True)
class ReadText:
    """A text whose answer begins at ``start``; ``progress`` is called during long work.

    An encoder, if there is one, reads the first ``source`` tokens; the decoder begins behind them.
    ``sees``: it contains an image, whose tokens the model counts.
    """

    classifier: NextTokenClassifier
    tokenizer: PreTrainedTokenizerBase
    ids: Int[Tensor, "1 n"]
    start: int
    progress: Progress = no_progress
    source: int = 0
    sees: bool = False

    @property
    def model(self) -> PreTrainedModel:
        """The language model."""
        return self.classifier.model

    @property
    def reader(self) -> PreTrainedModel:
        """The model that is recorded in a pass over the text: the classifier of the next token, or an
        encoder–decoder itself."""
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
        """How many of these tokens each part of the model reads: the encoder, if there is one, and the
        decoder."""
        read = self.before.shape[1]
        return [self.source, read - self.source] if self.source else [read]

    @property
    def rows(self) -> list[int]:
        """The place before each token of the answer, from which it was predicted."""
        return list(range(self.start - 1, self.ids.shape[1] - 1))

    @property
    def decoder_rows(self) -> list[int]:
        """Rows, counted from the first token of the decoder."""
        return [row - self.source for row in self.rows]

    @property
    def inputs(self) -> dict[str, Tensor]:
        """The inputs of the model."""
        inputs = split_inputs(self.before, self.source)
        return inputs | {"attention_mask": torch.ones_like(inputs["input_ids"])}

    @property
    def beginning(self) -> dict[str, Tensor]:
        """A shorter text for a first look at attention; an image stays whole."""
        if self.sees:
            return self.inputs
        return {name: tensor[:, :2] for name, tensor in self.inputs.items()}

    def logits(self, ids: Int[Tensor, "b n"] | None = None) -> Float[Tensor, "b answer vocabulary"]:
        """The logits of the answer's tokens, in this text or in others of its length."""
        ids = self.ids if ids is None else ids
        return answer_logits(self.model, ids, self.start, source=self.source)

    def triangle(self, scores: Float[Tensor, "answer read"]) -> tuple[tuple[float, ...], ...]:
        """Rows of what comes before each token of the answer."""
        lists: list[list[float]] = scores.double().cpu().tolist()
        return tuple(tuple(row[: place + 1]) for place, row in zip(self.rows, lists, strict=True))
