"""A history in the terminal: groups, what moved them, chosen tokens."""

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.escaping import visible
from glasshead.papers.report.context_tables import context_orders, context_verdicts, prominences
from glasshead.papers.report.dynamics_summary import (
    DynamicsSummary,
    change_remarks,
    group_changes,
    group_verdicts,
    interval_note,
    intro_sentence,
    largest_term_sentence,
    layer_changes,
    missing_parts,
    note_ungrouped,
    rank_terms,
    token_lines,
    vector_numbers,
)
from glasshead.report import DASH, WrappingTable


def dynamics_table(summary: DynamicsSummary) -> RenderableType:
    """Groups from start to end with intervals, VᵀW, terms with their shares, tokens, verdicts."""
    lines: list[RenderableType] = [
        Text(visible(summary.title), style="bold"),
        Text(visible(intro_sentence(summary)), style="dim"),
    ]
    lines.append(WrappingTable(change_table(summary)))
    lines += [Text(visible(remark), style="dim") for remark in change_remarks(summary)]
    if known := vector_numbers(summary):
        lines.append(Columns([Text(f"{visible(name)} {value}") for name, value in known], padding=(0, 2)))
    if moved := rank_terms(summary, "score"):
        lines += [Text(), Text("What moved the attention score of a mean token", style="bold")]
        table = empty_table("group", "term", "added", "95 % interval", "share", right=(2, 4))
        for part in moved:
            words = f"{part.term}: {part.words}" if part.words else part.term
            style = "bold" if part.verdict and part.status == "evidence" else ""
            cells = part.group, words, part.added, part.interval, part.share
            table.add_row(*(Text(visible(cell), style=style) for cell in cells))
        lines.append(WrappingTable(table))
        lines += [Text(note, style="dim")] if (note := interval_note(summary)) else []
        for part in moved:
            if part.verdict:
                lines.append(indent(f"{part.group}: {largest_term_sentence(part)}."))
    lines += [Text(visible(why), style="dim") for why in missing_parts(summary)]
    if summary.tokens:
        lines += [Text(), Text("Tokens", style="bold"), WrappingTable(token_table(summary))]
        lines += [Text(note, style="dim")] if (note := note_ungrouped(summary)) else []
    if summary.history.contexts:
        lines += [
            Text(),
            Text("Tokens in their texts and alone, by the trained model", style="bold"),
            *map(WrappingTable, context_tables(summary)),
        ]
    if sentences := [*group_verdicts(summary), *context_verdicts(summary)]:
        lines += [Text(), Text("Verdicts", style="bold")]
        lines += [indent(sentence) for sentence in sentences]
        lines.append(Text("Intervals are over tokens, not over seeds.", style="dim"))
    lines += [Text(f"! {visible(remark)}", style="yellow") for remark in summary.remarks]
    return Group(*lines)


def indent(sentence: str) -> RenderableType:
    """A sentence below a heading."""
    return Padding(Text(visible(sentence)), (0, 0, 0, 2), expand=False)


def empty_table(*names: str, right: tuple[int, ...] = ()) -> Table:
    """An empty table in the style of all."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for rank, name in enumerate(names):
        numeric = rank in right or name.startswith("95")
        # What has to give way is folded.
        table.add_column(
            name,
            justify="right" if rank in right else "left",
            no_wrap=numeric,
            overflow="fold",
        )
    return table


SHORT_VERDICTS = {"no sign": DASH, "too few": "too few"}
"""Why nothing is said of a change, as there is room for."""
INTERVALS = {
    (True, True): "± std",
    (True, False): "± std",
    (False, True): "change, 95 %",
    (False, False): "95 % interval",
}


def change_table(summary: DynamicsSummary) -> Table:
    """Every group, or every layer; below its name how many tokens (or rows) the means are of."""
    layered = summary.history.facts["kind"] == "layers"
    changes = layer_changes(summary) if layered else group_changes(summary)
    numbers_ = ["start", summary.now] if summary.recorded else [summary.now]
    table = empty_table(
        "layer" if layered else "group", "", *numbers_, INTERVALS[layered, summary.recorded], ""
    )
    for column in table.columns[1:]:
        column.no_wrap = True
    for column in table.columns[2 : 2 + len(numbers_)]:
        column.justify = "right"
    rank, before = 0, ""
    for level in changes:
        rank = rank + 1 if level.group == before else 0
        before = level.group
        label = level.group if rank == 0 else f"{level.tokens} tokens" if rank == 1 and not layered else ""
        started = [level.start] if summary.recorded else []
        verdict = SHORT_VERDICTS.get(level.reason, level.verdict)
        table.add_row(
            *(
                Text(visible(cell))
                for cell in (label, level.quantity, *started, level.now, level.interval, verdict)
            )
        )
    return table


def token_table(summary: DynamicsSummary) -> Table:
    """The chosen tokens, and what has moved their scores most where that is known."""
    lines = token_lines(summary)
    known = any(line.cause != DASH for line in lines)
    table = empty_table("token", "group", "n", "polarity", "score", *["moved most by"] * known, right=(2,))
    for line in lines:
        cells = line.token, line.group, line.count, line.polarity, line.score, *[line.cause] * known
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def context_tables(summary: DynamicsSummary) -> list[Table]:
    """How far the order of tokens alone is that in their texts, and how far each group stands out in both."""
    same = empty_table("group", "n", "", "τ-b", "95 % interval", "flipped", "95 % interval", right=(1, 3, 5))
    before = ""
    for row in context_orders(summary):
        label = ("", "") if row.group == before else (row.group, row.n)
        cells = *label, row.quantity, row.tau, row.tau_interval, row.flipped, row.flipped_interval
        same.add_row(*(Text(visible(cell)) for cell in cells))
        before = row.group
    groups = prominences(summary)
    if not groups:
        return [same]
    out = empty_table("attention above", "n", "", "AUC", "95 % interval", right=(1, 3))
    for group in groups:
        for rank, (where, (size, bounds)) in enumerate(
            (("in texts", group.local), ("alone", group.alone), ("gain", group.gain))
        ):
            label = (group.group, group.n) if rank == 0 else ("", "")
            out.add_row(*(Text(visible(cell)) for cell in (*label, where, size, bounds)))
    return [same, out]
