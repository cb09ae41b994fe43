"""glasshead compare: audits or runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import app
from glasshead.cli.console import console, print_line
from glasshead.cli.options import SEEDS, Overwrite
from glasshead.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from glasshead.audits import AuditComparison
    from glasshead.results import Comparison


@app.command()
def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER…", help="Two or more audits, runs, or folders of repeats, all of one kind."
        ),
    ],
    against: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="The one to compare all others with; else the first.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="For runs: test or dev; else test.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", **SEEDS)] = 0,
    out: Annotated[Path, typer.Option("--out", help="The html file to write.")] = Path("compare.html"),
    overwrite: Overwrite = False,
) -> None:
    """Compare audits or runs: how do they differ, and could that be chance?

    Example: [bold]glasshead compare runs/trec-da runs/trec-vanilla --out compare.html[/]
    """
    from glasshead.audits import compare_folders
    from glasshead.files import check_writable, format_from_suffix, write_text

    if len(folders) < 2:
        raise InputError("give two or more folders to compare")
    check_writable(out, overwrite=overwrite, reads=folders)
    format_from_suffix(out, "html")
    page, table = page_and_table(compare_folders(folders, against=against, split=split, seed=seed))
    write_text(out, page, overwrite=overwrite)
    console.print(table)
    print_line(f"Report: {out}")


def page_and_table(comparison: "AuditComparison | Comparison") -> "tuple[str, RenderableType]":
    """A comparison as a page and for the terminal."""
    from glasshead.report import audit_page, card_table, comparison_page, comparison_table
    from glasshead.results import Comparison

    if isinstance(comparison, Comparison):
        return comparison_page(comparison), comparison_table(comparison)
    parts = comparison.cards, comparison.differences, comparison.remarks
    return audit_page(*parts), card_table(*parts)
