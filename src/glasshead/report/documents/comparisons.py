"""Groups of runs compared: their metrics, and the differences with their tests."""

from collections.abc import Sequence

from glasshead.report.comparison_rows import (
    LOWER,
    SPLITS,
    deviation,
    intro_sentence,
    mean,
    round_limits,
    seed_values,
    tested_differences,
)
from glasshead.report.difference_rows import difference_limits
from glasshead.report.document import (
    Column,
    Document,
    Heading,
    Mark,
    Piece,
    Row,
    Rows,
    Sentence,
    Table,
    cell,
    columns,
)
from glasshead.report.documents.audits import audits_document
from glasshead.report.interval_marks import difference_mark, null_mark, seeds_mark
from glasshead.report.number_format import number
from glasshead.results import METRIC_NAMES, AuditComparison, Comparison, RunComparison
from glasshead.wording import sentence


def comparison_document(comparison: Comparison) -> Document:
    """Audits side by side, or groups of runs."""
    if isinstance(comparison, AuditComparison):
        return audits_document(list(comparison.cards), comparison.differences, comparison.remarks)
    assert isinstance(comparison, RunComparison)
    return runs_document(comparison)


def runs_document(comparison: RunComparison) -> Document:
    """Metrics of all groups, then the differences and their tests."""
    floor = Sentence(f"floor: {comparison.floor.guess}", "quiet")
    tables = metrics_table(comparison), floor, differences_table(comparison)
    names = " and ".join(group.name for group in comparison.groups)
    return [Heading(names), Sentence(intro_sentence(comparison)), *tables]


def differences_table(comparison: RunComparison) -> Table:
    """Every metric of every pair, with its tests."""
    limits = difference_limits(comparison.differences)
    groups = [
        Rows(
            [
                (
                    difference.metric,
                    cell(difference.row.estimate, tone="strong"),
                    cell(
                        difference.row.interval,
                        drawing=Mark(difference_mark(difference.row.difference), limits),
                    ),
                    sentence(difference.row.difference.verdict),
                    cell(difference.t, f"({difference.seeds})" if difference.seeds else ""),
                    difference.exchange,
                )
                for difference in rows
            ],
            f"{one} minus {other}",
        )
        for (one, other), rows in tested_differences(comparison)
        if limits is not None
    ]
    head = [Column("metric"), Column("difference", "numbers"), Column("95 % interval", "marked")]
    head += columns(("verdict", "t-test over seeds", "exchange test"), ())
    return Table(head, groups, "Differences of all pairs")


def metrics_table(comparison: RunComparison) -> Table:
    """Mean and standard deviation over seeds of every metric that a group has, and the floor."""
    groups = []
    for split in SPLITS:
        for metric, word in METRIC_NAMES.items():
            values = {group.name: seed_values(group, split, metric) for group in comparison.groups}
            known = {name: seeds for name, seeds in values.items() if seeds}
            if not known:
                continue
            floor = comparison.floor.metrics[split][metric]
            limits = round_limits([floor, *(value for seeds in known.values() for value in seeds)])
            better = "lower is better" if metric in LOWER else "higher is better"
            rows: list[Row] = [metric_row(name, seeds, limits) for name, seeds in known.items()]
            rows.append(("floor", number(floor, 4), cell(drawing=Mark(null_mark(floor), limits)), ""))
            groups.append(Rows(rows, f"{word}, {split} ({better})"))
    head = [
        Column("runs"),
        Column("mean ± std", "numbers"),
        Column("seeds", "marked"),
        Column("n", "numbers"),
    ]
    return Table(head, groups, "Metrics of every group")


def metric_row(name: str, values: Sequence[float], limits: tuple[float, float]) -> Row:
    """A metric of one group."""
    spread = f" ± {deviation(values)}" if len(values) > 1 else ""
    numbers = cell([Piece(mean(values), "strong"), spread])
    return name, numbers, cell(drawing=Mark(seeds_mark(values), limits)), str(len(values))


def comparison_in_notebook(comparison: Comparison) -> Document:
    """The same, and where to find the rest."""
    rest = f'{len(comparison.differences)} differences in all: to_pandas(), save("compare.html")'
    return [*comparison_document(comparison), Sentence(rest, "quiet")]
