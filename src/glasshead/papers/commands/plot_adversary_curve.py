"""glasshead plot adversary-curve: how far attention goes from that of a run, and predictions with it."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    JSON,
    PAGE,
    Data,
    Overwrite,
    RunFolder,
    Seed,
    Split,
    TextColumn,
    default_out,
    file_kind,
    plots,
    print_line,
    write_plot,
)


@plots.command("adversary-curve")
def adversary_curve(
    run: RunFolder,
    data: Data,
    adversaries: Annotated[
        list[Path],
        typer.Argument(metavar="ADVERSARY…", help="Runs trained with --attention adversarial:RUN."),
    ],
    seeds: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help=("Runs of the recipe of RUN with other seeds, as a yardstick; may be repeated."),
        ),
    ] = None,
    split: Split = "test",
    seed: Seed = 0,
    text_column: TextColumn = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The file to write: .png, .svg, .pdf, .html or .json.", show_default=False
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw how far the attention and the predictions of adversaries are from those of a run.

    Example: [bold]glasshead plot adversary-curve runs/lstm my_reviews.csv runs/adversary --out curve.svg[/]
    """
    from glasshead.files import check_writable, write_text
    from glasshead.papers.lengths import read_job_texts
    from glasshead.papers.other_run import adversaries_by_weight
    from glasshead.papers.other_run import adversary_curve as curve_of
    from glasshead.report import number

    out = default_out(run, "adversary-curve.svg") if out is None else out
    kind = file_kind(out, PAGE, JSON)
    rulers = seeds or []
    check_writable(out, overwrite=overwrite, reads=[run, *adversaries, *rulers])
    models = adversaries_by_weight(adversaries, run)
    curve = curve_of(models, run, read_job_texts(data, split, text_column), seeds=rulers, seed=seed)
    for point in curve:
        for what, finding in (("maps", point.maps), ("predictions", point.predictions)):
            estimate = number(finding.estimate)
            print_line(f"λ = {point.facts['weight']:g}: {what} {estimate}, {finding.verdict}")
    if kind == JSON:
        write_text(out, curve.to_json(), overwrite=overwrite)
        print_line(f"Written to {out}")
    else:
        write_plot(out, "adversary-curve", curve, overwrite)
