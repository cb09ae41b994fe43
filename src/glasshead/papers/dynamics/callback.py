"""A callback that takes snapshots of a model while it is trained, and writes down how it changes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from transformers import PreTrainedModel, TrainerCallback

from glasshead.errors import InputError
from glasshead.files import remove
from glasshead.papers.dynamics.snapshots import (
    Snapshot,
    merge_snapshots,
    read_snapshot,
    snapshot_path,
    steps_in,
    write_snapshot,
)
from glasshead.papers.results import HISTORY_FOLDER, Columns, write_history
from glasshead.spelling import spell
from glasshead.trace import eval_mode

DEFAULT_SNAPSHOTS = 60
SPARSE_INTERVAL = 100
"""Steps between two snapshots, at least: one takes about as long as ten steps of a small model."""
MAX_SNAPSHOTS = 480
"""When there would be more, every second is dropped: a long training is told no longer than a short one."""


class Observer(Protocol):
    """Takes snapshots of a model; ``facts`` say what and how, ``token_facts`` are columns over the followed
    tokens that do not change."""

    facts: dict[str, Any]
    token_facts: Columns

    def snapshot(self, model: PreTrainedModel) -> Snapshot: ...


class DynamicsCallback(TrainerCallback):
    """Takes a snapshot every ``every`` steps (usually 60 in all), before the first step and after the last.

    ``make`` builds the observer when the model and the train rows are known. Each term is integrated over
    the time of gradient flow, τ = Σ learning rate, by the trapezoidal rule. For plain SGD this is its part
    of the change of the score, and only then is it kept (the observer's fact ``exact``). Only the last
    snapshot stays in memory.
    """

    def __init__(self, make: Callable[..., Observer], every: int | None = None) -> None:
        self.make = make
        self.facts = {"every": every}
        self.last: tuple[int, Snapshot] | None = None

    def attach(self, folder: Path, **inputs: Any) -> None:
        """The training calls this before it starts, with the folder to write to and the arguments of
        ``make``."""
        self.folder = folder / HISTORY_FOLDER
        self.snapshots = self.folder / "looks"
        self.observer = self.make(**inputs)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not hasattr(self, "observer"):
            raise InputError(
                f"{spell('DynamicsCallback')} works in glasshead.training.train and "
                "glasshead.language.train_language_model, which configure it"
            )
        if not state.is_world_process_zero:
            return
        every = self.facts["every"] or max(SPARSE_INTERVAL, state.max_steps // DEFAULT_SNAPSHOTS)
        self.observer.facts |= {
            "learning_rate": args.learning_rate, "every": every, "steps": state.max_steps,
        }  # fmt: skip
        self.snapshots.mkdir(parents=True, exist_ok=True)
        self.saved = state.global_step  # the last step from which the training could go on
        for step in steps_in(self.snapshots):
            if step > self.saved:
                snapshot_path(self.snapshots, step).unlink()  # it comes again
        self.last = None
        if self.saved:
            self._thin_out(self.saved)
            earlier = steps_in(self.snapshots)
            if not earlier:
                raise InputError(
                    f"cannot resume: the snapshots in {self.snapshots} are gone; use "
                    f"{spell('overwrite', True)}"
                )
            self.last = earlier[-1], read_snapshot(self.snapshots, earlier[-1])
        else:
            self._record_snapshot(kwargs["model"], 0)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not state.is_world_process_zero:
            return
        step = state.global_step
        if step % self._interval(step) == 0 or step == state.max_steps:
            self._record_snapshot(kwargs["model"], step)

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            self.saved = state.global_step
            self._thin_out(self.saved)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not state.is_world_process_zero:
            return
        self.saved = state.global_step
        self._thin_out(self.saved)
        best = state.best_global_step or state.global_step
        facts = self.observer.facts | {"best_step": best, "every": self._interval(state.global_step)}
        write_history(self.folder, facts, merge_snapshots(self.snapshots, self.observer.token_facts))
        remove(self.snapshots)

    def _record_snapshot(self, model: PreTrainedModel, step: int) -> None:
        # A training that diverges says so itself.
        with eval_mode(model), np.errstate(over="ignore", invalid="ignore"):
            snapshot = self.observer.snapshot(model)
        if self.observer.facts["exact"]:
            snapshot = replace(snapshot, added=self._integrate(step, snapshot))
        write_snapshot(self.snapshots, step, snapshot)
        self.last = step, snapshot
        self._thin_out(step)

    def _interval(self, step: int) -> int:
        """The distance between two snapshots: twice as long whenever there would be too many of them."""
        interval: int = self.observer.facts["every"]
        while step // interval >= MAX_SNAPSHOTS:
            interval *= 2
        return interval

    def _thin_out(self, step: int) -> None:
        """Drop snapshots that are closer than those of a step, but none that a training which goes on from
        the last checkpoint would still have: its history is that of an unbroken one."""
        for other in steps_in(self.snapshots):
            close = other % self._interval(step) and other < step
            if close and (other > self.saved or step == self.saved):
                snapshot_path(self.snapshots, other).unlink()

    def _integrate(self, step: int, snapshot: Snapshot) -> dict[str, Any]:
        """What every term has added up to, from the last snapshot on by the trapezoidal rule."""
        if self.last is None:
            return {name: np.zeros_like(rate) for name, rate in snapshot.rates.items()}
        last_step, last = self.last
        half = 0.5 * self.observer.facts["learning_rate"] * (step - last_step)
        return {
            name: last.added[name] + half * (last.rates[name] + rate) for name, rate in snapshot.rates.items()
        }
