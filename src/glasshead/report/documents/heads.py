"""What every head does: what it looks at, what depends on it, and the relations that it follows."""

from glasshead.errors import pluralise
from glasshead.nouns import nouns_of
from glasshead.report.document import Document, Drawing, Heading, Row, Sentence, Table, columns, table
from glasshead.report.number_format import DASH, interval, number
from glasshead.report.plots.head_grid import head_grid
from glasshead.results import Finding, HeadRelation, HeadReport, HeadSummary

COLUMNS = {
    "entropy": "entropy",
    "removal-size": "change without it",
    "identifiable": "only map with its output",
}
"""Statistics that every head has, and what stands above them."""
MOST_HEADS = 40
"""More heads are no table: those with a pattern or the largest effects are shown."""


def heads_document(report: HeadReport) -> Document:
    """The conclusion, a row for each head, and the relations that heads follow."""
    return [
        Heading(" ".join(report.conclusion)),
        Sentence(f"{intro_sentence(report)} {numbers_sentence(report)}", "quiet"),
        summary_table(report),
        *([relation_table(report)] if report.relations else []),
    ]


def heads_in_notebook(report: HeadReport) -> Document:
    """The same with a picture of all heads, remarks, and where to find the maps."""
    title, about, *tables = heads_document(report)
    picture = [Drawing(head_grid(report))] if report.texts else []
    rest = (*report.remarks, 'All maps: save("heads.html")')
    return [title, about, *picture, *tables, *(Sentence(words, "quiet") for words in rest)]


def intro_sentence(report: HeadReport) -> str:
    """On what the conclusion rests."""
    size = f"{pluralise(len(report.heads), 'head')} in {pluralise(len(report.layers), 'layer')}"
    data = str(report.facts.get("data", "")).rstrip("/").rsplit("/", 1)[-1]
    examples = report.facts.get("examples")
    texts = nouns_of(report.facts).count(examples) if examples else ""
    over = " of ".join(filter(None, (texts, data)))
    return f"{size}, over {over}." if over else f"{size}."


def numbers_sentence(report: HeadReport) -> str:
    """What the numbers of the table are."""
    level = report.facts.get("interval_level")
    each = "" if level is None else f" ({100 * float(level):.5g} % each)"
    together = f"Intervals of single heads hold for all at once{each}."
    return f"{together} Heads are named layer-head, both counted from 0."


def summary_table(report: HeadReport) -> Table:
    """The heads that are shown."""
    heads = shown_heads(report)
    named = {name: title for name, title in COLUMNS.items() if any(head.finding(name) for head in heads)}
    rows: list[Row] = [
        (head.name, head.pattern or DASH, *(estimate(head.finding(name)) for name in named)) for head in heads
    ]
    left_out = f"{len(heads)} of {pluralise(len(report.heads), 'head')}: the report has all"
    caption = left_out if len(heads) < len(report.heads) else ""
    return table(columns(("head", "looks at"), list(named.values())), rows, caption=caption)


def shown_heads(report: HeadReport) -> list[HeadSummary]:
    """All heads of small models; of large ones those with the largest effects, else those with a pattern."""
    if len(report.heads) <= MOST_HEADS:
        return list(report.heads)

    def size(head: HeadSummary) -> tuple[float, bool]:
        finding = head.finding("removal-size")
        return (0.0 if finding is None else finding.estimate or 0.0, bool(head.pattern))

    chosen = sorted(report.heads, key=size, reverse=True)[:MOST_HEADS]
    return [head for head in report.heads if any(head is one for one in chosen)]


def relation_table(report: HeadReport) -> Table:
    """The relations that some head follows better than a fixed offset, then the others."""
    rows = [relation_row(one) for one in sorted(report.relations, key=lambda one: -one.difference.estimate)]
    titles = columns(("relation", "direction", "head"), ("head, %", "offset", "offset, %", "difference, %"))
    return table(titles, rows, caption="chosen on one half of the sentences, measured on the other")


def relation_row(one: HeadRelation) -> Row:
    """One relation."""
    ends = one.difference.interval
    difference = number(100 * one.difference.estimate, 1, plus=True)
    if ends is not None:
        difference += f" {interval((100 * ends[0], 100 * ends[1]), 1, plus=True)}"
    words = (one.relation, one.direction, one.best)
    return (*words, percent(one.accuracy), f"{one.offset:+d}", percent(one.baseline), difference)


def percent(finding: Finding) -> str:
    """A share in percent."""
    return number(None if finding.estimate is None else 100 * finding.estimate, 1)


def estimate(finding: Finding | None) -> str:
    """0.612 [0.580, 0.641]."""
    if finding is None or finding.estimate is None:
        return DASH
    ends = finding.interval
    return number(finding.estimate) if ends is None else f"{number(finding.estimate)} {interval(ends)}"
