"""Draw: plot distance-aware, positions, heads, ranks, logits, collapse, dynamics, ratios.

`plot_adversary_curve` adds plot adversary-curve, `plot_merges` plot merges, `plot_minima` plot minima,
`plot_transition` plot transition.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glasshead.cli.app import app
from glasshead.cli.console import print_line
from glasshead.cli.history_options import Step, TrainingData, load_history, split_followed_tokens
from glasshead.cli.options import SEEDS, Data, Overwrite, RunFolder, TextColumn, default_out
from glasshead.cli.plot_arguments import JSON, PAGE, file_kind, numbers, whole_numbers
from glasshead.cli.progress import progress_stages
from glasshead.cli.typed_inputs import one_input
from glasshead.errors import InputError
from glasshead.registry import did_you_mean

MAX_HEADS = 16
MAX_LENGTHS = 40
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
Layer = Annotated[int, typer.Option(help="In the order of the calls, from 0.", min=0)]
Head = Annotated[int, typer.Option(help="From 0.", min=0)]
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
    help="Draw what a mechanism does with distance, what a run has learned and when, how far its weights "
    "are determined, and what depth leaves of them.",
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
        numbers("--curves", curves, 9), numbers("--w", w, 4), numbers("--v", v, 4), tokens
    )
    write_plot(out, "distance-aware", coefficients, overwrite)


@plots.command("positions")
def positions(run: RunFolder, out: FileOut = None, overwrite: Overwrite = False) -> None:
    """Draw the w and v that the heads of a run have learned; of repeats, their mean over seeds.

    Example: [bold]glasshead plot positions runs/trec-da --out positions.svg[/]
    """
    import glasshead.recommend  # noqa: F401  (registers its models)
    from glasshead.files import check_writable
    from glasshead.opening import load_run_model, run_folders
    from glasshead.trace import learned_positions

    out = default_out(run, "positions.svg") if out is None else out
    file_kind(out)
    check_writable(out, overwrite=overwrite, reads=[run])
    layers = learned_positions([load_run_model(folder) for folder in run_folders(run)])
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
        typer.Option(help="In the order of the calls, from 0; else the first distance-aware.", min=0),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Head numbers; else the two lowest and highest w.")
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
    head_numbers = None if heads is None else whole_numbers("--heads", heads, MAX_HEADS)
    check_writable(out, overwrite=overwrite, reads=[run])
    subject = open_subject(load_run(run))
    one = one_input(subject, text)
    maps = head_maps(subject.model, subject.tokenizer, one, pair, layer=layer, heads=head_numbers)
    write_plot(out, "heads", maps, overwrite)
    if maps.remark:
        print_line(maps.remark)


@plots.command("ranks")
def ranks(
    model: ModelFolder,
    data: Data,
    lengths: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Tokens, at most 40 lengths; else up to 3 d_v.")
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 100,
    layer: Layer = 0,
    head: Head = 0,
    split: Split = "test",
    seed: Seed = 0,
    text_column: TextColumn = None,
    out: FileOut = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the rank of T = V D and the size of its left null space over the length of a text.

    Weights are determined by the output of their head where that size is 0.

    Example: [bold]glasshead plot ranks runs/mine my_reviews.csv --out ranks.svg[/]
    """
    from glasshead.identifiability import LengthSample, RowSelector, ranks_by_length, read_texts
    from glasshead.opening import open_model

    out, parsed_lengths = output_and_lengths(model, "ranks", out, table, lengths, overwrite)
    with progress_stages("ranks") as progress:
        ranks = ranks_by_length(
            *open_model(model),
            read_texts(data, split, text_column),
            LengthSample(parsed_lengths, texts, seed),
            RowSelector(layers=(layer,), heads=(head,)),
            progress,
        )
    write_plot(out, "ranks", ranks, overwrite)
    write_table(table, ranks.COLUMNS, ranks.lines, overwrite)


@plots.command("logits")
def logits(
    model: ModelFolder,
    data: Data,
    lengths: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Tokens, at most 40 lengths; else d_v + 2 to 2 d_v.")
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 10,
    draws: Annotated[int, typer.Option(help="Other weights that are drawn for each text.", min=1)] = 100,
    layer: Layer = 0,
    head: Head = 0,
    split: Split = "test",
    seed: Seed = 0,
    processes: Annotated[int | None, typer.Option(help="One for each core, unless given.", min=1)] = None,
    text_column: TextColumn = None,
    out: FileOut = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the least rank of logits that other weights with the same output need, beside d_k.

    Queries and keys of size d_k cannot make weights that need more.

    Example: [bold]glasshead plot logits runs/mine my_reviews.csv --texts 5 --out logits.svg[/]
    """
    from glasshead.identifiability import LengthSample, RowSelector, logit_ranks_by_length, read_texts
    from glasshead.opening import open_model

    out, parsed_lengths = output_and_lengths(model, "logits", out, table, lengths, overwrite)
    with progress_stages("least ranks") as progress:
        ranks = logit_ranks_by_length(
            *open_model(model),
            read_texts(data, split, text_column),
            LengthSample(parsed_lengths, texts, seed),
            RowSelector(layers=(layer,), heads=(head,)),
            draws=draws,
            processes=processes or os.cpu_count() or 1,
            progress=progress,
        )
    write_plot(out, "logits", ranks, overwrite)
    write_table(table, ranks.COLUMNS, ranks.lines, overwrite)


@plots.command("collapse")
def collapse(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="A run, or a saved model; none: random weights alone."),
    ] = None,
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="Texts that the model reads.")] = None,
    attention: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Mechanisms with random weights; else all activations."),
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts that the model reads.", min=1)] = 16,
    seeds: Annotated[int, typer.Option(help="Random models of the same configuration.", min=1)] = 5,
    split: Split = "test",
    seed: Seed = 0,
    text_column: TextColumn = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write: .png, .svg, .pdf or .json.", show_default=False),
    ] = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw how fast depth makes all tokens alike: attention alone, with skips, and the whole layer.

    Trained and random weights of a model; and of mechanisms with Gaussian weights, with the rank of log |A|.

    Example: [bold]glasshead plot collapse runs/mine my_reviews.csv --out collapse.svg[/]
    """
    from glasshead.attention import ACTIVATIONS
    from glasshead.files import check_writable, write_text
    from glasshead.identifiability import CollapseSample, rank_collapse, read_sample
    from glasshead.opening import open_model

    if (model is None) != (data is None):
        raise InputError("give a model and data that it reads, or neither")
    out = out or (Path("collapse.svg") if model is None else default_out(model, "collapse.svg"))
    file_kind(out, JSON)
    for path in (out, table):
        if path is not None:
            check_writable(path, overwrite=overwrite, reads=[] if model is None else [model])
    mechanisms = list(ACTIVATIONS) if attention is None else attention.split(",")
    sample = None
    if model is not None and data is not None:
        read = read_sample(data, split, texts, text_column=text_column, seed=seed)
        sample = CollapseSample(model.resolve().name, *open_model(model), *read)
    with progress_stages("depth") as progress:
        value = rank_collapse(sample, mechanisms, seeds=seeds, progress=progress)
    if out.suffix == f".{JSON}":
        write_text(out, value.to_json(), overwrite=overwrite)
        print_line(f"Written to {out}")
    else:
        write_plot(out, "collapse", value, overwrite)
    write_table(table, value.COLUMNS, value.lines, overwrite)
    for remark in value.remarks:
        print_line(remark)


@plots.command("dynamics")
def dynamics(
    run: RunFolder,
    data: TrainingData = None,
    what: Annotated[
        str,
        typer.Option(
            help="polarity, scores, weights, training, coupling, norms, products, boxes, product-rates, "
            "terms, ledger, tokens, scatter, contexts, or layers."
        ),
    ] = "scores",
    token: Annotated[
        list[str] | None,
        typer.Option(
            help="For ledger, tokens, scatter, contexts: a token, repeatable; else a ledger of every group."
        ),
    ] = None,
    step: Step = None,
    out: FileOrPageOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw how attention developed in a training that was recorded (train --watch dynamics).

    Example: [bold]glasshead plot dynamics runs/dyn --what ledger --token superb --out ledger.png[/]
    """
    from glasshead.dynamics import reads_context
    from glasshead.files import check_writable
    from glasshead.report import PLOTS, PlotOptions, plots_of, unique_tokens
    from glasshead.results import History

    plots_by_name = plots_of(History)
    if what not in plots_by_name:
        raise InputError(f"unknown plot {what!r}: {did_you_mean(what, plots_by_name)}")
    tokens, chosen_plot = unique_tokens(token or (), "--token"), PLOTS[what]
    if tokens and chosen_plot.tokens == "no":
        names = ", ".join(name for name, plot in plots_by_name.items() if plot.tokens != "no")
        raise InputError(f"--token is for {names}, not for {what}: leave it out")
    if chosen_plot.tokens == "required" and not tokens:
        raise InputError(f"--what {what} draws chosen tokens: name one by --token")
    if step is not None and not chosen_plot.at_step:
        names = " and ".join(name for name, plot in plots_by_name.items() if plot.at_step)
        raise InputError(f"--step is for {names}, not for {what}: leave it out")
    out = default_out(run, f"{what}.svg") if out is None else out
    file_kind(out, PAGE)
    check_writable(out, overwrite=overwrite, reads=[run])
    loaded = load_history(run, data, contexts=what == "contexts")
    loaded.history.nearest(step)  # before the work
    if what == "contexts" and reads_context(loaded.history) and not loaded.history.contexts:
        raise InputError(loaded.remarks[-1])
    followed, remarks = split_followed_tokens(run, loaded.history, tokens)
    if remarks:
        raise InputError(remarks[0])
    write_plot(out, what, loaded.history, overwrite, PlotOptions(tuple(followed), step))


@plots.command("ratios")
def ratios(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Runs trained with --watch dynamics, or their repeats, of several ratios."
        ),
    ],
    step: Step = None,
    out: FileOrPageOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw VᵀW of recorded trainings against the ratio of positive to negative texts.

    Example: [bold]glasshead plot ratios runs/half runs/even runs/double --out ratios.svg[/]
    """
    from glasshead.dynamics import coupling_by_ratio
    from glasshead.files import check_writable
    from glasshead.report import ratio_lines

    out = Path("ratios.svg") if out is None else out
    file_kind(out, PAGE)
    check_writable(out, overwrite=overwrite, reads=runs)
    coupling = coupling_by_ratio(runs, step)
    write_plot(out, "ratios", coupling, overwrite)
    for line in ratio_lines(coupling):
        print_line(line)


def output_and_lengths(
    model: Path, what: str, out: Path | None, table: Path | None, lengths: str | None, overwrite: bool
) -> tuple[Path, tuple[int, ...]]:
    """Where to write, and the lengths (none: the usual ones): whatever can be refused before the work
    begins."""
    from glasshead.files import check_writable

    out = default_out(model, f"{what}.svg") if out is None else out
    file_kind(out)
    for path in (out, table):
        if path is not None:
            check_writable(path, overwrite=overwrite, reads=[model])
    parsed_lengths = [] if lengths is None else whole_numbers("--lengths", lengths, MAX_LENGTHS)
    return out, tuple(sorted(parsed_lengths))


def write_plot(out: Path, name: str, values: Any, overwrite: bool, *options: Any) -> None:
    """Draw a plot of some values, as a page where the file's name asks for one, and say where it is."""
    from glasshead.report import PLOTS

    figure = PLOTS[name].draw(values, *options)
    assert figure is not None
    figure.save(out, overwrite=overwrite)
    print_line(f"Written to {out}")


def write_table(
    table: Path | None, columns: Sequence[str], lines: Sequence[Sequence[float | str]], overwrite: bool
) -> None:
    """Write what was drawn as comma-separated values, if that is wanted."""
    from glasshead.files import write_text
    from glasshead.identifiability import to_csv as as_table

    if table is not None:
        write_text(table, as_table(columns, lines), overwrite=overwrite)
        print_line(f"Written to {table}")
