"""What every head does: what it looks at, what depends on it, and the relations that it follows."""

import math
from collections.abc import Iterable, Sequence

from glasshead.errors import pluralise
from glasshead.nouns import nouns_of
from glasshead.report.document import (
    Cell,
    Column,
    Document,
    Drawing,
    Piece,
    Row,
    Rows,
    Sentence,
    Table,
    cell,
    columns,
    conclusion_blocks,
    table,
)
from glasshead.report.findings_in_words import nulls
from glasshead.report.head_titles import head_title, layer_title
from glasshead.report.number_format import DASH, MINUS, count, interval, number
from glasshead.report.plots.head_grid import head_grid
from glasshead.results import OFFSET, Finding, HeadRelation, HeadReport, HeadSummary
from glasshead.wording import sentence

COLUMNS = {
    "entropy": "entropy",
    "removal-size": "change without it",
    "direct-effect": "direct effect",
    "identifiable": "only map with its output",
}
"""Statistics that every head has, and what stands above them."""
CLOSEST = 20
"""So many pairs of heads that are alike are listed."""
MOST_HEADS = 40
"""More heads make no table: those with a pattern or the largest effects are shown."""


def heads_document(report: HeadReport) -> Document:
    """The conclusion, a row for each head, and the relations that heads follow."""
    return [
        *conclusion_blocks(report.conclusion),
        Sentence(f"{intro_sentence(report)} {numbers_sentence(report)}", "quiet"),
        summary_table(report),
        *([relations_table(report)] if report.relations else []),
    ]


def heads_in_notebook(report: HeadReport) -> Document:
    """The same with a picture of all heads, remarks, and where to find the maps."""
    picture = [Drawing(head_grid(report))] if report.texts else []
    rest = (*report.remarks, 'All maps: save("heads.html")')
    return [*heads_document(report), *picture, *(Sentence(words, "quiet") for words in rest)]


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
        (head.name, head.pattern or DASH, *(with_interval(head.finding(name)) for name in named))
        for head in heads
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


def relations_table(report: HeadReport) -> Table:
    """The relations that some head follows better than a fixed offset, then the others."""
    rows = [relation_row(one) for one in sorted(report.relations, key=lambda one: -one.difference.estimate)]
    titles = columns(("relation", "direction", "head"), ("head, %", "offset", "offset, %", "difference, %"))
    caption = "chosen on one half of the sentences, measured on the other"
    return table([*titles, Column("the head is"), Column("n", "numbers")], rows, caption=caption)


def relation_row(one: HeadRelation) -> Row:
    """One relation."""
    return (
        one.relation,
        one.direction,
        cell(Piece(one.best, link=f"#head={one.best}")),
        percent(one.accuracy.estimate, one.accuracy.interval),
        f"{one.offset:+d}".replace("-", MINUS),
        percent(one.baseline.estimate, one.baseline.interval),
        percent(one.difference.estimate, one.difference.interval, plus=True),
        sentence(one.difference.verdict),
        count(one.accuracy.n),
    )


def percent(value: float | None, ends: Sequence[float] | None, plus: bool = False) -> str:
    """A share in percent with its interval."""
    shown = number(None if value is None else 100 * value, 1, plus=plus)
    return shown if ends is None else f"{shown} {interval([100 * end for end in ends], 1, plus=plus)}"


def all_heads_table(report: HeadReport) -> Table:
    """All findings of all heads."""
    statistics, nouns = statistics_of(head.findings for head in report.heads), nouns_of(report.facts)
    rows = [(head_cell(head), *cells_of(head.findings, statistics)) for head in report.heads]
    titles = [head_title(*statistic, nouns) for statistic in statistics]
    return table(columns(("head",), titles), rows, "All numbers of all heads")


def head_cell(head: HeadSummary) -> Cell:
    """A head, which opens it on its page, and what it looks at."""
    pattern = Piece(f" {head.pattern}" if head.pattern else "", "quiet")
    return cell([Piece(head.name, link=f"#head={head.name}"), pattern])


def layers_table(report: HeadReport) -> Table | None:
    """What goes to each kind of special token, layer by layer, attention next to gradients."""
    known = statistics_of(layer.findings for layer in report.layers)
    if not known:
        return None
    statistics, kinds = (list(dict.fromkeys(one[place] for one in known)) for place in (0, 1))
    groups = [
        Rows(
            [
                (f"layer {layer.layer}", *cells_of(layer.findings, [(name, kind) for name in statistics]))
                for layer in report.layers
            ],
            kind,
        )
        for kind in kinds
    ]
    titles = [layer_title(name, nouns_of(report.facts)) for name in statistics]
    return Table(columns(("layer",), titles), groups, "Attention and gradients by layer")


def closest_pairs_table(report: HeadReport) -> Table | None:
    """The pairs of heads that are most alike, next to unrelated maps."""
    agreement, names = report.agreement, [head.name for head in report.heads]
    rows: list[Row] = []
    for pair in agreement.pairs()[:CLOSEST]:
        ends = tuple(agreement.interval[:, *pair].tolist())
        apart = Piece(interval(ends) if all(map(math.isfinite, ends)) else "", "quiet")
        one, other = (cell(Piece(names[head], link=f"#head={names[head]}")) for head in pair)
        closer, further = agreement.closer[pair], agreement.further[pair]
        rows.append(
            (
                one,
                other,
                cell(Piece(number(agreement.divergence[pair]), "strong"), apart),
                number(agreement.null[pair]),
                "more alike" if closer else "less alike" if further else "undecided",
            )
        )
    titles = [
        *columns(("head", "and head"), ("bits apart", "unrelated maps")),
        Column("compared with unrelated maps"),
    ]
    return table(titles, rows, "The most alike pairs of heads") if rows else None


def whole_table(report: HeadReport) -> Table | None:
    """Numbers over all heads."""
    nouns = nouns_of(report.facts)
    rows = [
        (
            head_title(one.statistic, one.against, nouns),
            cell(Piece(number(one.estimate), "strong"), Piece(interval(one.interval), "quiet")),
            cell(Piece(nulls(one), "quiet")),
            sentence(one.verdict),
            count(one.n),
        )
        for one in report.findings
    ]
    titles = [*columns(("quantity",), ("estimate",)), Column("null"), Column("verdict", "below")]
    return table([*titles, Column("n", "numbers")], rows, "Numbers over all heads") if rows else None


def statistics_of(findings: Iterable[Sequence[Finding]]) -> list[tuple[str, str]]:
    """Every statistic that some head or layer has, as they come."""
    return list(dict.fromkeys(quantity_of(one) for each in findings for one in each))


def quantity_of(one: Finding) -> tuple[str, str]:
    """What a column is about: each head has its offset, and all are in one."""
    return one.statistic, "" if one.statistic == OFFSET else one.against


def cells_of(findings: Sequence[Finding], statistics: Sequence[tuple[str, str]]) -> list[str | Cell]:
    """The number of every statistic with its interval."""
    known = {quantity_of(one): one for one in findings}
    return [DASH if statistic not in known else finding_cell(known[statistic]) for statistic in statistics]


def finding_cell(one: Finding) -> Cell:
    """A number with its interval; its verdict, n and null where a reader points at it."""
    where = one.against if one.statistic == OFFSET else ""
    hint = " · ".join(filter(None, (where, one.verdict, f"n = {one.n}", nulls(one) if one.null else "")))
    return cell(number(one.estimate), Piece(interval(one.interval), "quiet"), hint=hint)


def with_interval(finding: Finding | None) -> str:
    """0.612 [0.580, 0.641]."""
    if finding is None or finding.estimate is None:
        return DASH
    ends = finding.interval
    return number(finding.estimate) if ends is None else f"{number(finding.estimate)} {interval(ends)}"
