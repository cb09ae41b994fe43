"""A text that a language model wrote: what it chose from, and what each token was written from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.attribution import Attribution, missing_share, sink_of
from glasshead.results.audit_card import ATTENTION
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

ARROW = " → "
"""What stands between two texts of which the second answers the first."""
SHOWN_LETTERS = 60
"""Letters of an answer in a ``repr``."""


@dataclass(frozen=True)
class Alternative:
    """A token that could have been written: its probability by the model, and by the strategy (0: it was
    left out; None: the strategy chooses among whole texts)."""

    token: str
    id: int
    probability: float
    chance: float | None


@dataclass(frozen=True)
class WrittenToken:
    """One token of the answer: its log-probability by the model, its rank among all tokens (1: the most
    probable), its probability under the strategy, the entropy of the model's distribution in nats, and the
    most probable tokens at its place, in descending order."""

    log_probability: float
    rank: int
    chance: float | None
    entropy: float
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class OtherAnswer:
    """Another answer that beam search kept to the end, with its log-probability."""

    answer: str
    log_probability: float


@dataclass(frozen=True)
class WrittenMap:
    """A lower-triangular matrix: one row for each token of the answer, with a number for every token before
    it; for the ``whole`` answer, one row with a number for every token but the last.

    ``target`` is what the numbers explain, ``values`` its value at each place. ``layer`` and ``head`` are
    those of attention, None if none or all were used; ``reading`` describes them in words. ``intervals``
    are those of `Attribution`, for each number (None: not requested); ``conditioning`` is that of the least
    clear of them. ``has_learned_sinks`` says that what a row misses to one is on sinks that are no tokens.
    """

    method: str
    scores: tuple[tuple[float, ...], ...]
    signed: bool
    target: str | None = None
    values: tuple[float, ...] | None = None
    layer: int | None = None
    head: int | str | None = None
    reading: str | None = None
    settings: str | None = None
    whole: bool = False
    intervals: tuple[tuple[tuple[float | None, float | None] | None, ...], ...] | None = None
    conditioning: float | None = None
    has_learned_sinks: bool = False

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The rows as an array, NaN where a token had not been written yet."""
        width = max(map(len, self.scores), default=0)
        matrix = np.full((len(self.scores), width), np.nan)
        for number, row in enumerate(self.scores):
            matrix[number, : len(row)] = row
        return matrix

    def sinks(self, source: int = 0) -> tuple[float | None, ...]:
        """The share of each row of attention that is on its first token, if that is a sink; after a source,
        the share of what the answer gives to itself."""
        if self.method != ATTENTION or self.whole:
            return (None,) * len(self.scores)
        return tuple(sink_of(row[source:]) for row in self.scores)

    def learned_sinks(self) -> tuple[float | None, ...]:
        """The share of each row that is on sinks that are no tokens, where there are any."""
        return tuple(missing_share(row) if self.has_learned_sinks else None for row in self.scores)


@dataclass(frozen=True, repr=False)
class Written(Drawable):
    """A prompt and what a model wrote after it.

    ``tokens``, ``ids``, ``words`` and ``offsets`` have one entry for each token of prompt and answer, the
    answer from ``start`` on; ``words`` is −1 for special tokens, ``offsets`` are characters of ``text``.
    ``answer_tokens`` has one entry for each token of the answer. ``strategy`` and ``seed`` say how it was
    chosen (no seed: nothing was drawn), ``stop`` why it ends, and ``other_answers`` are those of beam
    search. ``maps`` are its explanations, from which you can choose on its page. The encoder of an
    encoder–decoder read the first ``source`` tokens; its answer is a separate text after an arrow.
    ``images``, ``boxes``, ``image_numbers`` and ``image_sinks`` are those of `Attribution`, of a prompt with
    images.
    """

    prompt: str
    answer: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    words: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    start: int
    answer_tokens: tuple[WrittenToken, ...]
    strategy: str
    seed: int | None
    stop: str
    model: str
    other_answers: tuple[OtherAnswer, ...] = ()
    maps: tuple[WrittenMap, ...] = ()
    notes: tuple[str, ...] = ()
    source: int = 0
    images: tuple[str, ...] = ()
    boxes: tuple[tuple[int, int, int, int] | None, ...] | None = None
    image_numbers: tuple[int | None, ...] | None = None
    image_sinks: tuple[int, ...] = ()

    def __repr__(self) -> str:
        answer = self.answer if len(self.answer) <= SHOWN_LETTERS else f"{self.answer[: SHOWN_LETTERS - 1]}…"
        summary = f"{self.prompt!r} → {answer!r} ({len(self.answer_tokens)} tokens, {self.strategy}"
        seed = "" if self.seed is None else f", seed {self.seed}"
        return one_line(f"{summary}{seed}, log p = {self.log_probability:.2f})")

    @property
    def text(self) -> str:
        """Prompt and answer."""
        return self.prompt + self.joint + self.answer

    @property
    def joint(self) -> str:
        """What is printed between prompt and answer: an arrow if the answer does not continue the prompt."""
        return ARROW if self.source else ""

    @property
    def log_probability(self) -> float:
        """log p(answer | prompt) = Σ_t log p(x_t | x_<t), by the model, for any strategy."""
        return math.fsum(token.log_probability for token in self.answer_tokens)

    @property
    def perplexity(self) -> float:
        """exp(−log p(answer | prompt) / number of its tokens)."""
        count = len(self.answer_tokens)
        return math.exp(-self.log_probability / count) if count else math.nan

    def to_dict(self) -> dict[str, Any]:
        """All fields, log-probability and perplexity of the answer."""
        numbers = {"log_probability": self.log_probability, "perplexity": self.perplexity}
        return {name: getattr(self, name) for name in Written.__dataclass_fields__} | numbers

    def to_json(self) -> str:
        """An object with all fields, log-probability and perplexity of the answer."""
        return json_text(self.to_dict())

    def to_pandas(self) -> pd.DataFrame:
        """One row for each token of the answer."""
        import pandas as pd

        rows = [
            {
                "token": self.tokens[self.start + number],
                "id": self.ids[self.start + number],
                "log_probability": token.log_probability,
                "rank": token.rank,
                "chance": token.chance,
                "entropy": token.entropy,
            }
            for number, token in enumerate(self.answer_tokens)
        ]
        return pd.DataFrame(rows)


@dataclass(frozen=True, repr=False)
class WrittenAttribution(Drawable):
    """What each token of an answer was written from: a `WrittenMap` next to its text."""

    written: Written
    map: WrittenMap

    def __repr__(self) -> str:
        about = "the whole answer" if self.map.whole else f"{len(self.map.scores)} tokens"
        target = "" if self.map.target is None else f", {self.map.target}"
        return (
            f"WrittenAttribution({self.map.method}{target}: {about} from {len(self.written.ids) - 1} before)"
        )

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The scores [answer tokens, tokens before the last], NaN where a token had not been written yet."""
        return self.map.matrix

    @property
    def source_sums(self) -> NDArray[np.float64]:
        """What the source contributes to each row, the sum of its numbers [rows]; 0 if there is none."""
        return np.array([math.fsum(row[: self.written.source]) for row in self.map.scores])

    @property
    def rest(self) -> NDArray[np.float64]:
        """The scores without attention sinks: in rows with a sink the first token is NaN, and the others
        are shares of the rest."""
        matrix, source = self.matrix, self.written.source
        for row, share in enumerate(self.map.sinks(source)):
            if share is not None:
                matrix[row, source] = np.nan
                matrix[row, source:] /= np.nansum(np.abs(matrix[row, source:]))
        return matrix

    def row(self, index: int) -> Attribution:
        """What one token of the answer was written from, as the explanation of a text that ends before it.

        Raises:
            IndexError: if the answer has no such token.
        """
        written, count = self.written, len(self.map.scores)
        index = range(count)[index]
        scores = self.map.scores[index]
        end = len(scores)
        places = written.offsets[:end]
        if self.map.whole:
            target, probability = written.answer, math.exp(written.log_probability)
            predicted = written.answer
        else:
            target = written.tokens[end]
            token = written.answer_tokens[index]
            probability, predicted = math.exp(token.log_probability), token.alternatives[0].token
        return Attribution(
            text=written.text[: max((stop for _, stop in places), default=0)],
            tokens=written.tokens[:end],
            ids=written.ids[:end],
            words=written.words[:end],
            offsets=places,
            scores=scores,
            signed=self.map.signed,
            target=target,
            predicted=predicted,
            prediction=probability,
            method=self.map.method,
            reading=self.map.reading,
            settings=self.map.settings,
            intervals=None if self.map.intervals is None else self.map.intervals[index],
            conditioning=self.map.conditioning,
            position=None if self.map.whole else end,
            images=written.images,
            boxes=None if written.boxes is None else written.boxes[:end],
            image_numbers=None if written.image_numbers is None else written.image_numbers[:end],
            sink=None if written.source else self.map.sinks()[index],
            learned_sink=self.map.learned_sinks()[index],
            image_sinks=written.image_sinks if self.map.method == ATTENTION else (),
        )

    def by_word(self) -> pd.DataFrame:
        """The matrix between words: a row for each word of the answer, a column for each word of the text.

        For a word that is read, the numbers of its pieces are added up. For a word that is written, numbers
        about a target are added up, since log p(word) = Σ log p(piece); others (attention, rollout) are
        averaged, so that rows still sum to one. A special token is a word; tokens that had not been written
        yet are NaN.

        Source: Clark et al. (2019), section 4.1.
        """
        import pandas as pd

        written = self.written
        units = word_units(written.words)
        members = np.eye(units[-1] + 1)[units]  # [tokens, words]
        sums = np.nan_to_num(self.matrix) @ members[: self.matrix.shape[1]]
        names = word_names(written, units)
        if self.map.whole:
            return pd.DataFrame(sums, index=[written.answer], columns=names)
        rows = units[written.start : written.start + len(sums)]
        pieces = members[written.start : written.start + len(sums), rows[0] :]
        means = pieces if self.map.target is not None else pieces / pieces.sum(axis=0)
        table = means.T @ sums
        later = np.arange(len(names)) > np.arange(rows[0], len(names))[:, None]
        return pd.DataFrame(np.where(later, np.nan, table), index=names[rows[0] :], columns=names)

    def plain_value(self) -> Written:
        """The text with this explanation alone."""
        fields = {name: getattr(self.written, name) for name in Written.__dataclass_fields__}
        return Written(**fields | {"maps": (self.map,)})

    def to_json(self) -> str:
        """The text and the matrix."""
        return self.plain_value().to_json()

    def to_pandas(self) -> pd.DataFrame:
        """One row for each token of the answer and each token before it."""
        import pandas as pd

        written, rows = self.written, list[dict[str, Any]]()
        for number, scores in enumerate(self.map.scores):
            target = written.answer if self.map.whole else written.tokens[len(scores)]
            rows += [
                {"target": target, "target_place": None if self.map.whole else written.start + number,
                 "token": written.tokens[place], "place": place, "score": score}
                for place, score in enumerate(scores)
            ]  # fmt: skip
        return pd.DataFrame(rows)


def word_units(words: tuple[int, ...]) -> list[int]:
    """The number of the word that each token is a piece of; special tokens (−1) count as one each."""
    numbers: list[int] = []
    for place, word in enumerate(words):
        begins = place == 0 or word == -1 or word != words[place - 1]
        numbers.append((numbers[-1] if numbers else -1) + begins)
    return numbers


def word_names(written: Written, units: list[int]) -> list[str]:
    """What each word is called: its pieces as they stand in the text."""
    names = [""] * (units[-1] + 1)
    for token, unit in zip(written.tokens, units, strict=True):
        names[unit] += token
    return [one_line(name.strip()) for name in names]
