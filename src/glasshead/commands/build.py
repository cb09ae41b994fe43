"""Make a run: demo, train."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from glasshead.commands.app import app
from glasshead.commands.options import SEEDS, Classes, Data, LabelColumn, Out, Overwrite, TextColumn
from glasshead.console import complain, console, say
from glasshead.errors import InputError
from glasshead.steps import audit_run, load_data, pairs, split_names, train_run, write_audit


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
