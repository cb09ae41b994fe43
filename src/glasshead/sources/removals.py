"""Prompts without some of the passages, or parts of one, and how likely the answer is behind each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from glasshead.errors import InputError
from glasshead.generation import read_prompt
from glasshead.huggingface import positions_of
from glasshead.sources.prompts import PromptFrame, Span
from glasshead.sources.scores import AnswerScorer, Ids, OnScored
from glasshead.spelling import spell

Removal = Literal["delete", "replace", "mask"]
Masks = Bool[np.ndarray, "subsets passages"]
LogProbs = Float[np.ndarray, "subsets tokens"]


@dataclass(frozen=True)
class Part:
    """Characters of a passage."""

    passage: int
    start: int
    stop: int


@dataclass
class PassageRemover:
    """Log-probabilities of an answer's tokens where passages are removed.

    ``delete`` leaves a passage out of the prompt, with its title; ``replace`` puts a neutral text in its
    place; ``mask`` keeps the prompt and lets no other token see the passage's.
    """

    frame: PromptFrame
    scorer: AnswerScorer
    neutral: str
    read: dict[str, Ids] = field(default_factory=dict)

    def tokens(self, texts: Sequence[str | None]) -> Ids:
        """What the model reads behind these texts of the passages.

        Raises:
            InputError: if it is more than the model reads.
        """
        text = self.frame.render(texts)
        if text in self.read:
            return self.read[text]
        self.read[text] = ids = read_prompt(self.frame.tokenizer, text).ids
        most, length = positions_of(self.scorer.model), len(ids) + self.scorer.behind
        if most is not None and length > most:
            raise InputError(
                f"the passages, the question and the answer have {length:,} tokens, and "
                f"{type(self.scorer.model).__name__} reads {most:,}: give fewer or shorter passages"
            )
        return ids

    def score(self, kept: Masks, removal: Removal, progress: OnScored | None = None) -> LogProbs:
        """The log-probabilities with each subset of the passages.

        Raises:
            InputError: if passages cannot be masked.
        """
        texts = [one.text for one in self.frame.passages]
        if removal == "mask":
            spans = self.token_spans()
            hidden = [[spans[place] for place in np.flatnonzero(~row)] for row in kept]
            return self.scorer.masked(self.tokens(texts), hidden, progress)
        instead = None if removal == "delete" else self.neutral
        prompts = [
            self.tokens([text if there else instead for text, there in zip(texts, row, strict=True)])
            for row in kept
        ]
        return self.scorer(prompts, progress)

    def without_parts(self, parts: Sequence[Part], progress: OnScored | None = None) -> LogProbs:
        """The log-probabilities without the characters of each part."""
        prompts = []
        for part in parts:
            texts: list[str | None] = [one.text for one in self.frame.passages]
            whole = self.frame.passages[part.passage].text
            rest = " ".join(filter(None, (whole[: part.start].rstrip(), whole[part.stop :].lstrip())))
            texts[part.passage] = rest or None
            prompts.append(self.tokens(texts))
        return self.scorer(prompts, progress)

    def token_spans(self) -> list[Span]:
        """The tokens of each passage in the whole prompt.

        Raises:
            InputError: if the template changes the passages, so that nobody knows where they stand.
        """
        spans = self.frame.spans()
        if spans is None:
            raise InputError(
                "the chat template changes the passages, so their tokens are unknown: give the prompt as a "
                f"text with {spell('prompt')}"
            )
        prompt = read_prompt(self.frame.tokenizer, self.frame.render([o.text for o in self.frame.passages]))
        return [tokens_within(prompt.offsets, span) for span in spans]

    def check_masks(self) -> None:
        """Check that masked tokens have no effect.

        Raises:
            InputError: if they have one: recurrent layers read every token.
        """
        prompt = self.tokens([one.text for one in self.frame.passages])
        start, stop = max(self.token_spans(), key=lambda span: span[1] - span[0])
        others = (*prompt[:start], *[prompt[stop - 1]] * (stop - start - 1), prompt[start], *prompt[stop:])
        if others == prompt:
            return
        one, other = (self.scorer.masked(ids, [[(start, stop)]]) for ids in (prompt, others))
        if not np.allclose(one, other, atol=1e-3):
            raise InputError(
                f"{type(self.scorer.model).__name__} still reads masked tokens: remove passages by 'delete' "
                "or 'replace'"
            )


def tokens_within(offsets: Sequence[Span], span: Span) -> Span:
    """The tokens that have a character of a span."""
    places = [place for place, (start, stop) in enumerate(offsets) if start < span[1] and stop > span[0]]
    return (places[0], places[-1] + 1) if places else (0, 0)
