"""glasshead list: what there is to choose from."""

from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.options import PrintOption


@app.command("list", rich_help_panel=YOUR_MODELS)
def list_entries(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[WHAT]",
            help="activations, positions, mechanisms, kernels, explainers, audits, datasets, models, "
            "presets, penalties, plots, removals, strategies (default: the number of each).",
        ),
    ] = None,
    format: Annotated[PrintOption, typer.Option(help="text or json.")] = PrintOption.text,
) -> None:
    """List everything you can choose from.

    Example: [bold]glasshead list activations[/]
    """
    from glasshead.cli.listing import as_records, count_table, list_table

    columns, rows = count_table() if kind is None else list_table(kind)
    if format is PrintOption.json:
        import json

        print_output(json.dumps(as_records(columns, rows), ensure_ascii=False, indent=1) + "\n", "json")
        return
    from rich.markup import escape
    from rich.table import Table

    from glasshead.report import WrappingTable

    table = Table(*columns, title=kind, title_style="bold", title_justify="left")
    table.columns[0].no_wrap = True  # a name is there to be copied
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(WrappingTable(table))
    if kind == "kernels":
        from glasshead.compiled import list_compiled_capabilities

        built = ", ".join(list_compiled_capabilities())
        print_line(
            f"native is {f'compiled for {built}' if built else 'not compiled: glasshead kernels build'}"
        )
