"""A history in the terminal: groups, what moved them, chosen tokens."""

from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.escaping import visible
from glasshead.report.dynamics.contexts import context_verdicts, orders, prominent
from glasshead.report.dynamics.summary import (
    Told,
    lacking,
    largest,
    layer_levels,
    lead,
    levels,
    no_group,
    no_intervals,
    numbers,
    parts,
    remarks_on_levels,
    token_lines,
    verdicts,
)
from glasshead.report.number_format import DASH
from glasshead.report.tables import Uncut


def dynamics_table(told: Told) -> RenderableType:
    """Groups from start to end with intervals, VᵀW, terms with their shares, tokens, verdicts."""
    lines: list[RenderableType] = [
        Text(visible(told.title), style="bold"),
        Text(visible(lead(told)), style="dim"),
    ]
    lines.append(Uncut(level_table(told)))
    lines += [Text(visible(said), style="dim") for said in remarks_on_levels(told)]
    if known := numbers(told):
        lines.append(Columns([Text(f"{visible(name)} {value}") for name, value in known], padding=(0, 2)))
    if moved := parts(told, "score"):
        lines += [Text(), Text("What moved the attention score of a mean token", style="bold")]
        table = headed("group", "term", "added", "95 % interval", "share", right=(2, 4))
        for part in moved:
            words = f"{part.term}: {part.words}" if part.words else part.term
            style = "bold" if part.verdict and part.status == "evidence" else ""
            cells = part.group, words, part.added, part.interval, part.share
            table.add_row(*(Text(visible(cell), style=style) for cell in cells))
        lines.append(Uncut(table))
        lines += [Text(said, style="dim")] if (said := no_intervals(told)) else []
        for part in moved:
            if part.verdict:
                lines.append(indented(f"{part.group}: {largest(part)}."))
    lines += [Text(visible(why), style="dim") for why in lacking(told)]
    if told.tokens:
        lines += [Text(), Text("Tokens", style="bold"), Uncut(token_table(told))]
        lines += [Text(said, style="dim")] if (said := no_group(told)) else []
    if told.history.contexts:
        lines += [
            Text(),
            Text("Tokens in their texts and alone, by the trained model", style="bold"),
            *map(Uncut, context_tables(told)),
        ]
    if found := [*verdicts(told), *context_verdicts(told)]:
        lines += [Text(), Text("Verdicts", style="bold")]
        lines += [indented(each) for each in found]
        lines.append(Text("Intervals are over tokens, not over seeds.", style="dim"))
    lines += [Text(f"! {visible(remark)}", style="yellow") for remark in told.remarks]
    return Group(*lines)


def indented(sentence: str) -> RenderableType:
    """A sentence below a heading."""
    return Padding(Text(visible(sentence)), (0, 0, 0, 2), expand=False)


def headed(*names: str, right: tuple[int, ...] = ()) -> Table:
    """An empty table of this house's style."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for rank, name in enumerate(names):
        whole = rank in right or name.startswith("95")
        # What has to give way is folded.
        table.add_column(
            name,
            justify="right" if rank in right else "left",
            no_wrap=whole,
            overflow="fold",
        )
    return table


SHORT = {"no sign": DASH, "too few": "too few"}
"""Why nothing is said of a change, as there is room for."""
INTERVALS = {
    (True, True): "± std",
    (True, False): "± std",
    (False, True): "change, 95 %",
    (False, False): "95 % interval",
}


def level_table(told: Told) -> Table:
    """Every group, or every layer; below its name how many tokens (or rows) the means are of."""
    layered = told.history.facts["kind"] == "layers"
    found = layer_levels(told) if layered else levels(told)
    numbers_ = ["start", told.now] if told.watched else [told.now]
    table = headed("layer" if layered else "group", "", *numbers_, INTERVALS[layered, told.watched], "")
    for column in table.columns[1:]:
        column.no_wrap = True
    for column in table.columns[2 : 2 + len(numbers_)]:
        column.justify = "right"
    rank, before = 0, ""
    for level in found:
        rank = rank + 1 if level.group == before else 0
        before = level.group
        beside = level.group if rank == 0 else f"{level.tokens} tokens" if rank == 1 and not layered else ""
        started = [level.start] if told.watched else []
        verdict = SHORT.get(level.reason, level.verdict)
        table.add_row(
            *(
                Text(visible(cell))
                for cell in (beside, level.quantity, *started, level.now, level.interval, verdict)
            )
        )
    return table


def token_table(told: Told) -> Table:
    """The chosen tokens, and what has moved their scores most where that is known."""
    found = token_lines(told)
    known = any(line.cause != DASH for line in found)
    table = headed("token", "group", "n", "polarity", "score", *["moved most by"] * known, right=(2,))
    for line in found:
        cells = line.token, line.group, line.count, line.polarity, line.score, *[line.cause] * known
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def context_tables(told: Told) -> list[Table]:
    """How far the order of tokens alone is that in their texts, and how far each group stands out in both."""
    same = headed("group", "n", "", "τ-b", "95 % interval", "flipped", "95 % interval", right=(1, 3, 5))
    before = ""
    for row in orders(told):
        beside = ("", "") if row.group == before else (row.group, row.n)
        cells = *beside, row.quantity, row.tau, row.tau_interval, row.flipped, row.flipped_interval
        same.add_row(*(Text(visible(cell)) for cell in cells))
        before = row.group
    found = prominent(told)
    if not found:
        return [same]
    out = headed("attention above", "n", "", "AUC", "95 % interval", right=(1, 3))
    for each in found:
        for rank, (where, (size, bounds)) in enumerate(
            (("in texts", each.local), ("alone", each.alone), ("gain", each.gain))
        ):
            beside = (each.group, each.n) if rank == 0 else ("", "")
            out.add_row(*(Text(visible(cell)) for cell in (*beside, where, size, bounds)))
    return [same, out]
