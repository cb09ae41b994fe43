"""A history in words: groups, what moved them, chosen tokens."""

from collections.abc import Iterable

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
from glasshead.report import (
    DASH,
    Block,
    Column,
    Document,
    Facts,
    Heading,
    Row,
    Sentence,
    Table,
    cell,
    columns,
    table,
)


def dynamics_document(summary: DynamicsSummary) -> Document:
    """Groups from start to end with intervals, VᵀW, terms with their shares, tokens, verdicts."""
    blocks: list[Block] = [Heading(summary.title), Sentence(intro_sentence(summary), "quiet")]
    blocks.append(change_table(summary))
    blocks += quiet(change_remarks(summary))
    if known := vector_numbers(summary):
        blocks.append(Facts([f"{name} {value}" for name, value in known]))
    if moved := rank_terms(summary, "score"):
        blocks.append(Heading("What moved the mean attention score of tokens", 2))
        rows: list[Row] = []
        for part in moved:
            words = f"{part.term}: {part.words}" if part.words else part.term
            cells = part.group, words, part.added, part.interval, part.share
            decided = part.verdict and part.status == "evidence"
            rows.append([cell(one, tone="strong" if decided else "plain") for one in cells])
        blocks.append(table(columns(("group", "term"), ("added", "95 % interval", "share")), rows))
        blocks += quiet([interval_note(summary)])
        blocks += [
            Sentence(f"{part.group}: {largest_term_sentence(part)}.", indent=True)
            for part in moved
            if part.verdict
        ]
    blocks += quiet(missing_parts(summary))
    if summary.tokens:
        blocks += [Heading("Tokens", 2), token_table(summary), *quiet([note_ungrouped(summary)])]
    if summary.history.contexts:
        blocks.append(Heading("Tokens in their texts and alone, by the trained model", 2))
        blocks += context_tables(summary)
    if sentences := [*group_verdicts(summary), *context_verdicts(summary)]:
        blocks.append(Heading("Verdicts", 2))
        blocks += [Sentence(sentence, indent=True) for sentence in sentences]
        blocks += quiet(["Intervals are over tokens, not over seeds."])
    return [*blocks, *(Sentence(remark, "caution") for remark in summary.remarks)]


def quiet(sentences: Iterable[str]) -> list[Sentence]:
    """Remarks, without those that are empty."""
    return [Sentence(sentence, "quiet") for sentence in sentences if sentence]


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
    numbers = ["start", summary.now] if summary.recorded else [summary.now]
    head = columns(("layer" if layered else "group",), numbers)
    head.insert(1, Column("", "name"))
    head += [Column(INTERVALS[layered, summary.recorded], "name"), Column("", "name")]
    rows: list[Row] = []
    rank, before = 0, ""
    for level in changes:
        rank = rank + 1 if level.group == before else 0
        before = level.group
        label = level.group if rank == 0 else f"{level.tokens} tokens" if rank == 1 and not layered else ""
        started = [level.start] if summary.recorded else []
        verdict = SHORT_VERDICTS.get(level.reason, level.verdict)
        rows.append((label, level.quantity, *started, level.now, level.interval, verdict))
    return table(head, rows)


def token_table(summary: DynamicsSummary) -> Table:
    """The chosen tokens, and what has moved their scores most where that is known."""
    lines = token_lines(summary)
    known = any(line.cause != DASH for line in lines)
    head = [*columns(("token", "group"), ("n",)), *columns(("polarity", "score"), ())]
    head += [Column("moved most by")] * known
    return table(
        head,
        [
            (line.token, line.group, line.count, line.polarity, line.score, *[line.cause] * known)
            for line in lines
        ],
    )


def context_tables(summary: DynamicsSummary) -> list[Table]:
    """How far the order of tokens alone is that in their texts, and how far each group stands out in both."""
    orders: list[Row] = []
    before = ""
    for row in context_orders(summary):
        label = ("", "") if row.group == before else (row.group, row.n)
        orders.append((*label, row.quantity, row.tau, row.tau_interval, row.flipped, row.flipped_interval))
        before = row.group
    numbers = ("τ-b", "95 % interval", "flipped", "95 % interval")
    tables = [table([Column("group"), *columns((), ("n",)), Column(""), *columns((), numbers)], orders)]
    if groups := prominences(summary):
        rows = [
            (*((group.group, group.n) if rank == 0 else ("", "")), where, *values)
            for group in groups
            for rank, (where, values) in enumerate(
                (("in texts", group.local), ("alone", group.alone), ("gain", group.gain))
            )
        ]
        head = [Column("attention above"), *columns((), ("n",)), Column("")]
        tables.append(table([*head, *columns((), ("AUC", "95 % interval"))], rows))
    return tables
