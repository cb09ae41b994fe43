"""A text cut into the spans that a drawing colours: the tokens at their offsets, the rest plain."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glasshead.escaping import visible
from glasshead.report.number_format import DASH, finite, number
from glasshead.report.weight_intervals import spoken_range
from glasshead.results import SMALL_CHANGE, Attribution, Written
from glasshead.wording import join_names

OTHER_SINKS = "sinks that are no tokens"
SCORE_NAMES = (
    dict.fromkeys(("attention", "layer-mean", "layer-max", "layer-min"), "weight")
    | dict.fromkeys(("attention-flow", "attention-flow-absolute"), "flow")
    | dict.fromkeys(("value-norm", "value-norm-residual"), "norm")
    | dict.fromkeys(("attn-lrp", "cp-lrp"), "relevance")
    | {"layer-sum": "sum of weights"}
)
"""What the numbers of a method are; those of all others are scores."""


@dataclass(frozen=True)
class TextSpan:
    """``text[start:end]`` and the ``tokens`` that lie there, none where the text is plain.

    Tokens share a place where one letter is several of them (the bytes of an emoji, a blank and its
    character, the words that a sign is normalised to). A token that shares but part of its place has
    several spans.
    """

    start: int
    end: int
    tokens: tuple[int, ...] = ()

    @property
    def token(self) -> int | None:
        """The first of its tokens; None where none lies."""
        return self.tokens[0] if self.tokens else None


@dataclass(frozen=True)
class ColouredSpan(TextSpan):
    """The same with its colour: ``share`` of full strength in [−1, 1], of the sum of its tokens, and
    ``least``, that of the least weight they can have; ``doubt`` is ``maybe`` for a weight that may be zero,
    ``unknown`` for one without a range."""

    share: float = 0.0
    least: float = 0.0
    doubt: Literal["", "maybe", "unknown"] = ""


def text_spans(attribution: Attribution) -> Iterator[TextSpan]:
    """The whole text in order; tokens without a place of their own (special ones) do not appear."""
    length = len(attribution.text)
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for token, (start, end) in enumerate(attribution.offsets):
        start, end = max(start, 0), min(end, length)
        if end > start:
            begins.setdefault(start, []).append(token)
            ends.setdefault(end, []).append(token)
    here, tokens = 0, set[int]()
    for place in sorted({*begins, *ends, length}):
        if place > here:
            yield TextSpan(here, place, tuple(sorted(tokens)))
        tokens = (tokens - set(ends.get(place, ()))) | set(begins.get(place, ()))
        here = place


def coloured_spans(attribution: Attribution, scale: float) -> Iterator[ColouredSpan]:
    """The whole text in order with the colour of each place; ``scale`` is what is drawn at full strength."""
    for span in text_spans(attribution):
        if not span.tokens:
            yield ColouredSpan(span.start, span.end)
            continue
        yield ColouredSpan(
            span.start, span.end, span.tokens,
            share=normalised_score(drawn_number(attribution, span.tokens), scale),
            least=normalised_score(attribution.least(*span.tokens), scale),
            doubt=doubt(attribution, *span.tokens),
        )  # fmt: skip


def drawn_number(attribution: Attribution, tokens: Sequence[int]) -> float | None:
    """What the tokens of one place add up to of what is drawn; None where one of them has no number."""
    return sum_of(attribution.colours, tokens)


def sum_of(numbers: Sequence[float | None], tokens: Sequence[int]) -> float | None:
    """The sum of the numbers of these tokens; None where one does not exist."""
    known = [finite(numbers[token]) for token in tokens]
    return None if None in known else math.fsum(value for value in known if value is not None)


def doubt(attribution: Attribution, *tokens: int) -> Literal["", "maybe", "unknown"]:
    """Whether the weight of tokens there may be zero, or has no known range; empty if not requested."""
    if attribution.intervals is None:
        return ""
    if attribution.interval(*tokens) is None:
        return "unknown"
    return "maybe" if attribution.may_be_zero(*tokens) else ""


def max_abs(attribution: Attribution) -> float:
    """The largest magnitude among the drawn numbers of one text; 0 for an empty one."""
    return max((abs(value) for value in map(finite, attribution.colours) if value is not None), default=0.0)


def drawn_places(attribution: Attribution) -> list[tuple[int, ...]]:
    """The tokens of every place in the text, or in the image, in order."""
    boxes = attribution.boxes or ()
    places: list[tuple[int, ...]] = [(token,) for token, box in enumerate(boxes) if box is not None]
    if attribution.boxes is not None and not attribution.has_words:
        return places
    return places + [span.tokens for span in text_spans(attribution) if span.tokens]


def drawn_tokens(attribution: Attribution) -> set[int]:
    """The tokens that have a place in the text, or in the image."""
    return {token for tokens in drawn_places(attribution) for token in tokens}


def drawn_max(attribution: Attribution) -> float:
    """The largest magnitude of what is drawn at a place of the text; a sink pales no other weight."""
    places = [tokens for tokens in drawn_places(attribution) if attribution.off_scale.isdisjoint(tokens)]
    values = (drawn_number(attribution, tokens) for tokens in places)
    return max((abs(value) for value in values if value is not None), default=0.0)


def undrawn(attribution: Attribution) -> str:
    """The largest number that has no place in the text, if it is above all that have: ``not drawn: [CLS]
    0.62``."""
    drawn, most = drawn_tokens(attribution), drawn_max(attribution)
    others = [
        (abs(value), token)
        for token, value in enumerate(map(finite, attribution.colours))
        if token not in drawn and value is not None and abs(value) > most
    ]
    if not drawn or not others:
        return ""
    _, token = max(others)
    value = number(attribution.colours[token], plus=diverging(attribution))
    return f"not drawn: {visible(attribution.tokens[token])} {value}"


def diverging(attribution: Attribution) -> bool:
    """Whether its numbers can be below zero."""
    return attribution.signed or (attribution.contributions is not None and attribution.intervals is None)


def shared_scale(attributions: Iterable[Attribution], quantile: float = 1.0) -> float:
    """The magnitude drawn at full strength. Several texts share it, so that you can compare them.

    A quantile below 1 keeps one extreme text from making all others pale. Tokens without a place in the
    text, such as [CLS], do not count.
    """
    peaks = [value for value in map(drawn_max, attributions) if value > 0]
    return float(np.quantile(peaks, quantile)) if peaks else 1.0


def scales_of(attributions: Sequence[Attribution]) -> list[float]:
    """The scale of each: one for all texts of a method, since numbers of different methods are not
    comparable."""
    of_method = {
        method: shared_scale(one for one in attributions if one.method == method)
        for method in {one.method for one in attributions}
    }
    return [of_method[one.method] for one in attributions]


def scale_words(attribution: Attribution, scale: float) -> str:
    """What full colour means: ``full colour: contribution 0.033``."""
    return f"full colour: {quantity(attribution)} {number(scale)}"


def normalised_score(value: float | None, scale: float) -> float:
    """Signed strength in [−1, 1]; 0 where the number does not exist."""
    amount = finite(value)
    return 0.0 if amount is None or scale <= 0 else max(-1.0, min(1.0, amount / scale))


def score_name(attribution: Attribution) -> str:
    """What the scores of this method are called, whatever its options."""
    return SCORE_NAMES.get(attribution.method.split("+")[0], "score")


def quantity(attribution: Attribution) -> str:
    """What the colours stand for: the contribution, or what the scores of the method are."""
    return score_name(attribution) if attribution.colours is attribution.scores else "contribution"


def prediction(attribution: Attribution) -> str:
    """What the model predicts, in words."""
    if attribution.rates:
        predicted = "predicted " if attribution.target == "rating" else ""
        return f"{predicted}{attribution.target} {number(attribution.prediction, 2)}{attribution.of_asked}"
    probability = number(attribution.prediction)
    return f"predicted {attribution.predicted}{attribution.of_asked}, p({attribution.target}) = {probability}"


def computation(attribution: Attribution) -> str:
    """The settings of the computation, and the completeness gap; empty if there is nothing to report."""
    gap = attribution.completeness_gap
    missed = "" if gap is None else f"completeness gap {gap:+.2g}"
    return "; ".join(filter(None, (attribution.settings, missed)))


def sink_in_words(attribution: Attribution) -> str:
    """How much of the attention is on sinks: learned ones, the first token, and parts of the image; else
    empty."""
    words = []
    if attribution.learned_sink is not None:
        words.append(f"{number(attribution.learned_sink)} of the attention goes to {OTHER_SINKS}")
    if attribution.sink is not None:
        words.append(
            f"{number(attribution.sink)} of the weights is on the first token, an attention sink: models "
            "that read from left to right often put unused weight there"
        )
    if attribution.image_sinks:
        scores, boxes = attribution.scores, attribution.boxes or ()
        seen = [token for token, box in enumerate(boxes) if box is not None] or list(attribution.image_sinks)
        whole = math.fsum(abs(scores[token]) for token in seen)
        own = math.fsum(abs(scores[token]) for token in attribution.image_sinks)
        share = number(own / whole) if whole else DASH
        words.append(f"{share} of the weights on the image is on {sinks_in_words(attribution)} (marked ×)")
    return "; ".join(words)


def sinks_in_words(attribution: Attribution | Written) -> str:
    """The attention sinks of an image, and what they are."""
    names = [visible(attribution.tokens[token]) for token in attribution.image_sinks]
    sinks = "an attention sink" if len(names) == 1 else "attention sinks"
    return (
        f"{join_names(names)}, {sinks} in the image: nearly every head looks there, and if nothing is read "
        f"there the prediction changes by less than {SMALL_CHANGE:g}, no more than for an average other part"
    )


def token_description(attribution: Attribution, *tokens: int) -> str:
    """One line on the tokens of one place: the numbers of each, and what they add up to."""
    lines = [f"{names_of(attribution, [token])}: {numbers_in_words(attribution, token)}" for token in tokens]
    if len(tokens) > 1:
        lines.append(f"together: {numbers_in_words(attribution, *tokens)}")
    return "; ".join(lines)


def numbers_in_words(attribution: Attribution, *tokens: int) -> str:
    """The numbers of tokens of one place, added up."""
    score = sum_of(attribution.scores, tokens)
    parts = [f"{score_name(attribution)} {number(score, plus=attribution.signed)}"]
    if attribution.intervals is not None:
        parts.append(spoken_range(attribution, *tokens))
    if attribution.contributions is not None:
        parts.append(f"contribution {number(sum_of(attribution.contributions, tokens), plus=True)}")
    return ", ".join(parts)


def strongest_tokens(attribution: Attribution, most: int = 3) -> str:
    """The tokens that matter most, in words, for those who see no colours; those of one place together."""
    places = drawn_places(attribution)
    drawn = {token for tokens in places for token in tokens}
    places += [(token,) for token in range(len(attribution.tokens)) if token not in drawn]
    sizes = [(abs(v), tokens) for tokens in places if (v := drawn_number(attribution, tokens))]
    top = sorted(sizes, key=lambda pair: (-pair[0], pair[1]))[:most]
    if attribution.intervals is not None:
        return "; ".join(token_description(attribution, *tokens) for _, tokens in top)
    return ", ".join(
        f"'{names_of(attribution, tokens)}' {number(drawn_number(attribution, tokens), plus=True)}"
        for _, tokens in top
    )


def names_of(attribution: Attribution, tokens: Sequence[int]) -> str:
    """The tokens of one place, all of them."""
    return " ".join(visible(attribution.tokens[token]) for token in tokens)
