"""Groups of runs compared: their metrics, and the differences with their tests."""

from glasshead.report.comparison_rows import (
    SPLITS,
    deviation,
    intro_sentence,
    mean,
    seed_values,
    tested_differences,
)
from glasshead.report.document import Document, Heading, Row, Sentence, Table, columns, table
from glasshead.report.documents.audits import audits_document
from glasshead.report.labels import sentence
from glasshead.report.number_format import DASH, number
from glasshead.results import METRIC_NAMES, AuditComparison, Comparison, RunComparison


def comparison_document(comparison: Comparison) -> Document:
    """Audits side by side, or groups of runs."""
    if isinstance(comparison, AuditComparison):
        return audits_document(list(comparison.cards), comparison.differences, comparison.remarks)
    assert isinstance(comparison, RunComparison)
    return runs_document(comparison)


def runs_document(comparison: RunComparison) -> Document:
    """Metrics of all groups, then the differences and their tests."""
    titles = columns(("metric",), ("difference", "95 % interval"))
    titles += columns(("t-test over seeds", "exchange", "verdict"), ())
    tested = [
        table(
            titles,
            [
                (
                    one.metric,
                    one.row.estimate,
                    one.row.interval,
                    f"{one.t} ({one.seeds})" if one.seeds else one.t,
                    one.exchange,
                    sentence(one.row.difference.verdict),
                )
                for one in rows
            ],
            f"{minuend} minus {subtrahend}",
        )
        for (minuend, subtrahend), rows in tested_differences(comparison)
    ]
    floor = Sentence(f"floor: {comparison.floor.guess}", "quiet")
    return [Heading(intro_sentence(comparison)), metrics_table(comparison), floor, *tested]


def metrics_table(comparison: RunComparison) -> Table:
    """Mean and standard deviation over seeds of every metric that a group has."""
    metrics = [
        (split, metric)
        for split in SPLITS
        for metric in METRIC_NAMES
        if any(seed_values(group, split, metric) for group in comparison.groups)
    ]
    rows: list[Row] = []
    for group in comparison.groups:
        values = (seed_values(group, *metric) for metric in metrics)
        cells = (" ± ".join(filter(None, (mean(one), deviation(one)))) if one else DASH for one in values)
        rows.append((group.name, str(len(group.seeds)), *cells))
    floors = (number(comparison.floor.metrics[split][metric], 4) for split, metric in metrics)
    titles = [f"{split} {METRIC_NAMES[metric]}" for split, metric in metrics]
    return table(columns(("runs",), ("seeds", *titles)), [*rows, ("floor", "", *floors)])


def comparison_in_notebook(comparison: Comparison) -> Document:
    """The same, and where to find the rest."""
    rest = f'{len(comparison.differences)} differences in all: to_pandas(), save("compare.html")'
    return [*comparison_document(comparison), Sentence(rest, "quiet")]
