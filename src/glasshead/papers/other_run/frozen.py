"""``frozen:RUN``: a new model keeps the attention of a finished run, and only its other parts are trained."""

from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.errors import InputError
from glasshead.papers.models import SCORE_FIELDS, ImposedClassifier
from glasshead.papers.other_run.other_run import PooledRunTraining
from glasshead.training import OTHER_RUNS, TrainingConfig


@OTHER_RUNS.register("frozen")
class FrozenAttention(PooledRunTraining):
    """A model with the attention scores of another one.

    Source: Wiegreffe and Pinter (2019), section 3.3.
    """

    decided = ("score", "head_dim", "temperature")
    family = ImposedClassifier

    def __init__(self, folder: str, tokenizer: PreTrainedTokenizerFast, config: TrainingConfig) -> None:
        super().__init__(folder, tokenizer, config)
        own = self.other.config
        imposed = isinstance(self.other, ImposedClassifier)
        form = own.imposed if imposed else {name: getattr(own, name) for name in SCORE_FIELDS}
        shared = {name: form[name] for name in self.decided}
        self.model_settings = shared | {"activation": own.activation, "imposed": form}

    @classmethod
    def settings(cls, config: TrainingConfig) -> dict[str, Any]:
        needed = super().settings(config)
        if "context-output" in config.penalties:
            raise InputError("frozen attention has no V to train: leave the penalty 'context-output' out")
        return needed

    def prepare(self, model: PreTrainedModel) -> None:
        """Give the new model the parameters of the other model's scores."""
        assert isinstance(model, ImposedClassifier)
        if isinstance(self.other, ImposedClassifier):
            model.imposed.load_state_dict(self.other.imposed.state_dict())
            return
        assert self.other.pooling.score is not None
        model.imposed.embedding.load_state_dict(self.other.embedding.state_dict())
        model.imposed.encoder.load_state_dict(self.other.encoder.state_dict())
        model.imposed.score.load_state_dict(self.other.pooling.score.state_dict())
