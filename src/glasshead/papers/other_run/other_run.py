"""What trainings that build on a run of a pooled classifier share."""

from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from glasshead.errors import InputError
from glasshead.models import PooledClassifier
from glasshead.opening import load_run
from glasshead.random_numbers import use_seed
from glasshead.spelling import spell
from glasshead.training import OtherRunTraining, TrainingConfig


class PooledRunTraining(OtherRunTraining):
    """A training that builds on the model of the run, ``other``, and trains such a model."""

    def __init__(self, folder: str, tokenizer: PreTrainedTokenizerFast, config: TrainingConfig) -> None:
        super().__init__(folder, tokenizer, config)
        self.other = load_other_run(folder, tokenizer)

    @classmethod
    def settings(cls, config: TrainingConfig) -> dict[str, Any]:
        if config.model != "pooled":
            raise InputError(
                f"frozen and adversarial attention are for the model 'pooled', not {config.model!r}, which "
                "has no one weight for each token"
            )
        return {}


def load_other_run(folder: str, tokenizer: PreTrainedTokenizerFast) -> PooledClassifier:
    """The model of a run that reads texts as this tokenizer does, on its own: no random number is drawn.

    Raises:
        InputError: if it is not a run of a pooled classifier, or reads texts in another way.
    """
    with use_seed(None):
        run = load_run(Path(folder))
    if not isinstance(run.model, PooledClassifier):
        raise InputError(
            f"{folder} is a {type(run.model).__name__}, but only a pooled classifier has a single weight "
            f"per token: name a run of {spell('model', 'pooled')}"
        )
    lengths = run.tokenizer.model_max_length, tokenizer.model_max_length
    if lengths[0] != lengths[1]:
        raise InputError(
            f"{folder} reads {lengths[0]} tokens of a text, this training {lengths[1]}: "
            f"take {spell('max_length', lengths[0])}"
        )
    if run.tokenizer.get_vocab() != tokenizer.get_vocab():
        raise InputError(
            f"{folder} knows {len(run.tokenizer)} tokens, not those of this training ({len(tokenizer)}): "
            f"train on the same data, with the same {spell('vocab_size')} and {spell('min_freq')}"
        )
    return run.model
