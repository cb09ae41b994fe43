"""A coloured text as plain values, for a page that draws it itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.escaping import visible
from glasshead.report.colour_meaning import colour_legend, colour_meaning
from glasshead.report.number_format import number
from glasshead.report.text_spans import (
    coloured_spans,
    computation,
    diverging,
    doubt,
    drawn_max,
    drawn_number,
    drawn_places,
    names_of,
    prediction,
    quantity,
    scale_words,
    score_name,
    shared_scale,
    sink_in_words,
    strongest_tokens,
    token_description,
    undrawn,
)
from glasshead.report.weight_intervals import range_text, summary_of_ranges
from glasshead.results import Attribution
from glasshead.wording import sentence


@dataclass(frozen=True)
class DrawnSpan:
    """Letters of the text from ``start`` to ``end`` with the colour of their token (None: no token);
    ``tokens`` are all tokens there.

    ``number`` is what is coloured, the sum over them, and ``certain`` says whether it is the only one;
    ``share`` is the strength of the colour in [−1, 1], ``least`` that of the smallest possible weight,
    ``doubt`` as in `ColouredSpan`, ``description`` the token's numbers in words.
    """

    start: int
    end: int
    text: str
    token: int | None
    tokens: tuple[int, ...]
    number: str | None
    certain: bool
    share: float
    least: float
    doubt: str
    description: str


@dataclass(frozen=True)
class DrawnNumbers:
    """The numbers of one token in letters; None where it has no such number."""

    token: str
    score: str
    contribution: str | None
    could_be: str | None
    doubt: str


@dataclass(frozen=True)
class TextDrawing:
    """What is drawn of an attribution: the letters of its text with their colours, notes next to them, and
    every number; ``scale`` says what full colour means, ``quantity`` is what is coloured, ``diverging``
    numbers have two colours, ``ranged`` ones are weights with intervals."""

    spans: tuple[DrawnSpan, ...]
    prediction: str
    meaning: str
    facts: tuple[str, ...]
    caution: str | None
    spoken: str
    legend: str
    scale: str
    largest: str
    quantity: str
    diverging: bool
    ranged: bool
    score: str
    numbers: tuple[DrawnNumbers, ...]


def draw_text(
    attribution: Attribution, scale: float | None = None, classes: int | None = None
) -> TextDrawing:
    """What is drawn of an attribution; ``scale`` is the number drawn at full strength (None: the largest),
    ``classes`` how many classes the model has, if that is known."""
    text = visible(attribution.text)
    full = shared_scale([attribution]) if scale is None else scale
    spans = coloured_spans(attribution, full)
    ranged = attribution.intervals is not None
    facts = (
        f"method {attribution.method}",
        f"read: {attribution.reading}" if attribution.reading else "",
        computation(attribution),
        undrawn(attribution),
        summary_of_ranges(attribution) if ranged else "",
        sink_in_words(attribution),
    )
    return TextDrawing(
        spans=tuple(
            DrawnSpan(
                span.start,
                span.end,
                text[span.start : span.end],
                span.token,
                span.tokens,
                coloured_number(attribution, span.tokens) if span.tokens else None,
                bool(span.tokens) and ranged and attribution.certain(*span.tokens),
                span.share,
                span.least,
                span.doubt,
                token_description(attribution, *span.tokens) if span.tokens else "",
            )
            for span in spans
        ),
        prediction=visible(class_prediction(attribution, classes)),
        meaning=colour_meaning([attribution]),
        facts=tuple(visible(fact) for fact in facts if fact),
        caution=None if attribution.caveat is None else visible(attribution.caveat),
        spoken=strongest_tokens(attribution),
        legend=colour_legend(attribution),
        scale=sentence(scale_words(attribution, full)).rstrip("."),
        largest=largest(attribution),
        quantity=quantity(attribution),
        diverging=diverging(attribution),
        ranged=ranged,
        score=score_name(attribution),
        numbers=tuple(token_numbers(attribution, token) for token in range(len(attribution.tokens))),
    )


def class_prediction(attribution: Attribution, classes: int | None) -> str:
    """What a model of so many ``classes`` predicts and how probable that is, as far as the probability of the
    target tells."""
    if attribution.rates or (attribution.target != attribution.predicted and classes != 2):
        return prediction(attribution)
    explained = attribution.target == attribution.predicted
    probability = attribution.prediction if explained else 1 - attribution.prediction
    return f"predicted {attribution.predicted}{attribution.of_asked} (p = {number(probability)})"


def largest(attribution: Attribution) -> str:
    """The drawn number of the largest size and its token: ``largest contribution −0.312 (bad)``."""
    size = drawn_max(attribution)
    for tokens in drawn_places(attribution) if size else ():
        if abs(drawn_number(attribution, tokens) or 0.0) == size:
            names = names_of(attribution, tokens)
            return f"largest {quantity(attribution)} {coloured_number(attribution, tokens)} ({names})"
    return ""


def coloured_number(attribution: Attribution, tokens: Sequence[int]) -> str:
    """The number that is coloured at one place."""
    return number(drawn_number(attribution, tokens), plus=diverging(attribution))


def token_numbers(attribution: Attribution, token: int) -> DrawnNumbers:
    """The numbers of one token."""
    contributions = attribution.contributions
    return DrawnNumbers(
        visible(attribution.tokens[token]),
        number(attribution.scores[token], plus=attribution.signed),
        None if contributions is None else number(contributions[token], plus=True),
        None if attribution.intervals is None else range_text(attribution, token),
        doubt(attribution, token),
    )
