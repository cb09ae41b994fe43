"""Explanations and audit cards in the terminal, as rich renderables.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.escaping import one_line, visible
from glasshead.report.bars import BLUE, CELLS, LEAST, MOST, RANGE, RED, SHOWN, bar, range_bar
from glasshead.report.gauge import gauge
from glasshead.report.html_fragments import nulls, over_nulls
from glasshead.report.key_findings import Answer, answers, cautions, lead
from glasshead.report.labels import sentence
from glasshead.report.number_format import interval, number
from glasshead.report.run_facts import names, short
from glasshead.report.tables import Uncut
from glasshead.report.text_spans import peak, score_name, strength, stretches
from glasshead.report.weight_intervals import HATCH, MEANING, UNKNOWN, could_be, counted, extremes
from glasshead.results import Attribution, AuditCard, Difference, Finding

NUMBERS = "estimate", "95 % interval", "null"
STEPS = (0.08, 0.25, 0.5, 0.75)


def style(share: float) -> str:
    """The terminal style of a signed strength in [−1, 1]; empty for almost nothing."""
    level = sum(abs(share) >= step for step in STEPS)
    return "" if level == 0 else (RED if share > 0 else BLUE)[level - 1]


def faint(share: float) -> str:
    """The same for a weight that may be zero: letters alone, however strong it is drawn."""
    colour = (RED if share > 0 else BLUE)[0]
    return f"italic {colour}" if style(share) else "italic dim"


def coloured(attribution: Attribution, scale: float | None = None) -> Text:
    """The whole text, tokens coloured at their offsets: red positive, blue negative, stronger for more.

    ``scale`` is the number that is drawn at full strength; by default the largest of this text. A weight that
    may be zero gets slanted letters and no ground.
    """
    text = Text(visible(attribution.text))
    full = peak(attribution) if scale is None else scale
    for stretch in stretches(attribution):
        if stretch.token is not None:
            share = strength(attribution.colours[stretch.token], full)
            doubtful = attribution.may_be_zero(stretch.token)
            text.stylize(faint(share) if doubtful else style(share), stretch.start, stretch.end)
    return text


def attribution_table(attribution: Attribution) -> RenderableType:
    """One row per token with its numbers and a bar; a column of words where words have several tokens.

    With intervals, a column of them, bars that show them, and what they mean in words below.
    """
    known = attribution.intervals is not None
    every = range(len(attribution.tokens))
    columns = {score_name(attribution): [number(v, plus=attribution.signed) for v in attribution.scores]}
    if known:
        marks = [f" {HATCH}" if attribution.may_be_zero(i) else "" for i in every]
        columns["could be"] = [could_be(attribution, i) + mark for i, mark in zip(every, marks, strict=True)]
    if attribution.contributions is not None:
        columns["contribution"] = [number(value, plus=True) for value in attribution.contributions]
    scale, limits = peak(attribution), extremes([attribution])
    bars = [
        range_bar(attribution, i, limits) if known else bar(strength(attribution.colours[i], scale))
        for i in every
    ]
    names = {"token": [one_line(token) for token in attribution.tokens]}
    within = [word for word in attribution.words if word >= 0]
    if len(set(within)) < len(within):
        names = {"word": _words(attribution)} | names
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "could be" else "right", no_wrap=True)
    table.add_column("", no_wrap=True, width=RANGE + 1 if known else 2 * CELLS + 1)
    for i in every:
        faded = "dim" if attribution.may_be_zero(i) else ""
        cells = [Text(column[i], style=faded) for column in names.values()]
        cells += [Text(column[i]) for column in columns.values()]
        table.add_row(*cells, bars[i])
    drawn = Uncut(table, ornament=True)
    return Group(drawn, *_key(attribution)) if known else drawn


def _words(attribution: Attribution) -> list[str]:
    """The word of each token, said once."""
    spans, words = _word_spans(attribution), attribution.words
    return [
        "" if i and words[i - 1] == word else one_line(attribution.text[slice(*spans[word])])
        for i, word in enumerate(words)
    ]


def _key(attribution: Attribution) -> list[Text]:
    """What the marks of a table with ranges mean, one line each."""
    lines = [
        f"could be: {MEANING}",
        f"{LEAST} the least, {SHOWN} to the weight shown, {MOST} to the most; "
        f"{HATCH} after a range: may be zero",
    ]
    if any(attribution.interval(token) is None for token in range(len(attribution.scores))):
        lines.append(f"{UNKNOWN} no solver had an answer, or none was asked for")
    return [*(Text(line, style="dim") for line in lines), Text(counted(attribution))]


def _word_spans(attribution: Attribution) -> dict[int, tuple[int, int]]:
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(attribution.words, attribution.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = (min(first, start), max(last, end))
    return spans


def card_table(
    cards: Sequence[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> RenderableType:
    """The audit card: key findings with interval, null and verdict; several cards side by side."""
    full = names(cards)
    _, called = short(full)
    parts: list[RenderableType] = []
    for card, name in zip(cards, full, strict=True):
        parts.append(Text(one_line(name), style="bold"))
        parts.append(
            Text(one_line(" ".join(part for part in (lead(card), gauge(card)) if part)), style="dim")
        )
    found = answers(cards, called, differences)
    if not found:
        parts.append(Text("No key finding in this audit."))
    elif len(cards) == 1:
        parts.append(_single(found))
    else:
        parts.append(_side_by_side(found, called))
    for caution in cautions(cards, called):
        parts.append(Text(f"! {one_line(caution)}", style="yellow"))
    parts += [Text(one_line(remark), style="dim") for remark in remarks]
    return Group(*parts)


def _single(found: list[Answer]) -> Group:
    """One line of numbers per question, its verdict below at full width."""
    known = [(answer, finding) for answer in found for finding in answer.findings if finding is not None]
    numbers = [(number(f.estimate), interval(f.interval), _random(f)) for _, f in known]
    widths = [max(map(len, column)) for column in zip(NUMBERS, *numbers, strict=True)]
    parts: list[RenderableType] = [Text(), _line_of("", NUMBERS, widths, "dim")]
    for (answer, finding), line in zip(known, numbers, strict=True):
        parts.append(_line_of(answer.question.asks, line, widths, "bold"))
        verdict = Text.assemble((f"{answer.question.measure}. ", "dim"), sentence(one_line(finding.verdict)))
        paired = Text(one_line(over_nulls(finding)), style="dim")
        parts.append(Padding(Group(verdict, *([paired] if paired else [])), (0, 0, 1, 2)))
    return Group(*parts)


def _line_of(asked: str, numbers: Sequence[str], widths: Sequence[int], emphasis: str) -> Uncut:
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    for heading, width in zip(NUMBERS, widths, strict=True):
        grid.add_column(heading, justify="right", no_wrap=True, min_width=width)
    styles = emphasis, emphasis, "", "dim"
    grid.add_row(*(Text(cell, style=style) for cell, style in zip((asked, *numbers), styles, strict=True)))
    return Uncut(grid)


def _side_by_side(found: list[Answer], called: list[str]) -> Uncut:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("question", ratio=3)
    for name in called:
        table.add_column(Text(one_line(name)), justify="right", ratio=2)
    for answer in found:
        cells = [
            Text("–")
            if finding is None
            else Text.assemble(
                (number(finding.estimate), "bold"),
                f"\n{interval(finding.interval)}",
                (f"\nnull {_random(finding)}" if finding.null else "", "dim"),
                f"\n{sentence(one_line(finding.verdict))}" if finding.verdict else "",
                (f"\n{one_line(over_nulls(finding))}" if finding.over_null else "", "dim"),
            )
            for finding in answer.findings
        ]
        asked = Text.assemble(
            (answer.question.asks, "bold"),
            (f"  {answer.question.measure}", "dim"),
            f"\n{one_line(answer.difference)}",
        )
        table.add_row(asked, *cells)
        table.add_row()
    return Uncut(table)


def _random(finding: Finding) -> str:
    return number(finding.null["random"]) if "random" in finding.null else nulls(finding.null)
