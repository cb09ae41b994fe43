"""The command line: parse, call, print. Nothing heavy is imported until a command runs."""

import io
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import DatasetDict

    from glasshead.results import AuditCard

# Threads that spin while they wait make small models ten times slower as soon as a core is shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

console = Console()
errors = Console(stderr=True)


class Commands(TyperGroup):
    """Turns what a person did wrong into one line and exit code 2, and Ctrl-C into 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            if ctx.params.get("debug"):
                raise
            complain(" ".join(str(error).split()))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(130) from None


def complain(message: str) -> None:
    """One line on standard error, whatever is in it."""
    errors.print(Text("error: ", style="bold red") + Text(message), soft_wrap=True)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    if wanted:
        from glasshead import __version__

        console.print(f"glasshead {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def start(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Attention you can see through: train, explain, audit, compare.

    Example: [bold]glasshead demo[/]
    """


class Format(StrEnum):
    text = "text"
    json = "json"
    html = "html"


SEEDS: dict[str, Any] = {"min": 0, "max": 2**32 - 1}
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A folder with train/dev/test files, one csv, tsv, jsonl or parquet file, a Hub name, or a "
        "named set (glasshead list datasets).",
    ),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead train.")]
Out = Annotated[Path, typer.Option("--out", help="Where to write; appears whole or not at all.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]
TextColumn = Annotated[str | None, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column that holds the class.")]
Classes = Annotated[str | None, typer.Option(metavar="A,B,…", help="Keep only these classes, in this order.")]


@app.command()
def train(
    data: Data,
    out: Out,
    attention: Annotated[
        str | None, typer.Option(help="How scores become weights (glasshead list activations).")
    ] = None,
    preset: Annotated[str, typer.Option(help="Settings to start from: s0-paper, s0-code, s4.")] = "s0-paper",
    seed: Annotated[int, typer.Option(help="Seed of initialisation, batches and dropout.", **SEEDS)] = 0,
    model: Annotated[str | None, typer.Option(help="Model family (glasshead list models).")] = None,
    encoder: Annotated[str | None, typer.Option(help="none, affine or lstm.")] = None,
    score: Annotated[str | None, typer.Option(help="context, query-key or additive.")] = None,
    scale: Annotated[float | None, typer.Option(help="λ, by which scores are divided.")] = None,
    epochs: Annotated[int | None, typer.Option()] = None,
    batch_size: Annotated[int | None, typer.Option()] = None,
    learning_rate: Annotated[float | None, typer.Option()] = None,
    max_length: Annotated[int | None, typer.Option(help="Tokens of a text that are read.")] = None,
    vocabulary_size: Annotated[int | None, typer.Option(help="Most frequent tokens that are kept.")] = None,
    minimum_frequency: Annotated[int | None, typer.Option(help="Rarer tokens become [UNK].")] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors in GloVe text format (.txt, .gz).")
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    split_seed: Annotated[int, typer.Option(help="Seed of the splits that the data lack.")] = 0,
    dev_fraction: Annotated[
        float, typer.Option(help="Share of train that becomes dev if there is none.")
    ] = 0.1,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of a named data set.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted training.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Train a classifier whose attention can be read.

    Example: [bold]glasshead train my_reviews.csv --attention tanhmax --out runs/mine[/]
    """
    from glasshead.data import DATASETS
    from glasshead.folders import claim, partial
    from glasshead.training import PRESETS

    recipe = PRESETS[preset].with_changes(
        activation=attention,
        model=model,
        encoder=encoder,
        score=score,
        scale=scale,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        max_length=max_length,
        vocabulary_size=vocabulary_size,
        minimum_frequency=minimum_frequency,
        vectors=vectors,
    )
    claim(out, overwrite=overwrite, reads=[] if data in DATASETS else [Path(data)])
    loaded, source = load_data(
        data,
        text_column=text_column,
        label_column=label_column,
        classes=split_names(classes),
        split_seed=split_seed,
        dev_fraction=dev_fraction,
        generator=pairs(option or []),
    )
    try:
        train_run(loaded, recipe, out, seed=seed, source=source, resume=resume, overwrite=overwrite)
    except KeyboardInterrupt:
        complain(
            "interrupted; the finished epochs are kept: repeat the command with --resume"
            if partial(out).exists()
            else "interrupted before the first epoch ended; nothing was written"
        )
        raise typer.Exit(130) from None
    console.print(f"Next: glasshead audit {out} {data} --out {out}-audit", highlight=False, markup=False)


def split_names(names: str | None) -> tuple[str, ...] | None:
    """A,B → (A, B)."""
    if names is None:
        return None
    given = tuple(name.strip() for name in names.split(",") if name.strip())
    if not given:
        raise InputError(f"{names!r} names nothing: give A,B,…")
    return given


def pairs(options: list[str]) -> dict[str, float]:
    """NAME=VALUE, … → numbers by name."""
    result: dict[str, float] = {}
    for option in options:
        name, equals, value = option.partition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not math.isfinite(number):
            raise InputError(f"{option!r} is not NAME=NUMBER")
        result[name] = int(number) if number.is_integer() else number
    return result


def load_data(data: str, **options: Any) -> "tuple[DatasetDict, dict[str, Any]]":
    """The data, and what a run records about where they came from."""
    from dataclasses import asdict

    from glasshead.data import LoadOptions, load

    chosen = LoadOptions(**options)
    return load(data, chosen), {"source": data, "options": asdict(chosen)}


def train_run(data: "DatasetDict", recipe: Any, out: Path, **options: Any) -> None:
    """Train with a progress bar, and print what came out."""
    import json

    from glasshead.training import train as run_training
    from glasshead.training.progress import ProgressBar

    bar = ProgressBar(f"{out.name} ({recipe.activation})")
    try:
        run_training(data, recipe, out, callbacks=[bar], **options)
    finally:
        bar.stop()
    metrics = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    for split in ("dev", "test"):
        if split in metrics:
            numbers = metrics[split]
            console.print(
                f"{split:>5}  accuracy {numbers['accuracy']:.3f}  macro-F1 {numbers['macro_f1']:.3f}",
                highlight=False,
            )
    console.print(f"Run in {out}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def audit(
    run: RunFolder,
    data: Data,
    out: Out,
    split: Annotated[str, typer.Option(help="train, dev or test; 'all' takes every row.")] = "test",
    tests: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Audits to run (glasshead list audits); all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Audit a random part of so many texts.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws, bootstrap and --limit.", **SEEDS)] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Exit with 1 if the lower end of this finding's interval is below."
        ),
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    overwrite: Overwrite = False,
) -> None:
    """Ask whether the attention of a run deserves to be called an explanation.

    Example: [bold]glasshead audit runs/mine my_reviews.csv --out audits/mine --fail-under
    agreement.contribution.gradient=0.3[/]
    """
    from glasshead.folders import whole
    from glasshead.report import card_table

    bars = pairs(fail_under or [])
    with whole(out, overwrite=overwrite, reads=[run, Path(data)]) as work:
        given = {"text_column": text_column, "label_column": label_column, "classes": split_names(classes)}
        card = audit_run(run, data, split, given, tests=split_names(tests), limit=limit, seed=seed)
        write_audit(card, work)
    console.print(card_table([card]))
    console.print(f"Report: {out / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    check_bars(card, bars)


def audit_run(folder: Path, data: str, split: str, given: dict[str, Any], **options: Any) -> "AuditCard":
    """Load a run and the data as the run read them, and audit with a progress bar."""
    with stages(f"auditing {folder.name}") as progress:
        progress("loading")
        from datasets import concatenate_datasets

        from glasshead.audit import audit as run_audits
        from glasshead.registry import nearest
        from glasshead.training import load_run

        loaded_run = load_run(folder)
        trained_on = loaded_run.record["data"]
        changed = {key: value for key, value in given.items() if value is not None}
        choices = trained_on.get("options", {}) | changed
        if data != trained_on.get("source"):
            choices.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
        loaded, source = load_data(data, **choices)
        if split == "all":
            part = concatenate_datasets(list(loaded.values()))
        elif split in loaded:
            part = loaded[split]
        else:
            raise InputError(f"{data} has no split {split!r}: {nearest(split, [*loaded, 'all'])}")
        facts = {"data": data, "split": split, "data_options": source["options"]}
        return run_audits(loaded_run, part, facts=facts, progress=progress, **options)


@contextmanager
def stages(title: str) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done and for how long."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task(title)
        yield lambda stage: progress.update(task, description=f"{title}: {stage}")


def write_audit(card: "AuditCard", folder: Path) -> None:
    """The values and their report."""
    from glasshead.report import render

    card.save(folder)
    (folder / "report.html").write_text(render([card]), encoding="utf-8")


def check_bars(card: "AuditCard", bars: dict[str, float]) -> None:
    """Exit with 1 if an interval reaches below its bar.

    Raises:
        InputError: on a name that no finding has.
    """
    from glasshead.registry import nearest

    failed = False
    for name, bar in bars.items():
        finding = card.finding(name) or card.finding(f"{name}.all")
        if finding is None:
            known = [each.name.removesuffix(".all") for each in card.findings]
            raise InputError(f"no finding is called {name!r}: {nearest(name, known)}")
        low = None if finding.interval is None else finding.interval[0]
        if low is None or low < bar:
            failed = True
            complain(
                f"{name}: the interval starts at {'nothing' if low is None else f'{low:.3f}'}, below {bar}"
            )
    if failed:
        raise typer.Exit(1)


@app.command()
def explain(
    run: RunFolder,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT…", help="One or more texts, quoted.")],
    method: Annotated[str, typer.Option(help="How (glasshead list explainers).")] = "attention",
    target: Annotated[
        str | None, typer.Option(help="The class to explain; else class 1 of two, or the predicted one.")
    ] = None,
    of: Annotated[
        str, typer.Option(help="What is explained: probability, logit, log-odds or margin.")
    ] = "probability",
    format: Annotated[Format, typer.Option(help="text, json or html.")] = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="Write json or html to a file.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Read one prediction: which words mattered, and for which side.

    Example: [bold]glasshead explain runs/mine "a warm, funny film" --method gradient[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.explain import EXPLAINERS, by_word
    from glasshead.folders import write_text
    from glasshead.report import attribution_page, attribution_table, coloured
    from glasshead.training import load_run

    if any("\udc80" <= character <= "\udcff" for text in texts for character in text):
        raise InputError("the text is not UTF-8: set the terminal to UTF-8")
    explainer = EXPLAINERS[method]
    loaded = load_run(run)
    attributions = [
        by_word(each) for each in explainer(loaded.model, loaded.tokenizer, texts, target=target, of=of)
    ]
    for attribution in attributions:
        if not attribution.tokens:
            raise InputError("the text is empty: there is nothing to explain")
        if all(token == loaded.tokenizer.unk_token_id for token in attribution.ids):
            raise InputError(f"the model knows no word of {attribution.text!r}: there is nothing to explain")
    if format is Format.text:
        if out is not None:
            raise InputError("--out needs --format json or html")
        for attribution in attributions:
            console.print(coloured(attribution))
            answer = (
                f"predicted {attribution.predicted}, p({attribution.target}) = {attribution.prediction:.3f}"
            )
            console.print(answer, highlight=False, markup=False)
            console.print(attribution_table(attribution))
        return
    if format is Format.json:
        page = json.dumps([asdict(each) for each in attributions], ensure_ascii=False, indent=1) + "\n"
    else:
        page = attribution_page(attributions)
    if out is None:
        typer.echo(page, nl=False)
    else:
        write_text(out, page, overwrite=overwrite)
        console.print(f"Written to {out}", highlight=False, markup=False, soft_wrap=True)


@app.command()
def compare(
    audits: Annotated[list[Path], typer.Argument(metavar="AUDIT…", help="Two or more audit folders.")],
    out: Annotated[Path, typer.Option("--out", help="The html file to write.")] = Path("compare.html"),
    overwrite: Overwrite = False,
) -> None:
    """Lay two or more audits side by side.

    Example: [bold]glasshead compare audits/softmax audits/tanhmax --out compare.html[/]
    """
    from glasshead.folders import claim, write_text
    from glasshead.report import card_table, render
    from glasshead.results import AuditCard

    if len(audits) < 2:
        raise InputError("give two or more audit folders to compare")
    claim(out, overwrite=overwrite, reads=audits)
    cards = [AuditCard.load(folder) for folder in audits]
    write_text(out, render(cards), overwrite=overwrite)
    console.print(card_table(cards))
    console.print(f"Report: {out}", highlight=False, markup=False, soft_wrap=True)


@app.command("list")
def list_entries(
    kind: Annotated[str, typer.Argument(help="activations, explainers, audits, datasets or models.")],
) -> None:
    """Show what there is to choose from.

    Example: [bold]glasshead list activations[/]
    """
    from rich.table import Table

    from glasshead.catalogue import catalogue

    columns, rows = catalogue(kind)
    table = Table(*columns, title=kind, title_style="bold", title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


@app.command()
def demo(
    out: Out = Path("glasshead-demo"),
    seed: Annotated[int, typer.Option(**SEEDS)] = 0,
) -> None:
    """Train and audit a softmax and a TanhMax classifier on made-up reviews, and compare them.

    Example: [bold]glasshead demo --out my-demo[/]
    """
    from glasshead.folders import whole
    from glasshead.report import card_table, render
    from glasshead.training import PRESETS

    marker = out / "report.html"
    if out.exists() and not marker.is_file():
        raise InputError(f"{out} exists and is no demo: choose another --out")
    with whole(out, overwrite=True) as work:
        loaded, source = load_data("synthetic")
        cards = []
        for activation in ("softmax", "tanhmax"):
            run = work / activation
            recipe = PRESETS["s0-paper"].with_changes(activation=activation)
            train_run(loaded, recipe, run, seed=seed, source=source)
            card = audit_run(run, "synthetic", "test", {}, seed=seed)
            card.facts["run"] = str(out / activation)
            folder = work / f"{activation}-audit"
            folder.mkdir()
            write_audit(card, folder)
            cards.append(card)
        (work / "report.html").write_text(render(cards), encoding="utf-8")
    console.print(card_table(cards))
    console.print(f"Report: {marker}", highlight=False, markup=False, soft_wrap=True)


def main() -> None:
    """Entry point of the ``glasshead`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    app()
