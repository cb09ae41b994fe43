"""Audit cards in the terminal, as rich renderables."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.errors import pluralise
from glasshead.escaping import one_line
from glasshead.nouns import Nouns, nouns_of
from glasshead.report.claims import claims_by_answer
from glasshead.report.findings_in_words import bounds, estimate, nulls, over_nulls, with_sign
from glasshead.report.headline import verdict
from glasshead.report.key_findings import Answer, answers, cautions, intro_sentence, speaks
from glasshead.report.labels import sentence
from glasshead.report.number_format import DASH, count
from glasshead.report.run_facts import card_names, split_names
from glasshead.report.sign_gauge import sign_sentence
from glasshead.report.slice_tables import SliceTable, slice_tables
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.results import EXPLANATION, AuditCard, Difference, Finding

NUMBERS = "estimate", "95 % interval", "null"


def card_table(
    cards: Sequence[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> RenderableType:
    """The audit card: key findings with interval, null and verdict; several cards side by side."""
    full, nouns = card_names(cards), nouns_of(*(card.facts for card in cards))
    _, short = split_names(full)
    parts: list[RenderableType] = []
    for card, name in zip(cards, full, strict=True):
        parts.append(Text(one_line(name), style="bold"))
        if whole := verdict(card):
            parts.append(Text(one_line(whole)))
        parts.append(
            Text(
                one_line(" ".join(part for part in (intro_sentence(card), sign_sentence(card)) if part)),
                style="dim",
            )
        )
    if len(cards) == 1 and EXPLANATION in cards[0].facts:
        parts += claim_lines(cards[0])
    key_answers = answers(cards, short, differences)
    if not key_answers:
        parts.append(Text("No key finding in this audit."))
    elif len(cards) == 1:
        parts.append(_one_card(key_answers, nouns))
    else:
        parts.append(_side_by_side(key_answers, short, nouns))
    for caution in cautions(cards, short):
        parts.append(Text(f"! {one_line(caution)}", style="yellow"))
    several = len(cards) > 1
    parts += [slice_lines(card, name if several else "") for card, name in zip(cards, short, strict=True)]
    parts += [Text(one_line(remark), style="dim") for remark in remarks]
    return Group(*parts)


def claim_lines(card: AuditCard) -> Iterator[RenderableType]:
    """What you can claim about its attention, and what not."""
    for heading, claims in claims_by_answer(card).items():
        yield Text(f"\n{heading}", style="bold")
        for claim in claims:
            reason = Text(one_line(f"{claim.because} {claim.finding} {claim.numbers}"), style="dim")
            yield Padding(Group(Text(one_line(f"{claim.says}.")), reason), (0, 0, 0, 2))


def _one_card(key_answers: list[Answer], nouns: Nouns) -> Group:
    """One line of numbers per question, its verdict below at full width."""
    known = [
        (answer, finding) for answer in key_answers for finding in answer.findings if finding is not None
    ]
    numbers = [_numbers(f) for _, f in known]
    widths = [max(map(len, column)) for column in zip(NUMBERS, *numbers, strict=True)]
    parts: list[RenderableType] = [Text(), _number_line("", NUMBERS, widths, "dim")]
    for (answer, finding), line in zip(known, numbers, strict=True):
        parts.append(_number_line(answer.question.asks, line, widths, "bold"))
        verdict = Text.assemble((f"{answer.question.measure}. ", "dim"), sentence(one_line(finding.verdict)))
        paired = Text(one_line(_paired_text(finding, nouns)), style="dim")
        parts.append(Padding(Group(verdict, *([paired] if paired else [])), (0, 0, 1, 2)))
    return Group(*parts)


def _number_line(
    question: str, numbers: Sequence[str], widths: Sequence[int], emphasis: str
) -> WrappingTable:
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    for heading, width in zip(NUMBERS, widths, strict=True):
        grid.add_column(heading, justify="right", no_wrap=True, min_width=width)
    styles = emphasis, emphasis, "", "dim"
    grid.add_row(*(Text(cell, style=style) for cell, style in zip((question, *numbers), styles, strict=True)))
    return WrappingTable(grid)


def _side_by_side(key_answers: list[Answer], names: list[str], nouns: Nouns) -> WrappingTable:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("question", ratio=3)
    for name in names:
        table.add_column(Text(one_line(name)), justify="right", ratio=2)
    for answer in key_answers:
        cells = [
            Text("–")
            if finding is None
            else Text.assemble(
                (_numbers(finding)[0], "bold"),
                f"\n{bounds(finding)}" if speaks(finding) else "",
                (f"\nnull {_null_text(finding)}" if finding.null and speaks(finding) else "", "dim"),
                f"\n{sentence(one_line(finding.verdict))}" if finding.verdict else "",
                (f"\n{one_line(paired)}" if (paired := _paired_text(finding, nouns)) else "", "dim"),
            )
            for finding in answer.findings
        ]
        question = Text.assemble(
            (answer.question.asks, "bold"),
            (f"  {answer.question.measure}", "dim"),
            f"\n{one_line(answer.difference)}",
        )
        table.add_row(question, *cells)
        table.add_row()
    return WrappingTable(table)


def _numbers(finding: Finding) -> tuple[str, str, str]:
    """Estimate, interval and null; dashes where they are no evidence."""
    if not speaks(finding):
        return DASH, DASH, DASH
    return estimate(finding), bounds(finding), _null_text(finding)


def _paired_text(finding: Finding, nouns: Nouns) -> str:
    """The differences from nulls, where they say anything."""
    return over_nulls(finding, nouns) if speaks(finding) else ""


def _null_text(finding: Finding) -> str:
    return with_sign(finding, finding.null["random"]) if "random" in finding.null else nulls(finding)


def slice_lines(card: AuditCard, name: str = "") -> RenderableType:
    """What differs between the slices of an audit, of this name among several; nothing where no slices were
    asked for."""
    return Group(*(line for table in slice_tables(card) for line in lines_of(table, name)))


def lines_of(table: SliceTable, name: str) -> Iterator[RenderableType]:
    """One cut of the texts."""
    yield Text(one_line(", ".join(filter(None, (f"By {table.by}", name)))), style="bold")
    yield Text(f"{table.summary} Intervals of slices at {table.percent}.", style="dim")
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    grid.add_column("")
    for heading in ("estimate", "interval", "n"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for row in table.differing_rows:
        grid.add_row(Text(one_line(f"{row.question.asks} {row.answer}"), style="bold"), "", "", "")
        for finding in row.findings:
            label = Text(f"  {one_line(row.name(finding))}")
            grid.add_row(label, estimate(finding), bounds(finding), count(finding.n))
    if grid.row_count:
        yield WrappingTable(grid)
    if table.other_rows:
        yield Text(
            f"{pluralise(len(table.other_rows), 'key finding')} not shown to differ, or not tested: see the "
            "report.",
            style="dim",
        )
    yield Text()
