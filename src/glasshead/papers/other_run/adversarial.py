"""``adversarial:RUN``: a model that predicts as a run does, by other attention."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import class_names
from glasshead.models import PooledClassifier, is_regression
from glasshead.papers.other_run.map_divergence import map_divergence
from glasshead.papers.other_run.other_run import PooledRunTraining
from glasshead.spelling import spell
from glasshead.training import OTHER_RUNS, TrainingConfig

if TYPE_CHECKING:
    from datasets import DatasetDict

FLOOR = 1e-10
"""Weights count as no less in the divergence, which would be infinite where a weight underflows."""
USUAL_WEIGHT = 1e-3
"""λ where nobody chooses it."""
DEPARTURE_TEXTS = 200
"""How many texts of dev say how far an adversary came."""
HARDLY_MOVED, MUCH_MOVED = 0.07, 0.1
"""A JSD of maps, a tenth of ln 2, and a TVD of predictions."""


def adversary_loss(
    probabilities: Float[Tensor, "b k"],
    weights: Float[Tensor, "b n"],
    other_probabilities: Float[Tensor, "b k"],
    other_weights: Float[Tensor, "b n"],
    weight: float,
) -> Float[Tensor, " b"]:
    """L = TVD(ŷ_other, ŷ) − λ KL(a ‖ a_other) of every text, with TVD = ½ Σ_k |ŷ_k − ŷ_other,k|, λ the
    ``weight`` and the KL in nats.

    Source: Wiegreffe and Pinter (2019), section 4.
    """
    distance = (probabilities - other_probabilities).abs().sum(dim=-1) / 2
    ratio = weights.clamp(min=FLOOR).log() - other_weights.clamp(min=FLOOR).log()
    return distance - weight * (weights * ratio).sum(dim=-1)


@OTHER_RUNS.register("adversarial")
class AdversarialAttention(PooledRunTraining):
    """A training by `adversary_loss` against the run, with λ the ``adversary_weight``."""

    def __init__(self, folder: str, tokenizer: PreTrainedTokenizerFast, config: TrainingConfig) -> None:
        super().__init__(folder, tokenizer, config)
        assert config.adversary_weight is not None
        self.weight = config.adversary_weight

    @classmethod
    def settings(cls, config: TrainingConfig) -> dict[str, Any]:
        super().settings(config)
        if config.loss is not None:
            raise InputError(f"an adversary has its own loss: leave {spell('loss')} out")
        weight = USUAL_WEIGHT if config.adversary_weight is None else config.adversary_weight
        if not 0 <= weight < math.inf:
            raise ParameterError("adversary_weight", f"must be 0 or a positive number, not {weight}")
        return {"adversary_weight": weight}

    def prepare(self, model: PreTrainedModel) -> None:
        """Raise InputError unless the weights and probabilities of both can be compared."""
        assert isinstance(model, PooledClassifier)
        for one, what in ((self.other, self.folder), (model, "the model to be trained")):
            if one.activation.signed or not one.activation.rows_sum_to_one:
                raise InputError(
                    f"the weights of {what} ({one.config.activation}) are not a distribution over tokens, "
                    f"so divergence is undefined: use {spell('attention', 'softmax')}"
                )
        if class_names(self.other) != class_names(model):
            raise InputError(
                f"{self.folder} predicts other classes than these data have: train both on the same data"
            )
        if is_regression(self.other.config):
            raise InputError(f"{self.folder} predicts ratings: an adversary needs probabilities of classes")

    def objective(
        self, model: nn.Module, features: Mapping[str, Tensor]
    ) -> tuple[Float[Tensor, " b"], Float[Tensor, "b k"]]:
        """`adversary_loss` of every text, and the logits of the model."""
        nn.Module.to(self.other, features["input_ids"].device)
        with torch.no_grad():
            other = self.other(**features, output_attentions=True)
        output = model(**features, output_attentions=True)
        losses = adversary_loss(
            output.logits.softmax(dim=-1),
            output.weights,
            other.logits.softmax(dim=-1),
            other.weights,
            self.weight,
        )
        return losses, output.logits

    @classmethod
    def remarks(cls, run: Path, folder: str, data: "DatasetDict") -> list[str]:
        """How far the maps and predictions of an adversary are from those of the run that it starts from."""
        base = Path(folder)
        texts = data["dev"]["text"]
        places = np.linspace(0, len(texts) - 1, min(len(texts), DEPARTURE_TEXTS)).round().astype(int)
        divergence = map_divergence(run, base, [texts[int(place)] for place in places])
        lines = []
        for what, finding in (("maps: JSD", divergence.maps), ("predictions: TVD", divergence.predictions)):
            low, high = finding.interval or (float("nan"),) * 2
            lines.append(
                f"{what} {finding.estimate:.3f} [{low:.3f}, {high:.3f}] from {base.name} (n = {finding.n}), "
                f"{finding.verdict}"
            )
        maps, predictions = divergence.maps.interval, divergence.predictions.interval
        near = maps is not None and maps[1] < HARDLY_MOVED
        away = predictions is not None and predictions[0] > MUCH_MOVED
        if near and away:
            lines.append(
                f"The maps hardly changed, but the predictions did: train for more {spell('epochs')}."
            )
        elif near:
            lines.append(f"The maps hardly changed: raise {spell('adversary_weight')}.")
        elif away:
            lines.append(f"The predictions changed, too: lower {spell('adversary_weight')}.")
        return lines
