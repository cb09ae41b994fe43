"""Explained inputs: their colours, what was predicted, how it was computed, and a table of their tokens."""

from collections.abc import Sequence
from dataclasses import replace

from glasshead.report.colour_meaning import colour_legend
from glasshead.report.document import (
    Bar,
    Block,
    Cell,
    ColouredInput,
    Column,
    Document,
    Facts,
    Piece,
    RangeBar,
    Row,
    Rows,
    Sentence,
    Table,
    cell,
    columns,
)
from glasshead.report.number_format import DASH, number
from glasshead.report.text_spans import (
    computation,
    diverging,
    max_abs,
    normalised_score,
    prediction,
    scale_words,
    scales_of,
    score_name,
    sink_in_words,
    strongest_tokens,
)
from glasshead.report.weight_intervals import HATCH, MEANING, UNKNOWN, extremes, range_text, summary_of_ranges
from glasshead.results import Attribution, Attributions

RANGES = "could be"
SHOWN = 25
"""Inputs that a notebook shows; the others are named."""


def attributions_document(attributions: Attributions) -> Document:
    """All inputs of a method on one scale; what holds for all of them stands once, below."""
    shown = attributions[:SHOWN]
    scales = scales_of(shown)
    methods = [method_facts(attribution) for attribution in shown]
    alike = all(facts == methods[0] for facts in methods)
    blocks: list[Block] = []
    for attribution, scale, about in zip(shown, scales, methods, strict=True):
        facts = text_facts(attribution, scale)
        blocks += [ColouredInput(attribution, scale), Facts(facts if alike else [*facts, *about])]
    if alike and methods:
        blocks.append(Facts(methods[0]))
    blocks += [Sentence(remark, "quiet") for remark in attributions.remarks]
    if (left := len(attributions) - SHOWN) > 0:
        texts = attributions[0].nouns.texts
        blocks.append(
            Sentence(f"{left} more {texts} are not shown: save('{texts}.html') has them all", "quiet")
        )
    return blocks


def attribution_document(attribution: Attribution) -> Document:
    """One input on a scale of its own."""
    return attributions_document(Attributions((attribution,)))


def text_facts(attribution: Attribution, scale: float) -> list[str]:
    """What was predicted, which tokens matter most, and what full colour stands for."""
    strongest = strongest_tokens(attribution)
    facts = [prediction(attribution), f"strongest: {strongest}" if strongest else ""]
    return list(filter(None, [*facts, scale_words(attribution, scale)]))


def method_facts(attribution: Attribution) -> list[str]:
    """The method, what it read, what the colours mean, and how it was computed."""
    facts = [f"method {attribution.method}"]
    if attribution.reading is not None:
        facts.append(f"attention read at {attribution.reading}")
    facts.append(colour_legend(attribution))
    if attribution.intervals is not None:
        facts.append("hatched: weight may be zero")
        if any(ends is None for ends in attribution.intervals):
            facts.append("dotted: range not known")
    if computed := computation(attribution):
        facts.append(f"computed with {computed}")
    return list(filter(None, [*facts, sink_in_words(attribution)]))


def tokens_document(attribution: Attribution, scale: float | None = None) -> Document:
    """A table of the tokens, and what its ranges mean, if it has some."""
    table = replace(tokens_table(attribution, scale), title="")
    return [table, *(range_key(attribution) if attribution.intervals is not None else [])]


def tokens_table(
    attribution: Attribution, scale: float | None = None, limits: tuple[float, float] | None = None
) -> Table:
    """One row per token with its numbers and a bar, whose full length is ``scale`` (None: the largest number
    of this input) or ``limits`` those of its ranges; a column of words where words have several tokens.
    With ranges, a column of them, and bars that show them.
    """
    known, tokens = attribution.intervals is not None, range(len(attribution.tokens))
    names = {attribution.nouns.token: list(attribution.tokens)}
    within = [word for word in attribution.words if word >= 0]
    if len(set(within)) < len(within):
        names = {"word": words_of_tokens(attribution)} | names
    numbers: dict[str, Sequence[str | Cell]] = {
        score_name(attribution): [number(one, plus=attribution.signed) for one in attribution.scores]
    }
    if attribution.rest is not None:
        numbers["without the first"] = [
            DASH if value is None else number(value, plus=attribution.signed) for value in attribution.rest
        ]
    if known:
        numbers[RANGES] = [range_cell(attribution, token) for token in tokens]
    if attribution.contributions is not None:
        numbers["contribution"] = [number(value, plus=True) for value in attribution.contributions]
    drawn = bars(attribution, max_abs(attribution) if scale is None else scale, limits)
    rows: list[Row] = [
        (
            *(
                cell(column[token], tone="quiet" if attribution.may_be_zero(token) else "plain")
                for column in names.values()
            ),
            *(column[token] for column in numbers.values()),
            drawn[token],
        )
        for token in tokens
    ]
    head = columns(list(names), list(numbers))
    head = [Column(one.title, "name") if one.title == RANGES else one for one in head]
    head.append(Column("", "drawing"))
    return Table(head, [Rows(rows)], f"Numbers of every {attribution.nouns.token}")


def range_cell(attribution: Attribution, token: int) -> Cell:
    """What a weight could be, and a mark where that may be zero."""
    unknown = "range not known" if attribution.interval(token) is None else ""
    mark = Piece(f" {HATCH}" * attribution.may_be_zero(token), "maybe")
    return cell([range_text(attribution, token), mark], hint=unknown)


def bars(attribution: Attribution, full: float, limits: tuple[float, float] | None) -> list[Cell]:
    """What is drawn next to each token."""
    if attribution.intervals is not None:
        ends, tokens = limits or extremes([attribution]), range(len(attribution.scores))
        return [cell(drawing=RangeBar(attribution, token, ends)) for token in tokens]
    signed = diverging(attribution)
    return [cell(drawing=Bar(normalised_score(value, full), signed)) for value in attribution.colours]


def words_of_tokens(attribution: Attribution) -> list[str]:
    """The word of each token, said once."""
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(attribution.words, attribution.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = (min(first, start), max(last, end))
    return [
        "" if place and attribution.words[place - 1] == word else attribution.text[slice(*spans[word])]
        for place, word in enumerate(attribution.words)
    ]


def range_key(attribution: Attribution) -> list[Block]:
    """What the marks of a table with ranges mean, one line each."""
    lines = [
        f"could be: {MEANING}",
        f"█ up to the minimum, ▓ to the weight shown, ░ to the maximum; {HATCH} after a range: may be zero",
    ]
    if any(attribution.interval(token) is None for token in range(len(attribution.scores))):
        lines.append(f"{UNKNOWN} no solver had an answer, or none was requested")
    return [*(Sentence(line, "quiet") for line in lines), Sentence(summary_of_ranges(attribution))]
