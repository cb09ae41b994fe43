"""What the commands are made of: load, train, audit and check, with progress on standard error."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from glasshead.cli.console import errors, print_error, print_line
from glasshead.errors import InputError, exit_code
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from datasets import DatasetDict
    from rich.console import RenderableType
    from transformers import PreTrainedTokenizerFast

    from glasshead.audits import Identifiability
    from glasshead.results import AuditCard, Finding


WATCH = "dynamics"
LOW_IS_GOOD = {("performance", "rmse"), ("performance", "mae")} | {
    ("identifiability", statistic) for statistic in ("width", "may-be-zero", "another-first")
}


def parse_names(names: str | None) -> tuple[str, ...] | None:
    """A,B → (A, B)."""
    if names is None:
        return None
    given = tuple(name.strip() for name in names.split(",") if name.strip())
    if not given:
        raise InputError(f"{names!r} names nothing: give A,B,…")
    return given


def parse_numbers(options: list[str]) -> dict[str, float]:
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


def parse_settings(options: list[str]) -> dict[str, Any]:
    """NAME=VALUE, … → values by name: JSON where it is some (numbers, true, null), else words.

    Raises:
        InputError: on another form, and on a name with an option of its own.
    """
    import json

    result: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"{option!r} is not NAME=VALUE")
        if name in ("preset", "model", "architecture"):
            raise InputError(f"--set {option!r}: choose --preset and --model by their own options")
        try:
            result[name] = json.loads(value)
        except ValueError:
            result[name] = value
    return result


def parse_attention_option(attention: str | None) -> Any:
    """A mechanism as it is typed: a word, or JSON between braces."""
    import json

    if attention is None or not attention.lstrip().startswith("{"):
        return attention
    try:
        return json.loads(attention)
    except ValueError as error:
        raise InputError(f"--attention {attention!r} is no JSON: {error}") from None


HEAD_COMBINATIONS = {"concat": "concat", "sum": "add", "add": "add"}
"""How a configuration calls the ways in which heads are combined; ``add`` is what sums were called."""


def parse_head_combination(word: str | None) -> str | None:
    """How heads are combined, as the configuration of a model calls it.

    Raises:
        InputError: on another word.
    """
    if word is not None and word not in HEAD_COMBINATIONS:
        raise InputError(f"--head-combination is concat or sum, not {word!r}")
    return None if word is None else HEAD_COMBINATIONS[word]


def load_data(data: str, **options: Any) -> "tuple[DatasetDict, dict[str, Any]]":
    """The data, and what a run records about where they came from."""
    from dataclasses import asdict

    from glasshead.data import LoadOptions, load

    chosen = LoadOptions(**options)
    return load(data, chosen), {"source": data, "options": asdict(chosen)}


def train_run(
    data: "DatasetDict",
    recipe: Any,
    out: Path,
    *,
    repeats: int | None = None,
    watching: Sequence[Any] = (),
    **options: Any,
) -> None:
    """Train with a progress bar, and print what came out; ``repeats`` runs with one seed after the other."""
    from glasshead.attention import to_name
    from glasshead.cli.progress import ProgressBar
    from glasshead.results import METRIC_NAMES
    from glasshead.training import MEASURED, REPEATS, guess_in_words, read_object, read_record, train_repeats
    from glasshead.training import train as run_training

    what = recipe.model if recipe.attention is None else to_name(recipe.attention)
    bar = ProgressBar(f"{out.name} ({what})", begin=cache(lambda: describe_data(data)))
    try:
        if repeats is None:
            run_training(data, recipe, out, callbacks=[bar, *watching], **options)
        else:
            train_repeats(data, recipe, out, repeats, callbacks=[bar, *watching], **options)
    finally:
        bar.stop()
    told = read_object(out / (MEASURED if repeats is None else REPEATS))
    found = told if repeats is None else told["metrics"]
    runs = [out] if repeats is None else [out / f"seed-{seed}" for seed in told["seeds"]]
    records = [read_record(run) for run in runs]
    floor = records[-1].get("floor", {})  # a run that an older version has finished has none
    for split in ("dev", "test"):
        if split in found:
            values = found[split]
            numbers = [
                f"{word} {format_metric(values[name])}"
                + (f" (floor {format_metric(floor[split][name])})" if floor else "")
                for name, word in METRIC_NAMES.items()
                if name in values
            ]
            print_line(f"{split:>5}  " + "  ".join(numbers))
    if floor:
        print_line(f"floor: {guess_in_words(floor['guess'])}")
    for record in records:
        for split, only in record.get("only_class", {}).items():
            if only is not None:
                seed = "" if repeats is None else f"seed {record['seed']}, "
                print_line(f"{seed}{split}: the model predicts one class only, {only!r}")
    for note in dict.fromkeys(note for record in records for note in record["notes"]):
        print_line(note)


def describe_data(data: "DatasetDict") -> None:
    """Rows, classes and what is doubtful about them."""
    from glasshead.data import describe, describe_in_words

    for line in describe_in_words(describe(data)):
        print_line(line)


def watchers(watch: str | None, every: int | None, source: dict[str, Any]) -> list[Any]:
    """What looks on while a model is trained, as --watch asks.

    Raises:
        InputError: on another word than dynamics, and on steps without it.
    """
    if watch is None:
        if every is not None:
            raise InputError("--watch-every needs --watch dynamics")
        return []
    if watch != WATCH:
        raise InputError(f"unknown --watch {watch!r}: {did_you_mean(watch, [WATCH])}")
    from glasshead.dynamics import dynamics_callback as watch_training

    return [watch_training(planted_groups(source), every)]


def planted_groups(source: dict[str, Any]) -> dict[str, str] | None:
    """The group of every word of a made-up data set; None for data of other people."""
    from glasshead.data import DATASETS, planted_groups

    if source["source"] not in DATASETS:
        return None
    return planted_groups(DATASETS[source["source"]].options(source["options"]["generator"]))


def format_metric(found: Any) -> str:
    """A number, or a mean and a standard deviation over seeds."""
    if isinstance(found, dict):
        return f"{found['mean']:.3f} ± {found['std']:.3f}"
    return f"{found:.3f}"


def audit_run(
    folder: Path,
    data: str,
    split: str,
    given: dict[str, Any],
    *,
    identifiability: "Identifiability | None" = None,
    audits: tuple[str, ...] | None = None,
    limit: int | None = None,
    seed: int = 0,
    max_length: int | None = None,
    **options: Any,
) -> "AuditCard":
    """Load a run and the data as the run read them, and audit with a progress bar.

    A folder with any other model is asked about identifiability, which needs no prediction.
    """
    with progress_stages(f"auditing {folder.name}") as progress:
        progress("loading")
        from dataclasses import replace

        from glasshead.audits import Identifiability, audit_maps
        from glasshead.audits import audit as run_audits
        from glasshead.data import select
        from glasshead.training import is_run, load_run, open_model

        runs = is_run(folder) or audits != ("identifiability",)
        if runs and not is_run(folder) and (folder / "config.json").is_file():
            raise InputError(
                f"{folder} is a model, but no run of glasshead: ask it --audits identifiability alone"
            )
        loaded_run = load_run(folder) if runs else None
        trained_on = {} if loaded_run is None else loaded_run.record["data"]
        changed = {key: value for key, value in given.items() if value is not None}
        choices = trained_on.get("options", {}) | changed
        if data != trained_on.get("source"):
            choices.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
        loaded, source = load_data(data, **choices)
        part = select(loaded, split, data)
        facts = {"data": data, "split": split, "data_options": source["options"]}

        def tell(done: int, total: int) -> None:
            progress(f"identifiability: {done:,} of {total:,} texts", done / total)

        asked = replace(identifiability or Identifiability(), progress=tell)
        if loaded_run is None:
            if (
                options["reading"].is_customised
                or options["reading"].level != "word"
                or options["draws"] is not None
            ):
                raise InputError(
                    "--layer, --head, --row, --level and --draws are for other audits: use --layers, --heads "
                    "and --rows"
                )
            model, tokenizer = open_model(folder)
            limit_length(tokenizer, max_length)
            return audit_maps(
                model, tokenizer, folder, part, asked, limit=limit, seed=seed, about=facts, progress=progress
            )
        limit_length(loaded_run.tokenizer, max_length)
        if data != trained_on.get("source"):
            facts["trained_on"] = trained_on.get("source")
        return run_audits(
            loaded_run,
            part,
            audits=audits,
            limit=limit,
            seed=seed,
            identifiability=asked,
            facts=facts,
            progress=progress,
            **options,
        )


def limit_length(tokenizer: "PreTrainedTokenizerFast", max_length: int | None) -> None:
    """Let a tokenizer cut texts to so many tokens, if it did not cut them shorter before.

    Raises:
        InputError: if there would be no room for a word.
    """
    if max_length is None:
        return
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    if max_length < least:
        raise InputError(f"--max-length {max_length} leaves no room for words: give at least {least}")
    tokenizer.model_max_length = min(tokenizer.model_max_length, max_length)


@contextmanager
def resume_on_interrupt(parts: Path, kept: str = "epochs") -> Iterator[None]:
    """Work that Ctrl-C or SIGTERM ends with one line, which says what was kept in ``parts``; so does a full
    disk."""
    import typer

    resume = f"the finished {kept} are kept: repeat the command with --resume"
    try:
        yield
    except KeyboardInterrupt as error:
        print_error(
            f"interrupted; {resume}"
            if parts.exists()
            else f"interrupted before any {kept} were finished; nothing was written"
        )
        raise typer.Exit(exit_code(error)) from None
    except OSError as error:
        if parts.exists():
            error.add_note(resume)
        raise


class Stages(Protocol):
    """Told what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


@contextmanager
def progress_stages(title: str) -> Iterator[Stages]:
    """A line on standard error that says what is being done and for how long, with a bar where it can."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task(title, total=None)

        def tell(stage: str, share: float | None = None) -> None:
            progress.update(
                task,
                description=f"{title}: {stage}",
                total=None if share is None else 1.0,
                completed=share or 0.0,
            )

        yield tell


def write_audit(card: "AuditCard", folder: Path, store: Path | None = None) -> None:
    """The values and their report, and the lines of ``store`` about every head and weight."""
    from glasshead.identifiability import merge_parts
    from glasshead.report import render

    card.save(folder)
    if store is not None:
        merge_parts(store, folder)
    (folder / "report.html").write_text(render([card]), encoding="utf-8")


def finding_for_threshold(card: "AuditCard", name: str) -> "Finding":
    """The finding that a bar is about; ``.all`` may be left out.

    Raises:
        InputError: on a name that no finding has, on errors, which are better low, and on numbers that are
            no evidence.
    """
    from glasshead.registry import did_you_mean

    finding = card.finding(name) or card.finding(f"{name}.all")
    if finding is None:
        known = [each.name.removesuffix(".all") for each in card.findings]
        raise InputError(f"no finding is called {name!r}: {did_you_mean(name, known)}")
    if (finding.audit, finding.statistic) in LOW_IS_GOOD:
        raise InputError(f"--fail-under {name}: here low is good, so it has no lower bar: leave it out")
    if finding.reason in ("raw sign", "by construction"):
        raise InputError(f"--fail-under {name}: no bar can be set there ({finding.verdict}): leave it out")
    return finding


def check_thresholds(barred: "list[tuple[Finding, float]]") -> bool:
    """Whether every interval starts at or above its bar, and a line on each."""
    held = True
    for finding, bar in barred:
        name = finding.name.removesuffix(".all")
        low = None if finding.interval is None else finding.interval[0]
        if finding.status != "evidence":
            held = False
            print_error(f"{name}: {finding.verdict}")
        elif low is not None and low >= bar:
            print_line(f"{name}: the interval starts at {low:.3f}, not below {bar}")
        else:
            held = False
            start = "is undefined" if low is None else f"starts at {low:.3f}, below {bar}"
            print_error(f"{name}: the interval {start}")
    return held


def check_audit_name(name: str) -> None:
    """Refuse a misspelt finding before the work begins, as far as its first word tells."""
    from glasshead.audits import AUDITS

    AUDITS[name]


def compare_run_folders(
    folders: list[Path], against: str | None, split: str | None, seed: int
) -> "tuple[str, RenderableType]":
    """The page and the table of a comparison of folders of one kind; ``split`` of runs, None: test.

    Raises:
        InputError: on folders of different kinds, a split of audits, and as `comparison.compare_runs`.
    """
    from glasshead.audits import baseline, compare_runs, short_names
    from glasshead.report import comparison_page, comparison_table
    from glasshead.results import AuditCard
    from glasshead.training import AUDIT, kind_of

    first, *kinds = [kind_of(folder) for folder in folders]
    for folder, kind in zip(folders[1:], kinds, strict=True):
        if kind != first:
            raise InputError(f"{folder} is not {first}, as {folders[0]} is, but {kind}: compare one kind")
    if first == AUDIT:
        if split is not None:
            raise InputError("an audit has read one split already: leave --split out")
        base = baseline(folders, short_names(folders), against)
        return compare_audit_folders([AuditCard.load(folder) for folder in folders], base, seed)
    comparison = compare_runs(folders, against=against, split=split or "test", seed=seed)
    return comparison_page(comparison), comparison_table(comparison)


def compare_audit_folders(cards: "list[AuditCard]", base: int, seed: int) -> "tuple[str, RenderableType]":
    """The page and the table of several audits, with their paired differences from the audit ``base``."""
    from glasshead.audits import differences
    from glasshead.report import card_table, render

    found, remarks = differences(cards, base, seed)
    return render(cards, found, remarks), card_table(cards, found, remarks)
