"""A text cut into the spans that a drawing colours: the tokens at their offsets, the rest plain."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from glasshead.escaping import visible
from glasshead.report.number_format import finite, number
from glasshead.report.weight_intervals import spoken_range
from glasshead.results import Attribution

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
    """``text[start:end]``; ``token`` is None where no token lies."""

    start: int
    end: int
    token: int | None


@dataclass(frozen=True)
class ColouredSpan(TextSpan):
    """The same with its colour: ``share`` of full strength in [−1, 1] and ``least``, that of the least weight
    it can have; ``doubt`` is ``maybe`` for a weight that may be zero, ``unknown`` for one without a range."""

    share: float = 0.0
    least: float = 0.0
    doubt: Literal["", "maybe", "unknown"] = ""


def text_spans(attribution: Attribution) -> Iterator[TextSpan]:
    """The whole text in order; tokens without a place of their own (special ones) do not appear."""
    here, length = 0, len(attribution.text)
    order = sorted(range(len(attribution.offsets)), key=lambda i: attribution.offsets[i])
    for token in order:
        start, end = attribution.offsets[token]
        start, end = max(start, here), min(end, length)
        if end <= start:
            continue
        if start > here:
            yield TextSpan(here, start, None)
        yield TextSpan(start, end, token)
        here = end
    if here < length:
        yield TextSpan(here, length, None)


def coloured_spans(attribution: Attribution, scale: float) -> Iterator[ColouredSpan]:
    """The whole text in order with the colour of each token; ``scale`` is what is drawn at full strength."""
    for span in text_spans(attribution):
        if span.token is None:
            yield ColouredSpan(span.start, span.end, None)
            continue
        yield ColouredSpan(
            span.start, span.end, span.token,
            share=normalised_score(attribution.colours[span.token], scale),
            least=normalised_score(attribution.least(span.token), scale),
            doubt=doubt(attribution, span.token),
        )  # fmt: skip


def doubt(attribution: Attribution, token: int) -> Literal["", "maybe", "unknown"]:
    """Whether the weight of a token may be zero, or has no known range; empty where nobody asked."""
    if attribution.intervals is None:
        return ""
    if attribution.interval(token) is None:
        return "unknown"
    return "maybe" if attribution.may_be_zero(token) else ""


def max_abs(attribution: Attribution) -> float:
    """The largest magnitude among the drawn numbers of one text; 0 for an empty one."""
    return max((abs(value) for value in map(finite, attribution.colours) if value is not None), default=0.0)


def drawn_tokens(attribution: Attribution) -> set[int]:
    """The tokens that have a place in the text, or in the image."""
    if attribution.boxes is not None:
        return {token for token, box in enumerate(attribution.boxes) if box is not None}
    return {span.token for span in text_spans(attribution) if span.token is not None}


def drawn_max(attribution: Attribution) -> float:
    """The largest magnitude of the tokens that have a place in the text; a sink pales no other weight."""
    tokens = drawn_tokens(attribution)
    if attribution.sink is not None and attribution.colours is attribution.scores:
        tokens -= {0}
    values = (finite(attribution.colours[token]) for token in tokens)
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
    """The magnitude that is drawn at full strength, one for several texts, so that texts compare.

    A quantile below 1 keeps one extreme text from paling all others. Tokens without a place in the text, such
    as [CLS], do not count.
    """
    peaks = [value for value in map(drawn_max, attributions) if value > 0]
    return float(np.quantile(peaks, quantile)) if peaks else 1.0


def scale_words(attribution: Attribution, scale: float) -> str:
    """What full colour stands for: ``full colour: contribution 0.033``."""
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
        return f"predicted rating {number(attribution.prediction, 2)}"
    probability = number(attribution.prediction)
    return f"predicted {attribution.predicted}, p({attribution.target}) = {probability}"


def computation(attribution: Attribution) -> str:
    """With which settings the numbers were computed, and how far they are from complete; empty where there is
    nothing to say."""
    gap = attribution.completeness_gap
    missed = "" if gap is None else f"completeness gap {gap:+.2g}"
    return "; ".join(filter(None, (attribution.settings, missed)))


def sink_in_words(attribution: Attribution) -> str:
    """How much of the attention is on the first token, if that is a sink; else empty."""
    if attribution.sink is None:
        return ""
    return (
        f"{number(attribution.sink)} of the weights is on the first token, an attention sink: models that "
        "read from left to right often put there what they need nowhere"
    )


def token_description(attribution: Attribution, token: int) -> str:
    """One line on one token: its numbers."""
    parts = [f"{score_name(attribution)} {number(attribution.scores[token], plus=attribution.signed)}"]
    if attribution.intervals is not None:
        parts.append(spoken_range(attribution, token))
    if attribution.contributions is not None:
        parts.append(f"contribution {number(attribution.contributions[token], plus=True)}")
    return f"{visible(attribution.tokens[token])}: " + ", ".join(parts)


def strongest_tokens(attribution: Attribution, most: int = 3) -> str:
    """The tokens that matter most, in words, for those who do not see colours."""
    pairs = [(abs(v), i) for i, value in enumerate(attribution.colours) if (v := finite(value))]
    top = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:most]
    if attribution.intervals is not None:
        return "; ".join(token_description(attribution, i) for _, i in top)
    return ", ".join(
        f"'{visible(attribution.tokens[i])}' {number(attribution.colours[i], plus=True)}" for _, i in top
    )
