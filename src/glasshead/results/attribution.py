"""The explanation of one text: a number for each of its tokens."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.nouns import IMAGE_NOUNS, IMAGE_TEXT_NOUNS, SEVERAL_IMAGES_NOUNS, TEXTS, Nouns
from glasshead.results.json_text import json_text

POINT_WIDTH = 1e-6
"""A weight with an interval this narrow has one value; an interval this close to zero reaches it."""
WORDS_SHOWN = 5
"""Words of a ``repr``: those with the largest numbers."""
CLEAR_RANK_MARGIN = 100.0
"""A rank with less margin over rounding makes no weight certain."""
SINK_SHARE = 0.5
"""More of the weights than this on the first token is an attention sink."""


@dataclass(frozen=True, repr=False)
class Attribution(Drawable):
    """One number per token of one text: how much each mattered for one target.

    ``scores``, ``tokens``, ``ids``, ``words`` and ``offsets`` have one entry per token; ``words`` is the
    index of the word a token belongs to, ``offsets`` its place in ``text``. ``prediction`` is the target's
    probability or, where the model ``rates``, the predicted number. ``contributions`` (a_i · o_i, invariant
    under the sign gauge) accompanies attention weights and is what colours a map by default. ``reading`` says
    which attention of a model with several was read, ``caveat`` why the numbers mean little for this model.
    ``word_scores`` has the number of each word at its first token, if it is not the sum over its tokens.
    ``sink`` is the share of all weights on the first token, if a model reads from left to right and the
    share is above a half: an attention sink (Xiao et al. 2024). `rest` has the weights without it.
    ``learned_sink`` is the share that sinks which are no tokens take from each row, such as those that heads
    have learned (gpt-oss): the weights sum to what is left.
    ``image_sinks`` are the places of attention sinks among the tokens of an image: nearly every head looks at
    them, and if nothing is read from one, the prediction changes by less than 0.05, and no more than for an
    average other part.
    ``asked`` is the part of the text, the answer, or the rating that the question is about. ``position`` is
    the place of the target token in a written text, counted from 0. For an image, ``text`` is its name,
    ``images`` has a data URI of its pixels as the model reads them, and ``boxes`` are left, top, right and
    bottom of each token in its pixels (None for special tokens). If images are read with a text, ``text``
    is the text, its words have no boxes, and ``image_numbers`` has the number of the image of each token,
    counted from 1. ``halves`` are the sizes of the weights for and against, means over heads, where the
    scores are means in which they cancel. ``settings`` names the steps, samples or baseline, and
    ``completeness_gap`` says by how much their sum misses the change of the prediction.

    ``intervals`` holds for each token the smallest and the largest weight with which the head would give the
    same output, in the gauge of ``scores``: these are bounds of what is possible, not confidence intervals.
    An end is None where nothing bounds it, an entry None where the interval is not known (no solver had an
    answer, or this token was left out); ``intervals`` is None if they were not requested. ``conditioning`` is
    1/margin of the least clear rank behind them: rounding of the values moves an end by about a hundredth of
    it (10⁻³ at margin 10), and where it is above 1/100 no weight is called certain.

    Raises:
        ValueError: if ``intervals`` are not one for each token.
    """

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    words: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]
    signed: bool
    target: str
    predicted: str
    prediction: float
    method: str
    contributions: tuple[float, ...] | None = None
    rates: bool = False
    reading: str | None = None
    intervals: tuple[tuple[float | None, float | None] | None, ...] | None = None
    conditioning: float | None = None
    caveat: str | None = None
    settings: str | None = None
    completeness_gap: float | None = None
    word_scores: tuple[float, ...] | None = None
    sink: float | None = None
    position: int | None = None
    images: tuple[str, ...] = ()
    boxes: tuple[tuple[int, int, int, int] | None, ...] | None = None
    image_numbers: tuple[int | None, ...] | None = None
    halves: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    asked: str | None = None
    image_sinks: tuple[int, ...] = ()
    learned_sink: float | None = None

    def __post_init__(self) -> None:
        if self.intervals is not None and len(self.intervals) != len(self.scores):
            raise ValueError(f"{len(self.intervals)} intervals for {len(self.scores)} scores")

    @property
    def nouns(self) -> Nouns:
        """The nouns for the input and its units."""
        if self.has_words:
            return SEVERAL_IMAGES_NOUNS if len(self.images) > 1 else IMAGE_TEXT_NOUNS
        return IMAGE_NOUNS if self.images else TEXTS

    @property
    def has_words(self) -> bool:
        """Whether it explains an image and a text that were read together."""
        return self.boxes is not None and any(end > start for start, end in self.offsets)

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 40 else f"{self.text[:39]}…"
        known = [i for i, value in enumerate(self.colours) if value is not None and math.isfinite(value)]
        strongest = sorted(known, key=lambda i: -abs(self.colours[i]))[:WORDS_SHOWN]
        words = " ".join(f"{self.tokens[i]} {self.colours[i]:+.2g}" for i in strongest)
        prediction = (
            f"{self.target} {self.prediction:.2f}{self.of_asked}"
            if self.rates
            else f"predicted {self.predicted}{self.of_asked}, p({self.target}) = {self.probability}"
        )
        what = self.method if self.colours is self.scores else f"contributions of {self.method}"
        return one_line(f"{text!r}, {prediction}, {what}: {words}{' …' if len(known) > WORDS_SHOWN else ''}")

    @property
    def probability(self) -> str:
        """The prediction with two digits; that of a long answer is tiny."""
        return f"{self.prediction:.2f}" if self.prediction >= 0.005 else f"{self.prediction:.2g}"

    @property
    def of_asked(self) -> str:
        """The question in words; empty where a whole text has a class, or the target names it."""
        is_target = self.asked is not None and self.target.strip("“” ") == self.asked.strip()
        return "" if self.asked is None or is_target else f" for “{self.asked}”"

    def to_json(self) -> str:
        """An object with all fields."""
        return json_text(self)

    @property
    def colours(self) -> tuple[float, ...]:
        """What a drawing shows: the scores where they have intervals, else contributions if there are any."""
        if self.contributions is None or self.intervals is not None:
            return self.scores
        return self.contributions

    @property
    def off_scale(self) -> frozenset[int]:
        """The attention sinks, which are left out of the scale of the colours where these show weights."""
        if self.colours is not self.scores:
            return frozenset()
        return frozenset(self.image_sinks) | frozenset([] if self.sink is None else [0])

    @property
    def marked_sinks(self) -> frozenset[int]:
        """The attention sinks that a drawing marks in the image."""
        return self.off_scale | frozenset(self.image_sinks)

    @property
    def positive(self) -> tuple[float, ...]:
        """What speaks for the target, as sizes; for means over heads, the mean of the positive parts."""
        return tuple(max(score, 0.0) for score in self.scores) if self.halves is None else self.halves[0]

    @property
    def negative(self) -> tuple[float, ...]:
        """The size of the negative part."""
        return tuple(max(-score, 0.0) for score in self.scores) if self.halves is None else self.halves[1]

    @property
    def rest(self) -> tuple[float | None, ...] | None:
        """Every weight as a share of those after the first token, Σ |a_i| = 1 over i > 0, with None for the
        first. None if the first token is not a sink, or nothing is left."""
        left = sum(map(abs, self.scores[1:]))
        if self.sink is None or not left:
            return None
        return (None, *(score / left for score in self.scores[1:]))

    def interval(self, *tokens: int) -> tuple[float, float] | None:
        """[low, high] of a token's weight, ±∞ where nothing bounds it; None where it is not known. For
        several tokens, the sums of their ends."""
        lows, highs = [], []
        for token in tokens:
            ends = None if self.intervals is None else self.intervals[token]
            if ends is None:
                return None
            lows.append(-math.inf if ends[0] is None else ends[0])
            highs.append(math.inf if ends[1] is None else ends[1])
        return sum(lows), sum(highs)

    def certain(self, *tokens: int) -> bool:
        """Whether the head's output allows only one value of this weight: its interval has no width (up to
        1e-6), and rounding does not affect the rank behind it."""
        ends = self.interval(*tokens)
        return self.clear and ends is not None and ends[1] - ends[0] <= POINT_WIDTH

    @property
    def clear(self) -> bool:
        """Whether the ranks behind the intervals are unaffected by rounding."""
        return self.conditioning is None or self.conditioning * CLEAR_RANK_MARGIN <= 1

    def least(self, *tokens: int) -> float | None:
        """The weight nearest to zero that this token can have; None where that is not known."""
        ends = self.interval(*tokens)
        return None if ends is None else min(max(0.0, ends[0]), ends[1])

    def may_be_zero(self, *tokens: int) -> bool:
        """Whether the head's output would be possible without weight on this token: its interval reaches
        zero (up to 1e-6).

        False for a certain weight, even if it is zero.
        """
        least = self.least(*tokens)
        return least is not None and abs(least) <= POINT_WIDTH and not self.certain(*tokens)


def sink_of(weights: Sequence[float]) -> float | None:
    """|a_0| / Σ|a| of a row of a causal map, if that is an attention sink; else None.

    Source: Xiao et al. (2024).
    """
    total = math.fsum(map(abs, weights))
    share = abs(weights[0]) / total if total else 0.0
    return share if SINK_SHARE < share < 1 else None


def missing_share(weights: Sequence[float]) -> float:
    """1 − Σ a, what sinks that are no tokens have of a row; 0 where that may be rounding of float32."""
    missing = 1.0 - math.fsum(weights)
    return missing if missing > 1e-6 else 0.0
