"""The page of the sources of an answer: choose a sentence and see its passages, the strongest first."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from glasshead.escaping import one_line, visible
from glasshead.report.cited_words import (
    BY_ITSELF,
    WITHOUT,
    doubt_of,
    facts_of,
    foretelling_in_words,
    label_of,
    marked_answer,
    numbers_of,
    ordered_effects,
    remarks_of,
    removal_title,
    unit_of,
    web_link,
    what_columns_mean,
    what_effect_means,
)
from glasshead.report.documents.cited import passages_table
from glasshead.report.html.environment import environment
from glasshead.report.html.packed_maps import data_script
from glasshead.report.number_format import number, share
from glasshead.results import Cited, SourceEffect, SourceSpan, Statement

STRONGEST = 0.85
LEAST_NATS = 1.0
"""What has the strongest colour is at least so much."""
Segment = tuple[int, int, str, float, str]
"""Characters of a passage, the class and strength of their colour, and what is said of them."""


def cited_page(cited: Cited) -> str:
    """The answer with its sources, the passages of the chosen sentence, and all numbers."""
    data = [statement_data(cited, statement) for statement in cited.statements]
    return (
        environment()
        .get_template("cited.html.j2")
        .render(
            cited=cited,
            says=cited.whole.says,
            answer=mark_sentences(cited),
            several=len(cited.statements) > 1,
            unit=unit_of(cited.facts),
            drawn=any(one.interval is not None for one in cited.whole.effects),
            means=[
                what_effect_means(cited.facts, cited.whole),
                what_columns_mean(cited.facts, cited.whole),
                *filter(None, [foretelling_in_words(cited.whole)]),
            ],
            labels=[one_line(label_of(one)) if one.title else "" for one in cited.passages],
            links=[web_link(one) for one in cited.passages],
            table=passages_table(cited, cited.whole),
            facts=facts_of(cited),
            data=Markup(data_script(data)),
        )
    )


def mark_sentences(cited: Cited) -> Markup:
    """The answer, escaped; each of several sentences is a button, with its sources behind it."""
    parts = list[Markup]()
    several = len(cited.statements) > 1
    mark = Markup(
        '<mark class="z sentence" role="button" data-statement="{}" aria-pressed="false" '
        'tabindex="-1">{}</mark>'
    )
    for words, statement in marked_answer(cited):
        shown = visible(words)
        if statement is None:
            parts.append(Markup("{}").format(shown))
            continue
        inside = Markup("{}").format(shown)
        if several:
            inside = mark.format(cited.statements.index(statement), shown)
        parts.append(inside)
        if numbers := numbers_of(statement):
            parts.append(Markup('<span class="numbers-behind">{}</span>').format(numbers))
    return Markup("").join(parts)


def statement_data(cited: Cited, statement: Statement) -> dict[str, Any]:
    """What the script shows of a statement."""
    ends = [(one.effect, one.effect) if one.interval is None else one.interval for one in statement.effects]
    low, high = min(0.0, *(a for a, _ in ends)), max(0.0, *(b for _, b in ends))
    size = (high - low) or 1.0

    def across(value: float) -> float:
        return round(100 * (value - low) / size, 2)

    scale = max([LEAST_NATS, *(abs(span.removal) for span in statement.spans)])
    return {
        "says": [one_line(words) for words in statement.says],
        "remarks": [one_line(words) for words in remarks_of(cited, statement)],
        "zero": across(0.0),
        "scale": f"{number(scale, 1)} nats",
        "rows": [
            {
                "passage": one.passage,
                "source": one.is_source,
                "bar": [across(min(0.0, one.effect)), across(max(0.0, one.effect))],
                "whisker": None if one.interval is None else [across(end) for end in one.interval],
                "effect": number(one.effect, 2, plus=True),
                "doubt": doubt_of(one),
                "more": more_of(cited, statement, one),
                "segments": segments_of(cited, statement, one.passage, scale),
            }
            for one in ordered_effects(statement)
        ],
    }


def more_of(cited: Cited, statement: Statement, one: SourceEffect) -> list[str]:
    """Other numbers of a passage, and what it is to others."""
    more = [f"{WITHOUT} {number(one.removal, 2, plus=True)}"]
    more += [
        f"{removal_title(removal)} {number(falls[one.passage], 2, plus=True)}"
        for removal, falls in statement.other.items()
    ]
    more.append(f"{BY_ITSELF} {number(one.by_itself, 2, plus=True)}")
    more += [f"{one_line(name)} {share(shares[one.passage])}" for name, shares in statement.maps.items()]
    for pair in statement.pairs:
        if one.passage in (pair.first, pair.second):
            other = pair.second if one.passage == pair.first else pair.first
            says = "interchangeable with passage" if pair.kind == "repeat" else "needs passage"
            more.append(f"{says} {other + 1}")
    repeats = cited.passages[one.passage].repeats
    return more if repeats is None else [*more, f"the same text as passage {repeats + 1}"]


def segments_of(cited: Cited, statement: Statement, passage: int, scale: float) -> list[Segment]:
    """The words that were removed one by one, what stands between them, and sentences that were removed
    whole."""
    own = [span for span in statement.spans if span.passage == passage]
    words = sorted((span for span in own if span.kind == "word"), key=lambda span: span.start)
    segments = [segment(span, scale) for span in words]
    for sentence in (span for span in own if span.kind == "sentence"):
        inside = [word for word in words if sentence.start <= word.start < sentence.stop]
        if not inside:
            segments.append(segment(sentence, scale))
    return sorted(segments)


def segment(span: SourceSpan, scale: float) -> Segment:
    """Characters in their colour: red where they make the statement more probable."""
    alpha = round(STRONGEST * min(abs(span.removal) / scale, 1.0), 3)
    kind = "z" if alpha < 0.02 else "n" if span.removal < 0 else "p"
    falls = "rises" if span.removal < 0 else "falls"
    said = f"without this {span.kind} log p {falls} by {number(abs(span.removal), 2)} nats"
    return span.start, span.stop, kind, alpha, said
