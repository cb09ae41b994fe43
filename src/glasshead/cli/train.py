"""glasshead train: a classifier whose attention can be read."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshead.cli.app import BUILD_AND_TRAIN, app
from glasshead.cli.console import print_line
from glasshead.cli.options import (
    SEEDS,
    Classes,
    Data,
    Encoding,
    LabelColumn,
    Out,
    Overwrite,
    Separator,
    TextColumn,
)
from glasshead.cli.parsing import (
    parse_attention_option,
    parse_names,
    parse_numbers,
    parse_settings,
)
from glasshead.cli.run_training import TrainRequest, run_training
from glasshead.cli.train_language_model import is_language_model, language_request, run_language_training
from glasshead.errors import InputError

SOLVABLE = "positional-semantic"
"""Regression of vectors: there is no classifier, no text, and hence no run to explain."""
DYNAMICS_PRESET = "s4"
"""The preset to start from where a training is recorded: the flow of plain gradient descent has terms."""


@app.command(rich_help_panel=BUILD_AND_TRAIN)
def train(
    context: typer.Context,
    data: Data,
    out: Out,
    attention: Annotated[
        str | None,
        typer.Option(
            help="How scores become weights (glasshead list mechanisms), or a JSON spec; frozen:RUN "
            "uses the weights of a run, adversarial:RUN trains different ones with the same predictions."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help=(
                "A family (glasshead list models), a Hugging Face classifier to fine-tune, or the type of "
                "a language model (gpt2, llama, bert, …) to train from scratch."
            )
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            help="For a language model: causal (the next token) or masked (hidden tokens) (default: by "
            "its type)."
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help=(
                "word, or bpe (byte pairs, which cover every word); for a language model also a folder or "
                "a Hub id. Default: word, or bpe for a language model."
            )
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="Settings to start from (glasshead list presets; default: those of the model)."),
    ] = None,
    task: Annotated[str, typer.Option(help="classification, or regression of ratings.")] = "classification",
    head_combination: Annotated[
        str | None, typer.Option(help="concat, or sum: one output projection for all heads.")
    ] = None,
    d_k: Annotated[int | None, typer.Option("--d-k", help="Size of a query and a key.")] = None,
    d_v: Annotated[int | None, typer.Option("--d-v", help="Size of a value.")] = None,
    encoder: Annotated[str | None, typer.Option(help="For the pooled model: none, affine or lstm.")] = None,
    score: Annotated[
        str | None, typer.Option(help="For the pooled model: context, query-key, bilinear or additive.")
    ] = None,
    scale: Annotated[
        float | None, typer.Option(help="For the pooled model: λ, by which scores are divided.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Another setting of the model, such as num_hidden_layers=2."
        ),
    ] = None,
    penalty: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=WEIGHT", help="A term added to the loss (glasshead list penalties)."),
    ] = None,
    adversary_weight: Annotated[
        float | None,
        typer.Option(
            help="For adversarial:RUN: λ, the weight of the divergence from its maps (default: 0.001)."
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over train; the best dev epoch is kept.")] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop when dev has not improved for this many epochs, or after --epochs."),
    ] = None,
    batch_size: Annotated[int | None, typer.Option(help="Texts per training step.")] = None,
    optimizer: Annotated[
        str | None, typer.Option(help="adam, adamw, adagrad, adadelta or sgd (default: the preset's).")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The learning rate, constant during training.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Maximum number of tokens of a text (for a language model: of a block)."),
    ] = None,
    vocab_size: Annotated[
        int | None,
        typer.Option("--vocabulary-size", help="Size of the vocabulary: the most frequent tokens are kept."),
    ] = None,
    min_freq: Annotated[
        int | None,
        typer.Option("--minimum-frequency", help="Rarer words become [UNK], rarer byte pairs stay apart."),
    ] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Word vectors in GloVe text format (.txt, .gz).")
    ] = None,
    augment: Annotated[
        str | None,
        typer.Option(help="For images: shift, or shift+flip (not for digits) (default: the preset's)."),
    ] = None,
    compile: Annotated[bool, typer.Option("--compile", help="Compile the model with torch.compile.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of initialisation, batches and dropout.", **SEEDS)] = 0,
    repeats: Annotated[
        int | None, typer.Option(help="Train this many times, with seeds from --seed on; prints mean ± std.")
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    encoding: Encoding = None,
    separator: Separator = None,
    classes: Classes = None,
    labels: Annotated[
        int | None,
        typer.Option(
            help="Merge classes whose names end in the same word into this many. (In glasshead explain and "
            "audit, --labels renames the model's classes.)"
        ),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Use this many random rows of each split.")] = None,
    split_seed: Annotated[int, typer.Option(help="Seed of splits that Glasshead makes.")] = 0,
    dev_fraction: Annotated[
        float | None,
        typer.Option(help="Share of train that becomes dev if there is none (default: the preset's)."),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of a named data set.")
    ] = None,
    watch: Annotated[
        str | None, typer.Option(help="dynamics: record how attention develops (see glasshead dynamics).")
    ] = None,
    watch_every: Annotated[
        int | None,
        typer.Option(help="Steps between two snapshots (default: 60 snapshots, at least 100 steps apart)."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an unfinished training.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Train a classifier, or a language model, whose attention can be read.

    Example: [bold]glasshead train my_reviews.csv --attention tanhmax --out runs/mine[/]
    """
    if data == SOLVABLE and not Path(data).exists():
        raise InputError(f"{data} is not a data set for classifiers: glasshead plot transition trains on it")
    if is_language_model(model, objective):
        run_language_training(language_request(context))
        return
    from glasshead.data import DATASETS, IMAGE_SETS
    from glasshead.files import check_writable
    from glasshead.training import preset_config

    settings: dict[str, Any] = {
        "attention": parse_attention_option(attention),
        "head_combination": head_combination,
        "head_dim": d_k,
        "value_dim": d_v,
        "encoder": encoder,
        "score": score,
        "temperature": scale,
        "epochs": epochs,
        "patience": patience,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "optimizer": optimizer,
        "max_length": max_length,
        "tokenizer": tokenizer,
        "vocab_size": vocab_size,
        "min_freq": min_freq,
        "word_vectors": vectors,
        "augment": augment,
        "compile": compile or None,
        "dev_fraction": dev_fraction,
        "adversary_weight": adversary_weight,
        "penalties": parse_numbers(penalty or []) or None,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if watch is not None and preset is None and model is None:
        preset = DYNAMICS_PRESET
    config = preset_config(preset, model).with_settings(settings | parse_settings(set_ or []))
    inputs = [
        None if data in DATASETS or data in IMAGE_SETS else data,
        config.model if config.pretrained else None,
        config.word_vectors,
        config.other_run,
    ]
    reads = [Path(path) for path in inputs if path is not None]
    check_writable(out, overwrite=overwrite, resume=resume, reads=reads)
    load_options = {
        "text_column": text_column,
        "label_column": label_column,
        "classes": parse_names(classes),
        "labels": labels,
        "task": task,
        "max_examples": rows,
        "split_seed": split_seed,
        "dev_fraction": config.dev_fraction,
        "generator": parse_numbers(option or []),
        "encoding": encoding,
        "separator": separator,
    }
    note = f"Settings: the preset {preset}, plain gradient descent (--preset for others)"
    request = TrainRequest(
        data=data,
        out=out,
        config=config,
        load_options=load_options,
        seed=seed,
        repeats=repeats,
        watch=watch,
        watch_every=watch_every,
        resume=resume,
        overwrite=overwrite,
        note=note if watch is not None and preset == DYNAMICS_PRESET else None,
    )
    run_training(request)
    print_line(f"Run in {out}" if repeats is None else f"{repeats} runs in {out}")
    print_line("Next: " + shlex.join(["glasshead", *next_command(request)]))


def next_command(request: TrainRequest) -> list[str]:
    """What to do with what was trained."""
    out = request.out
    if request.watch is not None:
        run = out if request.repeats is None else out / f"seed-{request.seed}"
        return ["dynamics", str(run), "--out", f"{out}-dynamics.html"]
    if request.repeats is not None:
        return ["compare", str(out), "OTHER", "--out", "compare.html"]
    return ["audit", str(out), request.data, "--out", f"{out}-audit"]
