"""Which way attention scores move, whatever the score function and the loss.

Huang, Yang and Wang (2024), section 3: ds_i/dτ = −Δ_I · ∂R/∂s_i with Δ_I ≥ 0 (eq. 4), so that the score
function changes how fast a score moves and not which way, and a loss acts on all tokens of a text alike.
That holds for Q_i and K_i of every token as parameters of their own. Here all tokens share two maps.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.models import PooledClassifier
from glasshead.papers.dynamics.callback import DynamicsCallback
from glasshead.papers.dynamics.observers.pooled import PooledObserver
from glasshead.papers.dynamics.snapshots import CurveRow, Snapshot, mean_curve
from glasshead.training import LOSSES, USUAL_LOSS, TrainingConfig


class ScoreMotion(NamedTuple):
    """``rate`` [v] is ds_e/dτ of every token as all parameters run downhill, ``pull`` [v] is −∂R/∂s_e,
    summed over the places of the token: the direction in which its score would move if it were free."""

    rate: Float[Tensor, " v"]
    pull: Float[Tensor, " v"]


def score_motion(model: PooledClassifier, batch: Mapping[str, Tensor], loss: str = USUAL_LOSS) -> ScoreMotion:
    """How the score of every token of a vocabulary moves on a batch under gradient flow, dθ/dτ = −∂R/∂θ.

    Raises:
        InputError: if scores depend on the text, or are those of another model.
    """
    if model.config.encoder == "lstm" or model.attention_source is not None:
        raise InputError(
            "tokens have separate scores only without an LSTM and without the scores of another run"
        )
    held = dict(model.named_parameters())
    inputs = {name: tensor.to(model.device) for name, tensor in batch.items()}
    labels = inputs.pop("labels")
    output = model(**inputs, output_attentions=True)
    risk = LOSSES[loss](output.logits, labels)
    *slopes, by_place = torch.autograd.grad(risk, [*held.values(), output.scores], allow_unused=True)
    descent = {
        name: torch.zeros_like(part) if slope is None else -slope
        for (name, part), slope in zip(held.items(), slopes, strict=True)
    }

    def scores(parameters: dict[str, Tensor]) -> Tensor:
        table = parameters["embedding.weight"][None]
        mask = table.new_ones(table.shape[:2], dtype=torch.bool)
        hidden = call_part(model, "encoder", parameters, table, mask)
        return call_part(model, "pooling.score", parameters, hidden)[0]

    free = {name: part.detach() for name, part in held.items()}
    rate = torch.func.jvp(scores, (free,), (descent,))[1]
    mask = inputs["attention_mask"].bool()
    pull = torch.zeros_like(rate).index_add(0, inputs["input_ids"][mask], -by_place[mask])
    return ScoreMotion(rate.detach(), pull)


def call_part(
    model: PooledClassifier, part: str, parameters: Mapping[str, Tensor], *inputs: Tensor
) -> Tensor:
    """What a module of a model makes of inputs with these parameters of the model."""
    own = {
        name.removeprefix(f"{part}."): value
        for name, value in parameters.items()
        if name.startswith(f"{part}.")
    }
    result: Tensor = torch.func.functional_call(model.get_submodule(part), own, inputs)
    return result


def direction_callback(truth: Mapping[str, str] | None = None, every: int | None = None) -> DynamicsCallback:
    """A callback that records, in addition to `dynamics_callback`, in which direction the scores of each
    group move.

    Curves by group: ``follows`` is the share of tokens whose ds/dτ has the sign of −∂R/∂s; ``as LOSS`` is
    the share whose ds/dτ has the sign that it would have under another loss. Where nothing moves there is
    no sign, as under a hinge loss that is 0.
    """
    return DynamicsCallback(partial(DirectionObserver, truth=truth), every)


class DirectionObserver(PooledObserver):
    """A `PooledObserver` that also sees which way scores move."""

    def __init__(self, *, recipe: TrainingConfig, **inputs: Any) -> None:
        super().__init__(recipe=recipe, **inputs)
        self.loss = recipe.loss or USUAL_LOSS

    def snapshot(self, model: PreTrainedModel) -> Snapshot:
        """What there is to see now."""
        assert isinstance(model, PooledClassifier)
        taken = super().snapshot(model)
        motions = {name: score_motion(model, self.batch, name) for name in LOSSES}
        own = motions[self.loss]
        signs = {"follows": same_sign(own.rate, own.pull)}
        signs |= {f"as {name}": same_sign(own.rate, other.rate) for name, other in motions.items()}
        curves: list[CurveRow] = []
        present = np.bincount(
            self.batch["input_ids"][self.batch["attention_mask"].bool()].numpy(), minlength=len(own.rate)
        )
        for group, ids in self.groups.members.items():
            present_ids = ids[present[ids] > 0]
            for name, values in signs.items():
                known = values[present_ids][~np.isnan(values[present_ids])]
                curves += mean_curve(name, group, known)
        taken.curves.extend(curves)
        return taken


def same_sign(first: Tensor, second: Tensor) -> NDArray[np.float64]:
    """1 where two numbers have the same sign, 0 where they have not, NaN where one of them is 0."""
    same = (first.sign() == second.sign()).double()
    return same.masked_fill((first == 0) | (second == 0), torch.nan).cpu().numpy()
