"""The page of all heads: what each does, its map before texts, and every number behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from glasshead.escaping import one_line, visible
from glasshead.report.html.environment import environment
from glasshead.report.html.figure_page import figure_fragment
from glasshead.report.html.notebook_table import WIDE, notebook_table, quiet_line
from glasshead.report.html.packed_maps import data_script, pack_texts, rounding_in_words
from glasshead.report.labels import AGAINST, STATISTICS, display_name
from glasshead.report.number_format import count, finite, interval, number
from glasshead.report.plots.head_grid import head_grid
from glasshead.report.run_facts import fact_rows, notes, origin
from glasshead.results import Finding, HeadLayer, HeadReport, HeadSummary

IMPORTANCE = "importance"
TITLE_LETTERS = 60
NOTEBOOK_ROWS = 20


@dataclass(frozen=True)
class GridCell:
    """One head of the grid: what it does in words, and how long its bar is; None without importance."""

    head: HeadSummary
    does: str
    spoken: str
    bar: int | None
    shown: bool


@dataclass(frozen=True)
class GridRow:
    """The heads of one layer."""

    layer: HeadLayer
    cells: Sequence[GridCell]


@dataclass(frozen=True)
class FindingRow:
    """One head or layer with a finding in each column, or None; ``link`` is the head that it opens."""

    name: str
    note: str
    cells: Sequence[Finding | None]
    link: str = ""


@dataclass(frozen=True)
class FindingsBy:
    """Findings of heads or layers: a column for each statistic."""

    columns: Sequence[str]
    rows: Sequence[FindingRow]


def heads_page(report: HeadReport) -> str:
    """The conclusion, the grid of all heads, the head that is opened, and every number."""
    packed = pack_texts(report)
    grid = grid_rows(report)
    first = first_head(report)
    data = {
        "texts": [text.data for text in packed],
        "first": first,
        "numbers": {head.name: head_numbers(head) for head in report.heads},
    }
    return (
        environment()
        .get_template("heads.html.j2")
        .render(
            report=report,
            intro=intro_sentence(report),
            grid=grid,
            first=first,
            most_heads=max((len(row.cells) for row in grid), default=1),
            several_kinds=len({layer.kind for layer in report.layers}) > 1,
            signed=any(layer["signed"] for text in packed for layer in text.data["layers"].values()),
            has_importance=any(head.finding(IMPORTANCE) for head in report.heads),
            texts=[text_title(text.text) for text in report.texts],
            layers=layer_table(report),
            heads=head_table(report),
            findings=[(finding_title(finding), finding) for finding in report.findings],
            facts=fact_rows([report]),
            notes=notes([report]),
            origin=origin(report),
            rounding=rounding_in_words(packed),
            data=Markup(data_script(data)),  # data_script leaves nothing that could end the element
        )
    )


def intro_sentence(report: HeadReport) -> str:
    """On what the conclusion rests."""
    size = f"{count(len(report.heads))} heads of {count(len(report.layers))} layers"
    data = visible(str(report.facts.get("data", "data"))).rstrip("/").rsplit("/", 1)[-1]
    examples = report.facts.get("examples")
    return f"{size}, over {count(examples)} texts of {data}." if examples else f"{size}, over {data}."


def text_title(text: str) -> str:
    """The beginning of a text, for a list of them."""
    line = one_line(text)
    return line if len(line) <= TITLE_LETTERS else line[: TITLE_LETTERS - 1] + "…"


def grid_rows(report: HeadReport) -> list[GridRow]:
    """The heads by layer, with bars as long as they are important."""
    sizes = [importance_of(head) for head in report.heads]
    longest = max((size for size in sizes if size is not None), default=0.0) or 1.0
    return [
        GridRow(
            layer,
            [grid_cell(head, longest) for head in report.heads if head.layer == layer.layer],
        )
        for layer in report.layers
    ]


def grid_cell(head: HeadSummary, longest: float) -> GridCell:
    """One head, beside the most important one."""
    finding, size = head.finding(IMPORTANCE), importance_of(head)
    does = f"Pattern: {head.pattern}." if head.pattern else "No pattern is shown."
    spoken = f"layer {head.layer}, head {head.head}: {head.pattern or 'no pattern shown'}"
    if finding is None or size is None:
        return GridCell(head, does, spoken, None, False)
    spoken += f"; importance {number(finding.estimate)} {interval(finding.interval)}"
    excludes_zero = finding.interval is not None and not finding.interval[0] <= 0 <= finding.interval[1]
    return GridCell(head, does, spoken, round(100 * size / longest), excludes_zero)


def importance_of(head: HeadSummary) -> float | None:
    """How much depends on a head, without its sign."""
    finding = head.finding(IMPORTANCE)
    value = None if finding is None else finite(finding.estimate)
    return None if value is None else abs(value)


def first_head(report: HeadReport) -> str:
    """The head that is open at first: the most important one, else the first that does something."""
    weighed = [(size, head) for head in report.heads if (size := importance_of(head)) is not None]
    if weighed:
        return max(weighed, key=lambda pair: pair[0])[1].name
    return next((head.name for head in report.heads if head.pattern), report.heads[0].name)


def head_numbers(head: HeadSummary) -> dict[str, str]:
    """The numbers of one head as a line above its map."""
    return {
        visible(finding_title(finding)): f"{number(finding.estimate)} {interval(finding.interval)}"
        for finding in head.findings
    }


def head_table(report: HeadReport) -> FindingsBy:
    """All findings of all heads."""
    columns = statistics_of(head.findings for head in report.heads)
    rows = [
        FindingRow(head.name, head.pattern, cells_of(head.findings, columns), head.name)
        for head in report.heads
    ]
    return FindingsBy([column_title(*column) for column in columns], rows)


def layer_table(report: HeadReport) -> FindingsBy:
    """What goes to special tokens, layer by layer."""
    columns = statistics_of(layer.findings for layer in report.layers)
    rows = [
        FindingRow(str(layer.layer), layer.kind, cells_of(layer.findings, columns)) for layer in report.layers
    ]
    return FindingsBy([column_title(*column) for column in columns], rows)


def statistics_of(findings: Iterable[Sequence[Finding]]) -> list[tuple[str, str]]:
    """Every statistic that some head or layer has, as they come."""
    return list(dict.fromkeys((one.statistic, one.against) for each in findings for one in each))


def cells_of(findings: Sequence[Finding], columns: Sequence[tuple[str, str]]) -> list[Finding | None]:
    """The finding of every column."""
    by_name = {(one.statistic, one.against): one for one in findings}
    return [by_name.get(column) for column in columns]


def column_title(statistic: str, against: str) -> str:
    """What a statistic is called above its column."""
    words = display_name(statistic, STATISTICS).replace("-", " ")
    return f"{words}: {display_name(against, AGAINST)}" if against else words


def finding_title(finding: Finding) -> str:
    """What a finding is called beside its number."""
    return column_title(finding.statistic, finding.against)


def heads_fragment(report: HeadReport) -> str:
    """The conclusion, the small maps and the most important heads, for a notebook."""
    table = head_table(report)
    ranked = sorted(
        zip(report.heads, table.rows, strict=True),
        key=lambda pair: (-(importance_of(pair[0]) or 0.0), not pair[0].pattern),
    )
    lines = [notebook_row(row) for _, row in ranked[:NOTEBOOK_ROWS]]
    parts: list[Any] = [Markup("<b>{}</b>").format(visible(" ".join(report.conclusion)))]
    parts.append(quiet_line(intro_sentence(report)))
    if report.texts:
        parts.append(Markup(figure_fragment(head_grid(report))))
    parts.append(notebook_table(("head", "pattern", *table.columns), lines, words=(0, 1)))
    if len(lines) < len(report.heads):
        parts.append(quiet_line(f"{len(report.heads) - len(lines)} more heads: to_pandas()"))
    parts += [*map(quiet_line, report.remarks), quiet_line('All maps: save("heads.html")')]
    return str(Markup('<div style="{};overflow-x:auto">{}</div>').format(WIDE, Markup("").join(parts)))


def notebook_row(row: FindingRow) -> tuple[str, ...]:
    """One head in numbers."""
    return (row.name, row.note, *(number(None if cell is None else cell.estimate) for cell in row.cells))
