"""Facts or settings, one column for each thing that has them."""

from collections.abc import Sequence

from glasshead.report.document import Table, columns, table


def facts_table(rows: Sequence[tuple[str, Sequence[str]]], names: Sequence[str], title: str = "") -> Table:
    """A row for each fact, a column for each of these names."""
    return table(columns(("fact", *names), ()), [(name, *values) for name, values in rows], title)
