"""An adversary: a model that predicts as another one does, by other attention."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.models import PooledClassifier
from glasshead.training.classifier_trainer import ClassifierTrainer

FLOOR = 1e-10
"""Weights count as no less in the divergence, which would be infinite where a weight underflows."""


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


class AdversaryTrainer(ClassifierTrainer):
    """Trains a pooled classifier by `adversary_loss` against ``other``; labels only reach the metrics."""

    other: PooledClassifier
    weight: float
    loss_scale: float

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Tensor | Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        features = {name: tensor for name, tensor in inputs.items() if name != "labels"}
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
        loss = self.loss_scale * losses.mean()
        return (loss, {"logits": output.logits}) if return_outputs else loss
