"""Stop when dev is flat, and say how long a training was."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from glasshead.errors import pluralise
from glasshead.spelling import spell
from glasshead.training.checkpointing import STATE

if TYPE_CHECKING:
    from transformers import Trainer  # imports datasets, which explaining needs not


class Patience(TrainerCallback):
    """Stops once dev has not improved for this many epochs.

    It reads the history of the training, not a counter of its own as `transformers.EarlyStoppingCallback`
    does, so that a resumed training stops where an unbroken one does.
    """

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        control.should_training_stop |= is_flat(state.log_history, self.epochs, args)

    def resume(self, checkpoint: Path, args: TrainingArguments) -> None:
        """Let a training that was cut off after its last epoch have no further one."""
        state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
        if is_flat(state["log_history"], self.epochs, args):
            args.num_train_epochs = len(dev_scores(state["log_history"], args))


def dev_scores(history: Sequence[dict[str, Any]], args: TrainingArguments) -> list[float]:
    """The scores by which the best epoch is chosen, epoch after epoch; more is better."""
    key, sign = f"eval_{args.metric_for_best_model}", 1 if args.greater_is_better else -1
    return [sign * entry[key] for entry in history if key in entry]


def is_flat(history: Sequence[dict[str, Any]], epochs: int, args: TrainingArguments) -> bool:
    """Whether none of the last so many epochs was better than all before them."""
    scores = dev_scores(history, args)
    return len(scores) > epochs and max(scores[-epochs:]) <= max(scores[:-epochs])


def training_length(trainer: "Trainer", patience: int | None) -> tuple[dict[str, Any], list[str]]:
    """Steps and epochs that a training took, those of the epoch that is kept, whether dev was flat at the
    end, and a remark if somebody asked for that."""
    state = trainer.state
    epochs = len(dev_scores(state.log_history, trainer.args))
    per_epoch = state.global_step // epochs
    kept = (state.best_global_step or state.global_step) // per_epoch
    length = {
        "steps": state.global_step,
        "epochs": epochs,
        "kept_step": kept * per_epoch,
        "kept_epoch": kept,
    }
    if patience is None:
        return length, []
    flat = is_flat(state.log_history, patience, trainer.args)
    took = f"{pluralise(epochs, 'epoch')}, {state.global_step:,} steps; the best one on dev, {kept}, is kept"
    if flat:
        note = f"stopped when dev had not improved for {pluralise(patience, 'epoch')}: {took}"
    else:
        note = (
            f"stopped before dev was flat for {pluralise(patience, 'epoch')}: {took}; give more "
            f"{spell('epochs')}"
        )
    return length | {"flat": flat}, [note]
