"""Draw: plot distance-aware, plot positions, plot heads."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glasshead.commands.app import app
from glasshead.commands.options import Overwrite, RunFolder
from glasshead.console import say
from glasshead.errors import InputError
from glasshead.registry import nearest

MOST_HEADS = 16
PictureOut = Annotated[
    Path | None, typer.Option("--out", help="The file to write: .png, .svg or .pdf.", show_default=False)
]


class Pictures(TyperGroup):
    """Answers a misspelt picture with one line."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise InputError(f"unknown picture {args[0]!r}: {nearest(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


plots = typer.Typer(cls=Pictures, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(
    plots, name="plot", help="Draw what a mechanism does with distance, and what a run has learned."
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
    from glasshead.folders import claim
    from glasshead.pictures import distance_aware as draw
    from glasshead.pictures import file_kind, numbers

    kind = file_kind(out)
    claim(out, overwrite=overwrite)
    given = numbers("--curves", curves, 9), numbers("--w", w, 4), numbers("--v", v, 4)
    written(out, draw(kind, *given, tokens), overwrite)


@plots.command("positions")
def positions(run: RunFolder, out: PictureOut = None, overwrite: Overwrite = False) -> None:
    """Draw the w and v that the heads of a run have learned; of repeats, their mean over seeds.

    Example: [bold]glasshead plot positions runs/trec-da --out positions.svg[/]
    """
    from glasshead.folders import claim
    from glasshead.pictures import file_kind, positions_picture

    out = default_out(run, "positions") if out is None else out
    kind = file_kind(out)
    claim(out, overwrite=overwrite, reads=[run])
    written(out, positions_picture(run, kind), overwrite)


@plots.command("heads")
def heads(
    run: RunFolder,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text, quoted.")],
    pair: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The second text, for a model of pairs.")
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(help="In the order of the calls, from 0; else the first distance-aware.", min=0),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Head numbers; else the two lowest and highest w.")
    ] = None,
    out: PictureOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the attention of some heads to one text.

    Example: [bold]glasshead plot heads runs/trec-da "What is the capital of Peru ?"[/]
    """
    from glasshead.folders import claim
    from glasshead.pictures import file_kind, heads_picture, whole_numbers

    out = default_out(run, "heads") if out is None else out
    kind = file_kind(out)
    chosen = None if heads is None else whole_numbers("--heads", heads, MOST_HEADS)
    claim(out, overwrite=overwrite, reads=[run])
    picture, note = heads_picture(run, kind, text, pair=pair, layer=layer, heads=chosen)
    written(out, picture, overwrite)
    if note:
        say(note)


def default_out(run: Path, what: str) -> Path:
    """A name in the current folder."""
    return Path(f"{run.resolve().name}-{what}.svg")


def written(out: Path, picture: bytes, overwrite: bool) -> None:
    """Write a picture and say so."""
    from glasshead.folders import write_bytes

    write_bytes(out, picture, overwrite=overwrite)
    say(f"Written to {out}")
