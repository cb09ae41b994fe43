"""The page of texts that a language model wrote: click a token to see what it was written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from glasshead.escaping import one_line, visible
from glasshead.report.html.environment import environment
from glasshead.report.html.packed_maps import data_script
from glasshead.report.html.written_image import image_views
from glasshead.report.number_format import finite, number
from glasshead.report.picture_panels import numbers_of
from glasshead.report.weight_intervals import MEANING, range_text
from glasshead.report.written_words import (
    alternatives_in_words,
    choice_in_words,
    facts_in_words,
    score_name_of,
    strongest_before,
)
from glasshead.results import ATTENTION, Written, WrittenAttribution, WrittenMap

DIGITS, MAP_DIGITS = 6, 3
"""Digits that count of each number of the page, and of those of an explanation, which are many."""
IMAGE_MARK = Markup('<span class="image-here">image</span>')
"""What stands in a text where the image does."""
Span = tuple[int, int, tuple[int, ...]]
"""Characters of a text, and the tokens that they stand for."""


@dataclass(frozen=True)
class WrittenText:
    """What the template shows of one text, and what the script reads."""

    written: Written
    image: Markup
    marked: Markup
    facts: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    data: dict[str, Any]


def written_page(texts: Written | Sequence[Written]) -> str:
    """Texts in which you can choose any token of an answer: what it was written from in colours, by every
    explanation, its alternatives, and how the strategy chose."""
    if isinstance(texts, Written):
        texts = [texts]
    shown = [prepare(written) for written in texts]
    data = Markup(data_script([text.data for text in shown]))  # it leaves nothing that could end the element
    return environment().get_template("written.html.j2").render(texts=shown, data=data)


def prepare(written: Written) -> WrittenText:
    """One text for the template."""
    maps = [one for one in written.maps if not one.whole]
    return WrittenText(
        written,
        image_views(written),
        mark_tokens(written),
        facts_in_words(written),
        table_columns(written),
        table_rows(written),
        {
            "start": written.start,
            "source": written.source,
            "imageSinks": list(written.image_sinks),
            "tokens": [one_line(token) for token in written.tokens],
            "places": [place_data(written, place) for place in range(len(written.answer_tokens))],
            "maps": [map_data(written, one) for one in maps],
        },
    )


def place_data(written: Written, place: int) -> dict[str, Any]:
    """What is known of one place of the answer."""
    token = written.answer_tokens[place]
    return {
        "chosen": written.ids[written.start + place],
        "how": choice_in_words(written, place),
        "alternatives": [
            [one_line(other.token), other.id, rounded(other.probability), rounded(other.chance)]
            for other in token.alternatives
        ],
    }


def map_data(written: Written, one: WrittenMap) -> dict[str, Any]:
    """An explanation with its numbers."""
    return {
        "method": one_line(", ".join(filter(None, (one.method, one.target)))),
        "layer": one.layer if one.head is not None else None,
        "head": one.head,
        "reading": one_line(one.reading or ""),
        "settings": one_line(one.settings or ""),
        "meaning": "" if one.intervals is None else f"could be: {MEANING}",
        "score": score_name_of(one),
        "signed": one.signed,
        "weights": one.method == ATTENTION,
        "values": None if one.values is None else [rounded(value) for value in one.values],
        "rows": [[rounded(score, MAP_DIGITS) for score in row] for row in one.scores],
        "sinks": [rounded(share, MAP_DIGITS) for share in one.sinks(written.source)],
        "learnedSinks": [rounded(share, MAP_DIGITS) for share in one.learned_sinks()],
        "intervals": None if one.intervals is None else ranges(written, one),
    }


def ranges(written: Written, one: WrittenMap) -> list[list[str]]:
    """What each weight could be, in words, row by row."""
    rows = [WrittenAttribution(written, one).row(place) for place in range(len(one.scores))]
    return [[range_text(row, token) for token in range(len(row.scores))] for row in rows]


def rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """As exact as the page has it; None where there is no number."""
    amount = finite(value)
    return None if amount is None else float(f"{amount:.{digits}g}")


def spans(written: Written) -> list[Span]:
    """The text in order; a character of several tokens belongs to all of them, and tokens without characters
    stand where they were written."""
    found: list[Span] = []
    here = 0
    for token, (start, stop) in enumerate(written.offsets):
        if found and (start, stop) == found[-1][:2] and stop > start:
            found[-1] = (start, stop, (*found[-1][2], token))
            continue
        if start > here:
            found.append((here, start, ()))
        found.append((max(start, here), max(stop, here), (token,)))
        here = max(here, stop)
    if here < len(written.text):
        found.append((here, len(written.text), ()))
    return found


def mark_tokens(written: Written) -> Markup:
    """The whole text, escaped; every token of the answer is a button."""
    text, parts = visible(written.text), list[Markup]()
    in_image = {token for token, number in enumerate(numbers_of(written)) if number is not None}
    alone = len(written.images) == 1  # of several images the text has the titles
    for start, stop, tokens in spans(written):
        if in_image & set(tokens):
            parts += [IMAGE_MARK] if alone and tokens[0] == min(in_image) else []
            continue
        letters = text[start:stop]
        if not tokens:
            parts.append(escape(letters))
            continue
        own = [token for token in tokens if token >= written.start]
        shown = escape(letters or one_line(written.tokens[tokens[0]]))
        kind = "special" if not letters else ""
        names = " ".join(map(str, tokens))
        if not own:
            mark = Markup('<mark class="z {}" data-tokens="{}">{}</mark>')
            parts.append(mark.format(kind, names, shown))
            continue
        said = f"written token {own[0] - written.start + 1}: {one_line(written.tokens[own[0]])}"
        mark = Markup(
            '<mark class="z written {}" data-tokens="{}" role="button" aria-pressed="false" tabindex="{}" '
            'aria-label="{}">{}</mark>'
        )
        first = "0" if own[0] == written.start else "-1"
        parts.append(mark.format(kind, names, first, said, shown))
    return Markup("").join(parts)


def table_columns(written: Written) -> list[str]:
    """The head of the table of all tokens."""
    columns = ["token", "log-probability", "rank", "chance", "most probable here"]
    return columns + [f"from, by {one.method}" for one in listed_maps(written)]


def table_rows(written: Written) -> list[list[str]]:
    """A row for each token of the answer."""
    return [
        [
            one_line(written.tokens[written.start + place]),
            number(token.log_probability, 2),
            str(token.rank),
            number(token.chance),
            alternatives_in_words(token),
            *(strongest_before(written, one, place) for one in listed_maps(written)),
        ]
        for place, token in enumerate(written.answer_tokens)
    ]


def listed_maps(written: Written) -> list[WrittenMap]:
    """One explanation by each method; of attention the mean over the heads of the last layer, with which the
    page begins."""
    methods: dict[str, WrittenMap] = {}
    for one in written.maps:
        if not one.whole and (one.method not in methods or one.head == "mean"):
            methods[one.method] = one
    return list(methods.values())
