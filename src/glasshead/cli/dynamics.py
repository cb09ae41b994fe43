"""How attention came about: dynamics."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import app
from glasshead.cli.console import console, print_line
from glasshead.cli.options import Overwrite, RunFolder, default_out
from glasshead.cli.workflows import load_data, parse_names, planted_groups, progress_stages
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.results import Finding, History
    from glasshead.training import Run, TensorDataset

FEW_LOOKS, GOOD_LOOKS = 5, 40
"""With fewer looks a curve is hardly one; so many are enough for a short training."""
LITTLE = 0.95
"""A model that keeps a larger part of its first loss has learned next to nothing."""
CLOSER = 10
"""How much closer looks are advised where rates change faster than they follow."""
DataAgain = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help="Of an LSTM, or a run that was not watched: the data of its training, if they are not found.",
        show_default=False,
    ),
]
Tokens = Annotated[str | None, typer.Option(metavar="A,B,…", help="Tokens to tell of one by one, at most 8.")]
PageOut = Annotated[
    Path | None,
    typer.Option("--out", help="The html file to write.", show_default="RUN-dynamics.html"),
]


def not_before_the_start(step: int | None) -> int | None:
    """The same; raise InputError for a step below 0, before any work."""
    if step is not None and step < 0:
        raise InputError(f"steps count from 0: there is no step {step:,}")
    return step


Step = Annotated[
    int | None,
    typer.Option(
        help="What stands at one step is that of the look nearest to it; the last.",
        callback=not_before_the_start,
    ),
]


@dataclass(frozen=True)
class LoadedHistory:
    """The history of a run, what the run is called, and remarks.

    The last remark says why there are no contexts, where they were asked for and the encoder has some.
    """

    history: "History"
    title: str
    remarks: list[str] = field(default_factory=list)


@app.command()
def dynamics(
    run: RunFolder,
    data: DataAgain = None,
    tokens: Tokens = None,
    step: Step = None,
    out: PageOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Tell how attention came about: when and why tokens got their scores.

    Example: [bold]glasshead dynamics runs/dyn --tokens superb,dreary --out dynamics.html[/]
    """
    from glasshead.dynamics import context_findings, findings
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.report import Told, dynamics_page, dynamics_table, few
    from glasshead.training import read_record

    given = few(parse_names(tokens) or (), "--tokens")
    read_record(run)
    out = default_out(run, "dynamics.html") if out is None else out
    check_writable(out, overwrite=overwrite, reads=[run])
    format_from_suffix(out, "html")
    opened = load_history(run, data)
    opened.history.nearest(step)  # before the work
    followed, remarks = split_followed_tokens(run, opened.history, given)
    history = opened.history
    found = [*findings(history, step=step), *context_findings(history)]
    told = Told(
        opened.title,
        history,
        found,
        followed,
        step,
        [
            *opened.remarks,
            *unlearned_remark(history),
            *kept_remark(history, step),
            *sparse_remark(history, found),
            *remarks,
        ],
    )
    write_text(out, dynamics_page(told), overwrite=overwrite)
    console.print(dynamics_table(told))
    print_line(f"Page: {out}")


def unlearned_remark(history: "History") -> list[str]:
    """That a model has learned next to nothing, where the loss of its train texts says so."""
    from glasshead.report import number

    loss = history.curve("loss")["mean"]
    if len(loss) < 2 or not loss[-1] > LITTLE * loss[0]:
        return []
    fall = f"the loss has hardly fallen, from {number(loss[0])} to {number(loss[-1])}"
    return [f"{fall}: such a training tells little of how attention comes about"]


def kept_remark(history: "History", step: int | None) -> list[str]:
    """That the numbers are not those of the model in the run, which is that of its best epoch."""
    kept, last = history.facts["best_step"], int(history.steps[-1])
    if step is not None or kept is None or kept == last:
        return []
    look = history.nearest(kept)
    near = "" if look == kept else ", the look nearest to it"
    return [
        f"the numbers are those of step {last:,}; the run keeps the model of step {kept:,}: "
        f"see --step {look}{near}"
    ]


def sparse_remark(history: "History", found: "Sequence[Finding]") -> list[str]:
    """How to look more often, where a training was looked at too seldom for curves or terms to say much."""
    looks, last, every = len(history.steps), int(history.steps[-1]), history.facts["every"]
    if 1 < looks < FEW_LOOKS and (closer := max(1, last // GOOD_LOOKS)) < every:
        return [f"only {looks} looks in {last:,} steps: train with --watch-every {closer} for finer curves"]
    if looks > 1 and every > 1 and any(f.reason in ("too sparse", "too much left") for f in found):
        closer = max(1, every // CLOSER)
        far = f"looks {every} steps apart are too far apart for some of the terms"
        return [f"{far}: train with --watch-every {closer}"]
    return []


def load_history(run: Path, data: str | None, *, contexts: bool = True) -> LoadedHistory:
    """What was recorded, or else one look at the trained model; with ``contexts``, if its encoder has any.

    Raises:
        InputError: if the folder is no run of a classifier, or nothing can be told of its model.
    """
    from glasshead.results import FOLDER, read_history
    from glasshead.training import read_record

    record = read_record(run)
    if not (run / FOLDER).exists():
        return history_from_trained(run, data, contexts=contexts)
    from glasshead.dynamics import reads_context

    history = read_history(run)
    if contexts and reads_context(history):
        return watched_in_context(run, data, history)
    if data is not None:
        raise InputError(f"{run} was watched, so its data are not needed: leave {data!r} out")
    return LoadedHistory(history, run_title(record, history))


def history_from_trained(run: Path, data: str | None, *, contexts: bool) -> LoadedHistory:
    """One look at a model that nobody watched.

    Raises:
        InputError: if nothing can be told of it.
    """
    with progress_stages(f"looking at {run.name}") as progress:
        progress("loading")
        from glasshead.dynamics import (
            check_not_regression,
            history_from_trained_run,
            no_closed_form_reason,
            reads_context,
        )
        from glasshead.training import load_run

        loaded = load_run(run)
        check_not_regression(loaded)
        source = loaded.record["data"]
        reason = no_closed_form_reason(loaded.model)
        nothing = f"nothing can be told of a model whose scores show on texts only ({reason})"
        rows, remarks = train_rows(
            loaded, data, "there are no weights and no terms" if reason is None else nothing
        )
        if rows is None and reason is not None:
            raise InputError(*remarks)
        truth = planted_groups(source) if "source" in source and data in (None, source["source"]) else None
        history = history_from_trained_run(loaded, rows, truth)
        if contexts and rows is not None and reads_context(history):
            progress("reading its texts")
            history, more = add_context_comparison(history, loaded, rows)
            remarks += more
    watch = f"{run} was not watched, so only the trained model is shown; to record how it came about, train "
    again = rewatch_command(loaded.record, data, Path(f"{run}-watched"))
    watch += "again with --watch dynamics" if again is None else f"it again: {again}"
    return LoadedHistory(history, run_title(loaded.record, history), [watch, *remarks])


FEW_SETTINGS = 4
"""A command with more of them than these is not written out."""
OPTIONS = {
    "text_column": "--text-column", "label_column": "--label-column", "rows": "--rows",
    "split_seed": "--split-seed",
}  # fmt: skip
"""Options of the data that are written out."""


def rewatch_command(record: dict[str, Any], data: str | None, out: Path) -> str | None:
    """The command that does a training once more and watches it; None where it would be a long one, or is
    not known."""
    from dataclasses import asdict

    from glasshead.data import DATASETS, LoadOptions
    from glasshead.dynamics import recipe_of
    from glasshead.training import TRAINING_PRESETS

    source, recipe = data or record["data"].get("source"), recipe_of(record)
    if source is None or recipe.preset not in TRAINING_PRESETS:
        return None
    preset = TRAINING_PRESETS[recipe.preset]
    usual, chosen = (each.as_dict() | dict(each.architecture) for each in (preset, recipe))
    others = {name: value for name, value in chosen.items() if value != usual.get(name)}
    of_data = {
        name: value
        for name, value in record["data"].get("options", {}).items()
        if value != asdict(LoadOptions(dev_fraction=recipe.dev_fraction)).get(name)
    }
    made = of_data.pop("generator", None) or {}
    others.pop("architecture", None)
    model = ["--model", others.pop("model")] if "model" in others else []
    unset = set(usual) - set(chosen)
    if made and source not in DATASETS:
        return None
    if unset or not set(of_data) <= set(OPTIONS) or len(others) + len(of_data) + len(made) > FEW_SETTINGS:
        return None
    said = ["glasshead", "train", str(source), "--preset", recipe.preset, *model]
    for name, value in others.items():
        said += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    for name, value in of_data.items():
        said += [OPTIONS[name], str(value)]
    for name, value in made.items():
        said += ["--option", f"{name}={value}"]
    said += ["--seed", str(record["seed"]), "--watch", "dynamics", "--out", str(out)]
    return shlex.join(said)


NO_CONTEXTS = "tokens are not shown in their texts and alone"


def watched_in_context(run: Path, data: str | None, history: "History") -> LoadedHistory:
    """What was recorded, and the trained model's tokens in their texts and alone, if the texts are there.

    Raises:
        InputError: if data were named that are not those of the run.
    """
    with progress_stages(f"looking at {run.name}") as progress:
        progress("loading")
        from glasshead.training import load_run

        loaded = load_run(run)
        try:
            rows, remarks = train_rows(loaded, data, NO_CONTEXTS)
        except InputError as error:
            if data is not None:
                raise
            rows, remarks = None, [f"{NO_CONTEXTS}: {error}"]
        if rows is not None:
            progress("reading its texts")
            history, more = add_context_comparison(history, loaded, rows)
            remarks += more
    return LoadedHistory(history, run_title(loaded.record, history), remarks)


def add_context_comparison(
    history: "History", run: "Run", rows: "TensorDataset"
) -> "tuple[History, list[str]]":
    """The history with contexts, or a remark why it has none."""
    from glasshead.dynamics import with_contexts

    found = with_contexts(history, run, rows.encoded)
    return found, [] if found.contexts else [f"no token of a group is in these texts, so {NO_CONTEXTS}"]


def train_rows(run: "Run", data: str | None, without: str) -> "tuple[TensorDataset | None, list[str]]":
    """The texts that a run was trained on, encoded, and what is to be said of them; None: they are not there,
    and ``without`` them something is missing.

    Data that nobody named are read again if they are a synthetic set or lie where they lay.
    """
    from glasshead.audits import check_labels
    from glasshead.data import DATASETS, describe
    from glasshead.dynamics import recipe_of
    from glasshead.training import TensorDataset, check_texts, encoded_split, label_tensor

    about = run.record["data"]
    source = about.get("source")
    if data is None and (source is None or not (source in DATASETS or Path(source).exists())):
        lost = "the data of the training are not recorded" if source is None else f"{source} is not here"
        again = f"glasshead dynamics {shlex.quote(str(run.folder))} DATA"
        return None, [f"{lost}, so {without}: name the data after the run ({again})"]
    options: dict[str, Any] = dict(about.get("options", {}))
    if data not in (None, source):
        options.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
    loaded, _ = load_data(data or source, **options)
    train = loaded["train"]
    check_texts(recipe_of(run.record), loaded)
    check_labels(run, train)
    same = describe(loaded)["fingerprint"] == about.get("fingerprint")
    remarks = [] if same else [f"the texts of {data or source} are not those of the training, or no longer"]
    return TensorDataset(encoded_split(run.tokenizer, train), label_tensor(train)), remarks


def run_title(record: dict[str, Any], history: "History") -> str:
    """A run in a few words."""
    data = Path(str(record["data"].get("source", "data"))).name
    how = (
        history.facts.get("activation")
        or history.facts.get("attention")
        or record["recipe"].get("model", "classifier")
    )
    return f"{data} · {how} · seed {record['seed']}"


def split_followed_tokens(
    run: Path, history: "History", tokens: Sequence[str]
) -> tuple[tuple[str, ...], list[str]]:
    """The tokens that were followed, and a remark on each of the others.

    Raises:
        InputError: for a token that the model does not know.
    """
    from glasshead.registry import did_you_mean

    if not tokens:
        return (), []
    if not history.tokens:
        raise InputError(
            f"{run} has no scores of single tokens (they are in models with one attention output): leave "
            "--tokens out"
        )
    followed = set(history.tokens["token"].tolist())
    others = [token for token in tokens if token not in followed]
    if not others:
        return tuple(tokens), []
    from glasshead.training import load_run

    loaded = load_run(run)
    vocabulary = loaded.tokenizer.get_vocab()
    for token in others:
        if token not in vocabulary:
            hint = did_you_mean(token, followed)
            near = f": {hint}" if hint.startswith("did you mean") else ", and no followed one is like it"
            raise InputError(f"the model knows no token {token!r}{near}")
    return tuple(t for t in tokens if t in followed), [not_followed(loaded, t, vocabulary[t]) for t in others]


def not_followed(run: "Run", token: str, place: int) -> str:
    """What is known of a token whose numbers were not recorded."""
    from glasshead.dynamics import token_score
    from glasshead.report import number

    often = int(run.counts[:, place].sum())
    said = f"{token!r} was not followed (it occurs {'once' if often == 1 else f'{often:,} times'} in train)"
    found = token_score(run.model, place)
    if found is None:
        return f"{said}, and its score depends on its text: try 'glasshead explain'"
    score, polarity = found
    told = ", ".join(number(each) for each in polarity)
    return f"{said}: in the trained model its score is {number(score)}, its polarity {told}"
