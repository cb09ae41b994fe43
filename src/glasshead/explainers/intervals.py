"""The interval of each weight that is shown: what else it could be with the same output of the heads.

Heads and rows are independent of each other once the output of each is given, so a mean of weights can be all
that lies between the means of their ends, and a product all that lies between the products.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import Encoded, encode, longest
from glasshead.errors import InputError
from glasshead.explainers.aggregate_sentences import sentence_numbers
from glasshead.explainers.aggregate_words import word_starts
from glasshead.explainers.explainer import DEFAULT_SELECTOR, EXPLAINERS, Explainer, check_texts
from glasshead.explainers.interval_arithmetic import Floats, IntervalVector
from glasshead.identifiability import SINGLE, AttentionRow, RowSelector, attention_rows
from glasshead.models import PooledClassifier
from glasshead.results import Attribution
from glasshead.trace import AttentionSelector, AttentionSite, eval_mode, head_signs_of, resolve

OTHERS = (
    "these are not the weights of this model, these texts and this reading: give what they were read with"
)
SAME = 1e-4  # relative to the largest weight: shown weights and those asked about differ by rounding alone


def with_intervals(
    attributions: Sequence[Attribution],
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    reading: AttentionSelector = DEFAULT_SELECTOR,
    tolerance: float = 0.0,
) -> list[Attribution]:
    """Attention weights of tokens, of words (`by_word`) or of sentences, with the interval of each.

    [min, max] of Σ_j w_j a′_j over all a′ that the activation can produce with a′ T = a T, where w_j = 1 for
    the tokens of a word: a linear program of its own for each word, head and row. Of several heads and rows
    the mean of the ends, with the canonical sign of each head; of words in sentences the product with the
    interval of the sentence's weight. With ``tolerance`` ε each output may move by ε of its size along each
    of its principal directions.

    All else is what the attributions were made of. Their ``reading`` then says what T was.

    Raises:
        InputError: if the attributions are no attention weights, or not those of this model, these texts and
            this reading; if the model is in half precision, or changes weights after their activation; on a
            tolerance below 0.

    Source: the constraints P1 to P3 of Bhardwaj et al. (2021); the linear programs are this project's.
    """
    for each in attributions:
        check_weights(EXPLAINERS[each.method])
    check_tolerance(tolerance)
    if len(attributions) != len(texts):
        raise InputError(f"{len(attributions)} attributions of {len(texts)} texts: give the same texts")
    if not len(texts):
        return []
    check_texts(model, pairs is not None)
    with eval_mode(model):
        encoded = encode(tokenizer, texts, pairs)
        place = resolve(model, longest(encoded, model.device), reading)
        whole = place is not None and place.unit == "sentence"
        keys = numbers(model, encoded) if whole else [None] * len(texts)
        sums = list(map(TokenSums, units(attributions, encoded, model, reading), keys))
        found, projected = of_texts(model, encoded, place, sums, tolerance)
    clause = interval_notes(place, projected, tolerance)
    return [bound_weights(*each, clause) for each in zip(attributions, found, strict=True)]


def check_weights(explainer: Explainer) -> None:
    """Raise InputError for a method whose numbers are no attention weights."""
    if not explainer.reads_weights:
        known = ", ".join(name for name, each in EXPLAINERS.items() if each.reads_weights)
        raise InputError(
            f"the numbers of the method {explainer.name!r} are no attention weights, and only these have "
            f"intervals: use the method {known}"
        )


def check_tolerance(tolerance: float) -> None:
    """Raise InputError for what is no tolerance."""
    if not 0 <= tolerance < np.inf:
        raise InputError(f"the tolerance is a number of at least 0, not {tolerance}")


def units(
    attributions: Sequence[Attribution], encoded: Encoded, model: PreTrainedModel, reading: AttentionSelector
) -> list[Floats]:
    """Which tokens each unit of each text is made of [units, tokens]: 1 where the token belongs to it.

    Raises:
        InputError: if the units are neither tokens nor words, nor the sentences that were to be read.
    """
    sentences = numbers(model, encoded) if reading.level == "sentence" else [None] * len(attributions)
    made = []
    for index, (attribution, sentence) in enumerate(zip(attributions, sentences, strict=True)):
        words = encoded.words[index][encoded.mask[index].numpy()]
        if sentence is not None:
            starts = np.flatnonzero(np.diff(sentence, prepend=-1)).tolist()
        elif len(attribution.scores) == len(words):
            starts = list(range(len(words)))
        else:
            starts = word_starts(words.tolist())
        if len(starts) != len(attribution.scores):
            raise InputError(OTHERS)
        unit = np.searchsorted(starts, np.arange(len(words)), side="right") - 1
        made.append((unit == np.arange(len(starts))[:, None]).astype(float))
    return made


def numbers(model: PreTrainedModel, encoded: Encoded) -> list[NDArray[np.int64]]:
    """The sentence of each token, text by text, without padding."""
    return [row[row >= 0].numpy() for row in sentence_numbers(model, encoded)]


@dataclass(frozen=True)
class TokenSums:
    """Units as sums of keys: ``tokens`` [units, tokens] says what a unit is made of, ``sentences`` [tokens]
    the key of each token where keys are sentences, of whose weight each token has an equal share."""

    tokens: Floats
    sentences: NDArray[np.int64] | None = None

    def over(self, keys: NDArray[np.int64]) -> Floats:
        """The weights of the sums [units, keys]."""
        if self.sentences is None:
            return self.tokens[:, keys]
        there = (self.sentences[:, None] == keys).astype(float)
        return self.tokens @ (there / np.maximum(there.sum(axis=0), 1.0))


def of_texts(
    model: PreTrainedModel,
    encoded: Encoded,
    place: AttentionSite | None,
    sums: Sequence[TokenSums],
    tolerance: float,
) -> tuple[list[IntervalVector], set[bool]]:
    """The units of each text, and whether heads were read after their output projection."""
    found, projected = read(model, encoded, place, sums, tolerance)
    if place is not None and place.above is not None:
        whole = [TokenSums(np.eye(int(each.max(initial=0)) + 1)) for each in numbers(model, encoded)]
        above, again = read(model, encoded, place.above, whole, tolerance)
        projected |= again
        found = {(text, part): each.times(above[text, 0], part) for (text, part), each in found.items()}
    totals = [IntervalVector.zeros(len(each.tokens)) for each in sums]
    for (text, _), each in found.items():
        totals[text] = totals[text].plus(each)
    return totals, projected


@dataclass
class RunningMean:
    """A mean over rows and heads, on the way."""

    total: IntervalVector
    rows: set[int] = field(default_factory=set)


def read(
    model: PreTrainedModel,
    encoded: Encoded,
    place: AttentionSite | None,
    sums: Sequence[TokenSums],
    tolerance: float,
) -> tuple[dict[tuple[int, int], IntervalVector], set[bool]]:
    """The units of each text and part, as the heads and rows of the place have them in the mean, and whether
    they were read after their output projection."""
    means: dict[tuple[int, int], RunningMean] = {}
    projected: set[bool] = set()
    for batch in attention_rows(model, encoded, where(place)):
        for row in batch:
            mean = means.setdefault(
                (row.text, row.part), RunningMean(IntervalVector.zeros(len(sums[row.text].tokens)))
            )
            mean.rows.add(row.row)
            mean.total = mean.total.plus(of_row(row, sums[row.text], tolerance).scale(sign(model, row)))
            projected.add(row.projected)
    heads = place.heads if place is not None and place.head is None else 1
    found = {key: mean.total.scale(1 / (heads * len(mean.rows))) for key, mean in means.items()}
    return found, projected


def of_row(row: AttentionRow, sums: TokenSums, tolerance: float) -> IntervalVector:
    """The units of a text as one row of one head has them; what it may not attend to has no weight."""
    functions = sums.over(row.keys)
    ends = IntervalVector.zeros(len(functions))
    touched = functions.any(axis=1)
    found = row.intervals(tolerance, functions[touched])
    for mine, theirs in ((ends.value, found.value), (ends.low, found.low), (ends.high, found.high)):
        mine[touched] = theirs
    return replace(ends, conditioning=found.conditioning)


def where(place: AttentionSite | None) -> RowSelector:
    """The place as rows of heads are asked for; None is the one attention of a pooled classifier."""
    if place is None:
        return RowSelector()
    heads = None if place.head is None else (place.head,)
    return RowSelector((place.layer,), heads, "all" if place.row == "mean" else place.row)


def sign(model: PreTrainedModel, row: AttentionRow) -> float:
    """The canonical sign of a head; 1 where none was fixed."""
    if isinstance(model, PooledClassifier):
        return float(model.config.gauge)
    signs = head_signs_of(model, row.layer)
    return 1.0 if signs is None else float(signs[row.head])


def bound_weights(attribution: Attribution, ends: IntervalVector, reading: str) -> Attribution:
    """The attribution with these ends.

    Raises:
        InputError: if its scores are other weights.
    """
    scores = np.array(attribution.scores)
    # Signed heads and rows may cancel in the mean; the rounding of each does not.
    allowed = SAME * np.abs(scores).max(initial=0.0) + SINGLE
    if (np.abs(scores - ends.value) > allowed).any():
        raise InputError(OTHERS)
    # Rounding must not push a weight out of its own interval.
    ends = replace(ends, low=np.minimum(ends.low, scores), high=np.maximum(ends.high, scores))
    return replace(
        attribution,
        intervals=ends.intervals(),
        conditioning=ends.conditioning,
        reading=f"{attribution.reading or 'the learned query'}; {reading}",
    )


def interval_notes(place: AttentionSite | None, projected: set[bool], tolerance: float) -> str:
    """What stays the same within the intervals, in words."""
    if place is None or place.row == "pooled":
        output = "the same pooled vector"
    elif projected == {True}:
        output = "the same output of each head after its projection"
    elif projected == {False}:
        output = "the same output of each head before any projection"
    else:
        output = "the same output of each head, after its projection where it has one"
    moved = f", up to {100 * tolerance:g} % of its size along each direction" if tolerance else ""
    return f"intervals: weights with {output}{moved}"
