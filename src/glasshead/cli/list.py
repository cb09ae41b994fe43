"""glasshead list: what there is to choose from."""

from typing import Annotated

import typer

from glasshead.cli.app import app
from glasshead.cli.console import console


@app.command("list")
def list_entries(
    kind: Annotated[
        str,
        typer.Argument(
            help="activations, positions, mechanisms, kernels, explainers, audits, datasets, models, "
            "presets, penalties, plots."
        ),
    ],
) -> None:
    """List what there is to choose from.

    Example: [bold]glasshead list activations[/]
    """
    from rich.markup import escape
    from rich.table import Table

    from glasshead.cli.listing import list_table
    from glasshead.report import WrappingTable

    columns, rows = list_table(kind)
    table = Table(*columns, title=kind, title_style="bold", title_justify="left")
    table.columns[0].no_wrap = True  # a name is there to be copied
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(WrappingTable(table))
