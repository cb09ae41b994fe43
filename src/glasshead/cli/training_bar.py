"""A progress bar for the Trainer, on standard error."""

import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from glasshead.cli.progress import LineProgress
from glasshead.escaping import one_line

DEV_MEASURES = {
    "eval_accuracy": "dev accuracy",
    "eval_rmse": "dev RMSE",
    "eval_perplexity": "dev perplexity",
}


class ProgressBar(TrainerCallback):
    """Steps done, the latest measure on dev, time left, or a line now and then where there is no terminal;
    ``begin`` is called first of all."""

    def __init__(self, title: str, begin: Callable[[], None] = lambda: None) -> None:
        self.begin = begin
        self.title = one_line(title)
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self.lines, self.measured = LineProgress(self.title), ""
        self.task: TaskID | None = None

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self.begin()
        self.task = self.bar.add_task(self.title, total=state.max_steps, completed=state.global_step)
        self.bar.start()
        if self.bar.disable:
            self.lines.start()

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        if self.task is not None:
            self.bar.update(self.task, completed=state.global_step)
        if self.bar.disable:
            share = state.global_step / max(state.max_steps, 1)
            self.lines(f"step {state.global_step:,} of {state.max_steps:,}{self.measured}", share)

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        for name, words in DEV_MEASURES.items():
            if self.task is not None and metrics and name in metrics:
                self.measured = f", {words} {metrics[name]:.3f}"
                self.bar.update(self.task, description=f"{self.title} · {words} {metrics[name]:.3f}")

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Leave the terminal as it was, also after an error."""
        self.bar.stop()
        self.lines.stop()
