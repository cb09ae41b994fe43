"""The interval of each weight that is shown: what else it could be with the same output of the heads.

Heads and rows are independent of each other once the output of each is given, so a mean of weights can be all
that lies between the means of their ends, and a product all that lies between the products.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.arrays import Floats
from glasshead.data import Encoded, UnitReader
from glasshead.errors import InputError
from glasshead.explainers.aggregate_sentences import sentence_numbers
from glasshead.explainers.aggregate_words import word_starts
from glasshead.explainers.explainer import EXPLAINERS, Explainer, check_pairs, find_explainer
from glasshead.explainers.explanation_context import DEFAULT_SELECTOR
from glasshead.huggingface import Inputs, ask_usual
from glasshead.identifiability import FLOAT32_EPS, AttentionRow, RowSelector, attention_rows
from glasshead.models import PooledClassifier
from glasshead.results import Attribution
from glasshead.trace import (
    READ,
    AttentionSelector,
    AttentionSite,
    ReadRows,
    eval_mode,
    find_read_attention,
    head_signs_of,
)


@dataclass(frozen=True)
class IntervalVector:
    """Values of units [units] with their intervals; NaN where an interval is not known, ±∞ without bounds.

    ``conditioning`` is that of the least clear rank behind them (`Intervals.conditioning`).
    """

    value: Floats
    low: Floats
    high: Floats
    conditioning: float = 0.0

    @classmethod
    def zeros(cls, units: int) -> "IntervalVector":
        return cls(*np.zeros((3, units)))

    def intervals(self) -> tuple[tuple[float | None, float | None] | None, ...]:
        """Intervals of an attribution: None where one is not known, and for an end without bounds."""

        def end(value: float) -> float | None:
            return float(value) + 0.0 if np.isfinite(value) else None  # −0 is 0

        known = ~(np.isnan(self.low) | np.isnan(self.high))
        return tuple(
            (end(a), end(b)) if is_known else None
            for a, b, is_known in zip(self.low, self.high, known, strict=True)
        )

    def plus(self, other: "IntervalVector") -> "IntervalVector":
        """The intervals of the sum of two that are independent."""
        worst = max(self.conditioning, other.conditioning)
        return IntervalVector(self.value + other.value, self.low + other.low, self.high + other.high, worst)

    def scale(self, factor: float) -> "IntervalVector":
        """The intervals multiplied by a factor, which swaps the ends if it is negative."""
        ends = self.low * factor, self.high * factor
        low, high = ends if factor >= 0 else ends[::-1]
        return IntervalVector(self.value * factor, low, high, self.conditioning)

    def times(self, other: "IntervalVector", unit: int) -> "IntervalVector":
        """The intervals of the products with one unit of others, independent of these."""
        low, high = other.low[unit], other.high[unit]
        with np.errstate(invalid="ignore"):
            corners = np.stack([own * factor for own in (self.low, self.high) for factor in (low, high)])
        # Nothing times something without bounds is nothing.
        unknown = np.isnan(self.low) | np.isnan(low)
        corners = np.where(np.isnan(corners) & ~unknown, 0.0, corners)
        worst = max(self.conditioning, other.conditioning)
        return IntervalVector(self.value * other.value[unit], corners.min(axis=0), corners.max(axis=0), worst)


MISMATCH = (
    "these are not the weights of this model, these texts and this attention: pass the ones they come from"
)
SCORE_TOLERANCE = (
    1e-4  # relative to the largest weight: shown weights and those asked about differ by rounding alone
)


def with_intervals(
    attributions: Sequence[Attribution],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None = None,
    *,
    attention_selector: AttentionSelector = DEFAULT_SELECTOR,
    tolerance: float = 0.0,
    encoded: Encoded | None = None,
) -> list[Attribution]:
    """Attention weights of tokens, of words (`by_word`) or of sentences, with the interval of each.

    [min, max] of Σ_j w_j a′_j over all a′ that the activation can produce with a′ T = a T, where w_j = 1 for
    the tokens of a word: a linear program of its own for each word, head and row. For several heads and
    rows it is the mean of the ends, with the canonical sign of each head; for words in sentences, the
    product with the interval of the sentence's weight. With ``tolerance`` ε each output may move by ε of
    its size along each of its principal directions.

    The other arguments are those that the attributions were made with. Their ``reading`` then says what T
    was.

    Raises:
        InputError: if the attributions are not the attention weights of this model, these texts and this
            attention; if the model is in half precision, or changes weights after their activation; on a
            tolerance below 0.

    Source: the constraints P1 to P3 of Bhardwaj et al. (2021); the linear programs are this project's.
    """
    for method in {attribution.method for attribution in attributions}:
        require_weights(find_explainer(method))
    check_tolerance(tolerance)
    if len(attributions) != len(texts):
        raise InputError(f"{len(attributions)} attributions of {len(texts)} texts: give the same texts")
    if not len(texts):
        return []
    check_pairs(model, pairs is not None)
    with eval_mode(model):
        encoded = ask_usual(model, Inputs.read(tokenizer, texts, pairs)) if encoded is None else encoded
        attention = find_read_attention(model, encoded, attention_selector)
        site = None if attention is None else attention.site
        rows = ReadRows(frozenset()) if attention is None else attention.rows
        by_sentence = site is not None and site.key_unit == "sentence"
        keys = sentence_of_tokens(model, encoded) if by_sentence else [None] * len(texts)
        sums = list(map(TokenSums, unit_membership(attributions, encoded, model, attention_selector), keys))
        intervals, projected = text_intervals(model, encoded, site, rows, sums, tolerance)
    note = describe_intervals(site, projected, tolerance)
    return [
        attach_intervals(attribution, weights, note)
        for attribution, weights in zip(attributions, intervals, strict=True)
    ]


def require_weights(explainer: Explainer) -> None:
    """Raise InputError for a method whose numbers are not attention weights."""
    if not explainer.reads_weights:
        known = ", ".join(name for name, known in EXPLAINERS.items() if known.reads_weights)
        raise InputError(
            f"the numbers of the method {explainer.name!r} are not attention weights, and only these have "
            f"intervals: use the method {known}"
        )


def check_tolerance(tolerance: float) -> None:
    """Raise InputError for what is not a tolerance."""
    if not 0 <= tolerance < np.inf:
        raise InputError(f"the tolerance must be a number of at least 0, not {tolerance}")


def unit_membership(
    attributions: Sequence[Attribution],
    encoded: Encoded,
    model: PreTrainedModel,
    attention_selector: AttentionSelector,
) -> list[Floats]:
    """Which tokens each unit of each text is made of [units, tokens]: 1 where the token belongs to it.

    Raises:
        InputError: if the units are neither tokens nor words, nor the sentences that were to be read.
    """
    sentences = (
        sentence_of_tokens(model, encoded)
        if attention_selector.level == "sentence"
        else [None] * len(attributions)
    )
    membership = []
    for index, (attribution, sentence) in enumerate(zip(attributions, sentences, strict=True)):
        words = encoded.words[index][encoded.mask[index].numpy()]
        if sentence is not None:
            starts = np.flatnonzero(np.diff(sentence, prepend=-1)).tolist()
        elif len(attribution.scores) == len(words):
            starts = list(range(len(words)))
        else:
            starts = word_starts(words.tolist())
        if len(starts) != len(attribution.scores):
            raise InputError(MISMATCH)
        unit = np.searchsorted(starts, np.arange(len(words)), side="right") - 1
        membership.append((unit == np.arange(len(starts))[:, None]).astype(float))
    return membership


def sentence_of_tokens(model: PreTrainedModel, encoded: Encoded) -> list[NDArray[np.int64]]:
    """The sentence of each token, text by text, without padding."""
    return [row[row >= 0].numpy() for row in sentence_numbers(model, encoded)]


@dataclass(frozen=True)
class TokenSums:
    """Units as sums of keys: ``tokens`` [units, tokens] says what a unit is made of, ``sentences`` [tokens]
    the key of each token where keys are sentences, of whose weight each token has an equal share."""

    tokens: Floats
    sentences: NDArray[np.int64] | None = None

    def coefficients(self, keys: NDArray[np.int64]) -> Floats:
        """How much of each key each unit has [units, keys]."""
        if self.sentences is None:
            return self.tokens[:, keys]
        in_sentence = (self.sentences[:, None] == keys).astype(float)
        return self.tokens @ (in_sentence / np.maximum(in_sentence.sum(axis=0), 1.0))


def text_intervals(
    model: PreTrainedModel,
    encoded: Encoded,
    site: AttentionSite | None,
    rows: ReadRows,
    sums: Sequence[TokenSums],
    tolerance: float,
) -> tuple[list[IntervalVector], set[bool]]:
    """The units of each text, and whether heads were read after their output projection."""
    by_part, projected = site_intervals(model, encoded, site, rows, sums, tolerance)
    if site is not None and site.above is not None:
        assert rows.above is not None
        sentences = [
            TokenSums(np.eye(int(numbers.max(initial=0)) + 1))
            for numbers in sentence_of_tokens(model, encoded)
        ]
        of_sentences, projected_above = site_intervals(
            model, encoded, site.above, rows.above, sentences, tolerance
        )
        projected |= projected_above
        by_part = {
            (text, part): weights.times(of_sentences[text, 0], part)
            for (text, part), weights in by_part.items()
        }
    totals = [IntervalVector.zeros(len(units.tokens)) for units in sums]
    for (text, _), weights in by_part.items():
        totals[text] = totals[text].plus(weights)
    return totals, projected


def site_intervals(
    model: PreTrainedModel,
    encoded: Encoded,
    site: AttentionSite | None,
    rows: ReadRows,
    sums: Sequence[TokenSums],
    tolerance: float,
) -> tuple[dict[tuple[int, int], IntervalVector], set[bool]]:
    """The units of each text and part, as the mean over the heads and the rows of the site have them, and
    whether they were read after their output projection."""
    totals: dict[tuple[int, int], IntervalVector] = {}
    projected: set[bool] = set()
    heads = site.num_heads if site is not None and site.head is None else 1
    for batch in attention_rows(model, encoded, rows_of_site(site), rows):
        for row in batch:
            share = head_sign(model, row) * row.share / heads
            weights = row_intervals(row, sums[row.text], tolerance).scale(share)
            before = totals.get((row.text, row.part), IntervalVector.zeros(len(sums[row.text].tokens)))
            totals[row.text, row.part] = before.plus(weights)
            projected.add(row.projected)
    return totals, projected


def row_intervals(row: AttentionRow, sums: TokenSums, tolerance: float) -> IntervalVector:
    """The units of a text as one row of one head has them; what it may not attend to has no weight."""
    coefficients = sums.coefficients(row.keys)
    attended = coefficients.any(axis=1)
    intervals = row.intervals(tolerance, coefficients[attended])
    weights = IntervalVector.zeros(len(coefficients))
    weights.value[attended] = intervals.value
    weights.low[attended] = intervals.low
    weights.high[attended] = intervals.high
    return replace(weights, conditioning=intervals.conditioning)


def rows_of_site(site: AttentionSite | None) -> RowSelector:
    """The site as a selector of rows; None is the one attention of a pooled classifier."""
    if site is None:
        return RowSelector()
    heads = None if site.head is None else (site.head,)
    return RowSelector((site.layer,), heads, READ)


def head_sign(model: PreTrainedModel, row: AttentionRow) -> float:
    """The canonical sign of a head; 1 where none was fixed."""
    if isinstance(model, PooledClassifier):
        return float(model.config.gauge)
    signs = head_signs_of(model, row.layer)
    return 1.0 if signs is None else float(signs[row.head])


def attach_intervals(attribution: Attribution, weights: IntervalVector, note: str) -> Attribution:
    """The attribution with the intervals of its weights, and a note on them.

    Raises:
        InputError: if its scores are other weights.
    """
    scores = np.array(attribution.scores)
    # Signed heads and rows may cancel in the mean; the rounding of each does not.
    allowed = SCORE_TOLERANCE * np.abs(scores).max(initial=0.0) + FLOAT32_EPS
    if (np.abs(scores - weights.value) > allowed).any():
        raise InputError(MISMATCH)
    # Rounding must not push a weight out of its own interval.
    low, high = np.minimum(weights.low, scores), np.maximum(weights.high, scores)
    return replace(
        attribution,
        intervals=replace(weights, low=low, high=high).intervals(),
        conditioning=weights.conditioning,
        reading=f"{attribution.reading or 'the learned query'}; {note}",
    )


def describe_intervals(site: AttentionSite | None, projected: set[bool], tolerance: float) -> str:
    """What stays the same within the intervals, in words."""
    if site is None or site.row == "pooled":
        output = "the same pooled vector"
    elif projected == {True}:
        output = "the same output of each head after its projection"
    elif projected == {False}:
        output = "the same output of each head before any projection"
    else:
        output = "the same output of each head, after its projection where it has one"
    moved = f", up to {100 * tolerance:g} % of its size along each direction" if tolerance else ""
    return f"intervals: weights with {output}{moved}"
