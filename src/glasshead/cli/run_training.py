"""Train with a progress bar, and print what came out."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.cli.console import print_line
from glasshead.cli.interrupts import resume_on_interrupt
from glasshead.errors import InputError
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from datasets import DatasetDict
    from transformers import TrainerCallback

    from glasshead.training import TrainingConfig


@dataclass(frozen=True)
class TrainRequest:
    """What is trained, on which data, and where it is written.

    ``load_options`` are fields of `LoadOptions`, ``repeats`` the number of runs with one seed after the other
    (None: one run), ``watch`` names what is recorded, every ``watch_every`` steps; ``note`` is printed once
    the data are there.
    """

    data: str
    out: Path
    config: "TrainingConfig"
    load_options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    repeats: int | None = None
    watch: str | None = None
    watch_every: int | None = None
    resume: bool = False
    overwrite: bool = False
    note: str | None = None


def run_training(request: TrainRequest, *, resumable: bool = True) -> None:
    """Train one run, or one for each seed, and print its metrics and notes.

    Of what is ``resumable`` an interruption says how to go on.
    """
    from dataclasses import asdict

    from glasshead.attention import to_name
    from glasshead.cli.training_bar import ProgressBar
    from glasshead.data import LoadOptions, load
    from glasshead.files import partial_path
    from glasshead.training import attention_run_name, train, train_repeats

    config, out = request.config, request.out
    load_options = LoadOptions(**request.load_options)
    data = load(request.data, load_options)
    source = {"source": request.data, "options": asdict(load_options)}
    callbacks = recorder_callbacks(request.watch, request.watch_every, source)
    if request.note is not None:
        print_line(request.note)
    mechanism = config.model if config.attention is None else to_name(config.attention)
    if config.attention_run is not None:
        mechanism = attention_run_name(config.attention_run)
    bar = ProgressBar(f"{out.name} ({mechanism})", begin=cache(lambda: describe_data(data)))
    options: dict[str, Any] = {
        "source": source,
        "resume": request.resume,
        "overwrite": request.overwrite,
        "callbacks": [bar, *callbacks],
    }
    try:
        with resume_on_interrupt(partial_path(out)) if resumable else nullcontext():
            if request.repeats is None:
                train(data, config, out, seed=request.seed, **options)
            else:
                seeds = range(request.seed, request.seed + request.repeats)
                train_repeats(data, config, out, seeds, **options)
    finally:
        bar.stop()
    print_results(out, request.repeats)
    if config.other_run is not None and config.other_run_training is not None and request.repeats is None:
        for line in config.other_run_training.remarks(out, config.other_run, data):
            print_line(line)


def recorder_callbacks(
    watch: str | None, every: int | None, source: dict[str, Any] | None = None
) -> "Sequence[TrainerCallback]":
    """What records a training, as --watch asks.

    Raises:
        InputError: on a word that names no recorder, and on steps without one.
    """
    from glasshead.training import RECORDERS

    if watch is None:
        if every is not None:
            raise InputError("--watch-every needs --watch dynamics")
        return []
    if watch not in RECORDERS:
        raise InputError(f"unknown --watch {watch!r}: {did_you_mean(watch, RECORDERS)}")
    return [RECORDERS[watch](source, every)]


def describe_data(data: "DatasetDict") -> None:
    """Rows, classes and what is doubtful about them."""
    from glasshead.data import describe, describe_in_words

    for line in describe_in_words(describe(data)):
        print_line(line)


def print_results(out: Path, repeats: int | None) -> None:
    """Metrics next to their floor, models that predict one class only, and notes of the training."""
    from glasshead.opening import MEASURED, REPEATS, read_object, read_record
    from glasshead.results import use_lines
    from glasshead.training import describe_guess

    if repeats is None:
        metrics, records = read_object(out / MEASURED), [read_record(out)]
    else:
        summary = read_object(out / REPEATS)
        metrics = summary["metrics"]
        records = [read_record(out / f"seed-{seed}") for seed in summary["seeds"]]
    floor = records[-1]["floor"]
    for split in ("dev", "test"):
        if split in metrics:
            print_line(f"{split:>5}  " + "  ".join(metrics_in_words(metrics[split], floor.get(split))))
    if floor:
        print_line(f"floor: {describe_guess(floor['guess'])}")
    for record in records:
        for split, only in record.get("only_class", {}).items():
            if only is not None:
                seed = "" if repeats is None else f"seed {record['seed']}, "
                print_line(f"{seed}{split}: the model predicts one class only, {only!r}")
    for record in records:
        seed = "" if repeats is None else f"seed {record['seed']}, "
        for line in use_lines(record.get("attention_use"), whole=repeats is None):
            print_line(f"{seed}{line}")
    for note in dict.fromkeys(note for record in records for note in record["notes"]):
        print_line(note)


def metrics_in_words(metrics: Mapping[str, Any], floor: Mapping[str, Any] | None) -> list[str]:
    """Every metric of a split, with that of always guessing."""
    from glasshead.results import METRIC_NAMES

    return [
        f"{word} {format_metric(metrics[name])}"
        + ("" if floor is None else f" (floor {format_metric(floor[name])})")
        for name, word in METRIC_NAMES.items()
        if name in metrics
    ]


def format_metric(metric: Any) -> str:
    """A number, or a mean and a standard deviation over seeds."""
    if isinstance(metric, dict):
        return f"{metric['mean']:.3f} ± {metric['std']:.3f}"
    return f"{metric:.3f}"
