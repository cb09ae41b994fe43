"""Draw what a mechanism does with distance and what its heads have learned; extensions add plots."""

import csv
import math
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glasshead.cli.app import BUILD_AND_TRAIN, app
from glasshead.cli.console import print_line
from glasshead.cli.options import SEEDS, Overwrite, RunFolder, default_out
from glasshead.cli.typed_inputs import one_input
from glasshead.errors import InputError
from glasshead.files import format_from_suffix
from glasshead.registry import did_you_mean

MAX_HEADS = 16
FileOut = Annotated[
    Path | None, typer.Option("--out", help="The file to write: .png, .svg or .pdf.", show_default=False)
]
FileOrPageOut = Annotated[
    Path | None,
    typer.Option("--out", help="The file to write: .png, .svg, .pdf or .html.", show_default=False),
]
TableOut = Annotated[
    Path | None, typer.Option("--data", help="A csv file to write with the numbers of every text.")
]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A run, or a folder with a saved Hugging Face model.")
]
Split = Annotated[str, typer.Option(help="train, dev or test; 'all' takes every row.")]
Seed = Annotated[int, typer.Option(help="Seed of all random draws.", **SEEDS)]


class PlotGroup(TyperGroup):
    """Answers a misspelt plot with one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise InputError(f"unknown plot {args[0]!r}: {did_you_mean(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


plots = typer.Typer(cls=PlotGroup, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(
    plots,
    name="plot",
    rich_help_panel=BUILD_AND_TRAIN,
    help=(
        "Draw how a mechanism uses distance, what a run has learned and when, how far its weights are "
        "determined, and what depth does to them."
    ),
)


@plots.command("distance-aware")
def distance_aware(
    out: Annotated[Path, typer.Option("--out", help="The file to write: .png, .svg or .pdf.")],
    curves: Annotated[
        str, typer.Option(metavar="A,B,…", help="v of the curves f(R), at most 9.")
    ] = "-2,-1,0,1,2",
    w: Annotated[str, typer.Option(metavar="A,B,…", help="w of the matrices, at most 4.")] = "1,-1",
    v: Annotated[str, typer.Option(metavar="A,B,…", help="v of the matrices, at most 4.")] = "-1,1",
    tokens: Annotated[int, typer.Option(help="Tokens of a matrix.", min=2, max=200)] = 12,
    overwrite: Overwrite = False,
) -> None:
    """Draw how distance-aware attention sees distance: its coefficient over R, and between tokens.

    Example: [bold]glasshead plot distance-aware --out distances.svg[/]
    """
    from glasshead.attention import distance_coefficients
    from glasshead.files import check_writable

    file_kind(out)
    check_writable(out, overwrite=overwrite)
    coefficients = distance_coefficients(
        split_numbers("--curves", curves, 9), split_numbers("--w", w, 4), split_numbers("--v", v, 4), tokens
    )
    write_plot(out, "distance-aware", coefficients, overwrite)


@plots.command("positions")
def positions(run: RunFolder, out: FileOut = None, overwrite: Overwrite = False) -> None:
    """Draw the w and v that the heads of a run have learned; for repeats, their mean over seeds.

    Example: [bold]glasshead plot positions runs/trec-da --out positions.svg[/]
    """
    from glasshead.files import check_writable
    from glasshead.opening import load_run_model, run_folders
    from glasshead.trace import read_learned_positions

    out = default_out(run, "positions.svg") if out is None else out
    file_kind(out)
    check_writable(out, overwrite=overwrite, reads=[run])
    layers = read_learned_positions([load_run_model(folder) for folder in run_folders(run)])
    write_plot(out, "positions", layers, overwrite)


@plots.command("heads")
def heads(
    run: RunFolder,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text, quoted, or an image file.")],
    pair: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The second text, for a model of pairs.")
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(
            help=("The layer, counted from 0 in the order of calls (default: the first distance-aware one)."),
            min=0,
        ),
    ] = None,
    heads: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Head numbers (default: those of the two lowest and highest w)."),
    ] = None,
    out: FileOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the attention of some heads to one text, or one image.

    Example: [bold]glasshead plot heads runs/trec-da "What is the capital of Peru ?"[/]
    """
    from glasshead.files import check_writable
    from glasshead.opening import load_run, open_subject
    from glasshead.trace import head_maps

    out = default_out(run, "heads.svg") if out is None else out
    file_kind(out)
    head_numbers = None if heads is None else parse_whole_numbers("--heads", heads, MAX_HEADS)
    check_writable(out, overwrite=overwrite, reads=[run])
    subject = open_subject(load_run(run))
    one = one_input(subject, text)
    maps = head_maps(subject.model, subject.tokenizer, one, pair, layer=layer, heads=head_numbers)
    write_plot(out, "heads", maps, overwrite)
    if maps.remark:
        print_line(maps.remark)


def write_plot(out: Path, name: str, values: Any, overwrite: bool, *options: Any) -> None:
    """Draw a plot of some values, as a page where the file's name asks for one, and say where it is."""
    from glasshead.report import PLOTS

    figure = PLOTS[name].draw(values, *options)
    assert figure is not None
    figure.save(out, overwrite=overwrite)
    print_line(f"Written to {out}")


def write_csv(
    table: Path | None, columns: Sequence[str], lines: Sequence[Sequence[float | str]], overwrite: bool
) -> None:
    """Write what was drawn as comma-separated values, if that is wanted."""
    from glasshead.files import write_text

    if table is not None:
        write_text(table, to_csv(columns, lines), overwrite=overwrite)
        print_line(f"Written to {table}")


def to_csv(columns: Sequence[str], lines: Iterable[Sequence[float | str]]) -> str:
    """Comma-separated values; whole numbers without a point."""
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        [value if isinstance(value, str) else f"{value:.6g}" for value in line] for line in lines
    )
    return table.getvalue()


PICTURE_KINDS = ("png", "svg", "pdf")
PAGE, JSON = "html", "json"
"""What some plots can be besides."""


def file_kind(out: Path, *more: str) -> str:
    """The format that a file's name asks for, one that all plots can have or one of ``more``.

    Raises:
        InputError: if it is none that can be drawn.
    """
    return format_from_suffix(out, *PICTURE_KINDS, *more)


def split_numbers(option: str, text: str, most: int) -> list[float]:
    """Numbers between commas.

    Raises:
        InputError: if they are none, not finite, or too many.
    """
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= most or not all(map(math.isfinite, values)):
        raise InputError(f"{option} takes 1 to {most} numbers separated by commas, not {text!r}")
    return list(dict.fromkeys(values))


def parse_whole_numbers(option: str, text: str, most: int) -> list[int]:
    """Whole numbers between commas, from 0 on.

    Raises:
        InputError: as `parse_rows`, and on fractions and numbers below 0.
    """
    values = split_numbers(option, text, most)
    if any(value < 0 or not value.is_integer() for value in values):
        raise InputError(f"{option} takes whole numbers from 0, not {text!r}")
    return [int(value) for value in values]
