"""Explanations and audit cards in the terminal, as rich renderables.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.differences import Difference
from glasshead.report.facts import names, short
from glasshead.report.formats import interval, number
from glasshead.report.headline import Answer, answers, cautions, gauge, lead
from glasshead.report.markup import nulls
from glasshead.report.passages import peak, score_name, strength, stretches, visible
from glasshead.report.wording import sentence
from glasshead.results import Attribution, AuditCard, Finding

BAR = 10
# Weak tokens colour the letters, strong ones the ground: readable on dark and on light terminals.
RED = ("#d1503f", "bold #d1503f", "#ffffff on #a63a2b", "bold #ffffff on #c92a1a")
BLUE = ("#3f86d6", "bold #3f86d6", "#ffffff on #2f639f", "bold #ffffff on #1b5fc4")
STEPS = (0.08, 0.25, 0.5, 0.75)


def style(share: float) -> str:
    """The terminal style of a signed strength in [−1, 1]; empty for almost nothing."""
    level = sum(abs(share) >= step for step in STEPS)
    return "" if level == 0 else (RED if share > 0 else BLUE)[level - 1]


def coloured(attribution: Attribution, scale: float | None = None) -> Text:
    """The whole text, tokens coloured at their offsets: red positive, blue negative, stronger for more.

    ``scale`` is the number that is drawn at full strength; by default the largest of this text.
    """
    text = Text(visible(attribution.text))
    full = peak(attribution) if scale is None else scale
    for stretch in stretches(attribution):
        if stretch.token is not None:
            share = strength(attribution.colours[stretch.token], full)
            text.stylize(style(share), stretch.start, stretch.end)
    return text


def attribution_table(attribution: Attribution) -> Table:
    """One row per token with its numbers and a bar; a column of words where words have several tokens."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    split = len(set(attribution.words)) < len(attribution.words)
    if split:
        table.add_column("word", max_width=24, overflow="ellipsis", no_wrap=True)
    table.add_column("token", max_width=24, overflow="ellipsis", no_wrap=True)
    table.add_column(score_name(attribution), justify="right")
    if attribution.contributions is not None:
        table.add_column("contribution", justify="right")
    table.add_column("", no_wrap=True, width=2 * BAR + 1)
    scale = peak(attribution)
    spans = _word_spans(attribution)
    before: int | None = None
    for rank, token in enumerate(attribution.tokens):
        cells = []
        if split:
            word = attribution.words[rank]
            cells.append(Text(_line(attribution.text[slice(*spans[word])])) if word != before else Text(""))
            before = word
        cells.append(Text(_line(token)))
        cells.append(Text(number(attribution.scores[rank], plus=attribution.signed)))
        if attribution.contributions is not None:
            cells.append(Text(number(attribution.contributions[rank], plus=True)))
        cells.append(_bar(strength(attribution.colours[rank], scale)))
        table.add_row(*cells)
    return table


def _word_spans(attribution: Attribution) -> dict[int, tuple[int, int]]:
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(attribution.words, attribution.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = (min(first, start), max(last, end))
    return spans


def _line(text: str) -> str:
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _bar(share: float) -> Text:
    """A bar to the right of the middle for a positive number, to the left for a negative one."""
    length = round(abs(share) * BAR)
    if share < 0:
        return Text.assemble(" " * (BAR - length), ("█" * length, BLUE[0]), "│", " " * BAR)
    return Text.assemble(" " * BAR, "│", ("█" * length, RED[0]))


def card_table(
    cards: Sequence[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> RenderableType:
    """The audit card: key findings with interval, null and verdict; several cards side by side."""
    full = names(cards)
    _, called = short(full)
    parts: list[RenderableType] = []
    for card, name in zip(cards, full, strict=True):
        parts.append(Text(_line(name), style="bold"))
        parts.append(Text(_line(" ".join(part for part in (lead(card), gauge(card)) if part)), style="dim"))
    found = answers(cards, called, differences)
    if not found:
        parts.append(Text("No key finding in this audit."))
    elif len(cards) == 1:
        parts.append(_single(found))
    else:
        parts.append(_side_by_side(found, called))
    for caution in cautions(cards, called):
        parts.append(Text(f"! {_line(caution)}", style="yellow"))
    parts += [Text(_line(remark), style="dim") for remark in remarks]
    return Group(*parts)


def _single(found: list[Answer]) -> Group:
    """One line of numbers per question, its verdict below at full width."""
    parts: list[RenderableType] = [Text(), _line_of("", "estimate", "95 % interval", "null", "dim")]
    for answer in found:
        for finding in answer.findings:
            if finding is None:
                continue
            numbers = _estimate(finding), interval(finding.interval), _random(finding)
            parts.append(_line_of(answer.question.asks, *numbers, "bold"))
            verdict = Text.assemble((f"{answer.question.measure}. ", "dim"), sentence(_line(finding.verdict)))
            parts.append(Padding(verdict, (0, 0, 1, 2)))
    return Group(*parts)


def _line_of(asked: str, estimate: str, bounds: str, null: str, emphasis: str) -> Table:
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    for width in (9, 16, 7):
        grid.add_column(justify="right", no_wrap=True, width=width)
    grid.add_row(
        Text(asked, style=emphasis), Text(estimate, style=emphasis), Text(bounds), Text(null, style="dim")
    )
    return grid


def _side_by_side(found: list[Answer], called: list[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=True)
    table.add_column("question", ratio=3)
    for name in called:
        table.add_column(Text(_line(name)), justify="right", ratio=2)
    for answer in found:
        cells = [
            Text("–")
            if finding is None
            else Text.assemble(
                (_estimate(finding), "bold"),
                f"\n{interval(finding.interval)}",
                (f"\nnull {_random(finding)}" if finding.null else "", "dim"),
                f"\n{sentence(_line(finding.verdict))}" if finding.verdict else "",
            )
            for finding in answer.findings
        ]
        asked = Text.assemble(
            (answer.question.asks, "bold"),
            (f"  {answer.question.measure}", "dim"),
            f"\n{_line(answer.difference)}",
        )
        table.add_row(asked, *cells)
        table.add_row()
    return table


def _estimate(finding: Finding) -> str:
    return "undefined" if finding.estimate is None else number(finding.estimate)


def _random(finding: Finding) -> str:
    return number(finding.null["random"]) if "random" in finding.null else nulls(finding.null)
