"""What every training does, whatever it trains: from a plan and a folder to a run with its record."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from transformers import PreTrainedModel, TrainerCallback, set_seed

from glasshead.huggingface import silence_transformers
from glasshead.opening import MEASURED, RECORD
from glasshead.training.checkpointing import CHECKPOINTS, WATCHED, workspace
from glasshead.training.write_run import versions, write_json

if TYPE_CHECKING:
    from transformers import Trainer  # imports datasets, which explaining needs not


@runtime_checkable
class RunAwareCallback(Protocol):
    """A callback that is told before the first step what is trained and where its files go.

    ``facts`` must be the same when a training is resumed; they are plain JSON.
    """

    facts: dict[str, Any]

    def attach(self, folder: Path, **about: Any) -> None: ...


@dataclass(frozen=True)
class TrainingRun:
    """A training under way in ``folder``.

    ``plan`` is everything that decides the result. It is written to the file ``record`` at the start, and
    again with the results at the end. ``checkpoint`` is where the training continues from; None: it starts.
    """

    folder: Path
    plan: Mapping[str, Any]
    record: str
    checkpoint: Path | None
    callbacks: Sequence[TrainerCallback]
    started: float

    @property
    def seed(self) -> int:
        """The seed of all random draws."""
        return int(self.plan["seed"])

    @property
    def checkpoints(self) -> Path:
        """Where checkpoints go."""
        return self.folder / CHECKPOINTS

    def attach(self, **about: Any) -> None:
        """Inform the callbacks about the training."""
        for callback in self.callbacks:
            if isinstance(callback, RunAwareCallback):
                callback.attach(self.folder, **about)

    def train(self, trainer: "Trainer") -> None:
        """Train, from the checkpoint or from the start."""
        trainer.train(resume_from_checkpoint=str(self.checkpoint) if self.checkpoint else None)

    def write(
        self, model: PreTrainedModel, tokenizer: Any, measured: Mapping[str, Any], facts: Mapping[str, Any]
    ) -> None:
        """Save the model with its tokenizer, what was ``measured``, and the record: the plan, the
        ``facts``, and additions by kind of training."""
        model.save_pretrained(self.folder)
        tokenizer.save_pretrained(self.folder)
        write_json(self.folder / MEASURED, measured)
        own = {
            "seconds": round(time.perf_counter() - self.started, 2),
            "resumed": self.checkpoint is not None,
            "versions": versions(),
        }
        write_json(self.folder / self.record, {**self.plan, **facts, **own})


@contextmanager
def training_run(
    out: Path,
    plan: dict[str, Any],
    callbacks: Sequence[TrainerCallback],
    *,
    resume: bool,
    overwrite: bool,
    record: str = RECORD,
) -> Iterator[TrainingRun]:
    """A training whose folder becomes ``out`` if the block succeeds (`workspace`), and whose random numbers
    come from the seed of the plan.

    Raises:
        InputError: as `workspace`.
    """
    for callback in callbacks:
        if isinstance(callback, RunAwareCallback):
            plan = plan | {WATCHED: callback.facts}
    with (
        silence_transformers(),
        workspace(out, plan, resume=resume, overwrite=overwrite, record=record) as (folder, checkpoint),
    ):
        set_seed(plan["seed"])
        yield TrainingRun(folder, plan, record, checkpoint, callbacks, time.perf_counter())
