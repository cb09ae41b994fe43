"""What the commands are made of: load, train, audit and check, with progress on standard error."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.console import complain, errors, say
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import DatasetDict

    from glasshead.results import AuditCard, Finding


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
            say(f"{split:>5}  accuracy {numbers['accuracy']:.3f}  macro-F1 {numbers['macro_f1']:.3f}")


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
        if data != trained_on.get("source"):
            facts["trained_on"] = trained_on.get("source")
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


def barred_finding(card: "AuditCard", name: str) -> "Finding":
    """The finding that a bar is about; ``.all`` may be left out.

    Raises:
        InputError: on a name that no finding has.
    """
    from glasshead.registry import nearest

    finding = card.finding(name) or card.finding(f"{name}.all")
    if finding is None:
        known = [each.name.removesuffix(".all") for each in card.findings]
        raise InputError(f"no finding is called {name!r}: {nearest(name, known)}")
    return finding


def check_bars(barred: "list[tuple[Finding, float]]") -> bool:
    """Whether every interval starts at or above its bar, and a line on each."""
    held = True
    for finding, bar in barred:
        name = finding.name.removesuffix(".all")
        low = None if finding.interval is None else finding.interval[0]
        if finding.verdict.startswith("undecided"):
            held = False
            complain(f"{name}: {finding.verdict}")
        elif low is not None and low >= bar:
            say(f"{name}: the interval starts at {low:.3f}, not below {bar}")
        else:
            held = False
            start = "is undefined" if low is None else f"starts at {low:.3f}, below {bar}"
            complain(f"{name}: the interval {start}")
    return held


def known_audit(name: str) -> None:
    """Refuse a misspelt finding before the work begins, as far as its first word tells."""
    from glasshead.audit import AUDITS

    AUDITS[name]
