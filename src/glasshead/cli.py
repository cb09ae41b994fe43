"""The command line: parse, call, print. Nothing heavy is imported until a command runs."""

import io
import os
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from glasshead.console import complain, console, say
from glasshead.errors import InputError
from glasshead.steps import (
    audit_run,
    barred_finding,
    check_bars,
    known_audit,
    load_data,
    pairs,
    split_names,
    train_run,
    write_audit,
)

# Threads that spin while they wait make small models ten times slower as soon as a core is shared.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


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
        except OSError as error:  # a full disk, a folder that went away: nobody's mistake in the command
            if ctx.params.get("debug"):
                raise
            complain(" ".join(str(error).split()))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(130) from None


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
    epochs: Annotated[int | None, typer.Option(help="Passes over train; the best dev epoch is kept.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Texts of one step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Constant over the training.")] = None,
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
    say(f"Run in {out}")
    say("Next: " + shlex.join(["glasshead", "audit", str(out), data, "--out", f"{out}-audit"]))


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
    for name in bars:
        known_audit(name.partition(".")[0])
    with whole(out, overwrite=overwrite, reads=[run, Path(data)]) as work:
        given = {"text_column": text_column, "label_column": label_column, "classes": split_names(classes)}
        card = audit_run(run, data, split, given, tests=split_names(tests), limit=limit, seed=seed)
        barred = [(barred_finding(card, name), bar) for name, bar in bars.items()]
        write_audit(card, work)
    console.print(card_table([card]))
    say(f"Report: {out / 'report.html'}")
    if not check_bars(barred):
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
    from glasshead.report import attribution_page, attribution_table, coloured, number
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
            probability = number(attribution.prediction)
            say(f"predicted {attribution.predicted}, p({attribution.target}) = {probability}, {method}")
            unknown = [
                token
                for token, each in zip(attribution.tokens, attribution.ids, strict=True)
                if each == loaded.tokenizer.unk_token_id
            ]
            if unknown:
                say(f"unknown to the model, and alike for it: {', '.join(dict.fromkeys(unknown))}")
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
        say(f"Written to {out}")


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
    say(f"Report: {out}")


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
    if out.exists() and not (out / "softmax-audit").is_dir():
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
    say(f"Report: {marker}")


def main() -> None:
    """Entry point of the ``glasshead`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    app()
