"""glasshead plot transition: positional and semantic attention of a solvable model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli import PAGE, Overwrite, file_kind, plots, print_line, split_numbers, write_plot
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.papers.results import TransitionPoint


@plots.command("transition")
def transition(
    alphas: Annotated[
        str, typer.Option(metavar="A,B,…", help="Texts over dimensions, α = n / d; at most 50.")
    ] = "0.4,0.8,1.2,1.6,2",
    omega: Annotated[float, typer.Option(help="ω: how much of the target is positional, from 0 to 1.")] = 0.3,
    sigma: Annotated[float, typer.Option(help="Standard deviation of tokens.")] = 0.5,
    weight_decay: Annotated[float, typer.Option(help="λ of the trained queries.")] = 0.01,
    dimensions: Annotated[int, typer.Option("--d", help="Dimensions of a token.", min=2, max=5000)] = 500,
    seeds: Annotated[int, typer.Option(help="Trainings from each start.", min=2, max=1000)] = 5,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help=("The file to write: .png, .svg, .pdf or .html; a .json is written next to it.")
        ),
    ] = Path("transition.svg"),
    overwrite: Overwrite = False,
) -> None:
    """Draw where attention turns from positional to semantic: theory and trainings of a solvable model.

    Finished points are kept in the .json: kill the command and repeat it.

    Example: [bold]glasshead plot transition --alphas 0.4,0.8,1.2,1.6,2 --out transition.svg[/]
    """
    from dataclasses import asdict

    from glasshead.files import check_writable, write_text
    from glasshead.papers.report import transition_lines
    from glasshead.papers.results import Transition
    from glasshead.papers.solvable import TransitionSettings
    from glasshead.papers.solvable import solve_transition as run

    chosen = split_numbers("--alphas", alphas, 50)
    file_kind(out, PAGE)
    check_writable(out, overwrite=overwrite)
    settings = TransitionSettings(omega, sigma, weight_decay)
    shared = asdict(settings) | {"d": dimensions, "seeds": seeds}
    table = out.with_suffix(".json")
    known = [point for point in read_finished_points(table, shared, overwrite) if point.alpha in chosen]

    def keep(points: "list[TransitionPoint]") -> None:
        write_text(table, Transition(shared, points, None, float("nan")).to_json(), overwrite=True)

    result = run(chosen, settings, d=dimensions, seeds=seeds, known=known, on_point=keep)
    for line in transition_lines(result):
        print_line(line)
    write_text(table, result.to_json(), overwrite=True)
    print_line(f"Written to {table}")
    write_plot(out, "transition", result, overwrite)


def read_finished_points(table: Path, shared: dict[str, Any], overwrite: bool) -> "list[TransitionPoint]":
    """The points of an earlier call.

    Raises:
        InputError: if the file holds something else, or points of other settings.
    """
    from glasshead.papers.results import TransitionPoint

    if not table.exists() or overwrite:
        return []
    try:
        values = json.loads(table.read_text(encoding="utf-8"))
        before, points = values["settings"], [TransitionPoint(**point) for point in values["points"]]
    except (ValueError, TypeError, KeyError):
        raise InputError(f"{table} has no points of a transition: use another --out") from None
    if before != shared:
        raise InputError(f"{table} has points of other settings: use another --out, or --overwrite")
    return points
