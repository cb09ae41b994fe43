"""The canonical sign of every head of a model, from the data it was trained on."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.models import default_target, evaluating, target_score
from glasshead.trace.record import record


def head_gauges(
    model: PreTrainedModel, batches: Iterable[Mapping[str, Tensor]]
) -> dict[str, list[list[Any]]] | None:
    """The sign of Σ |a| ∂z/∂a for every head of every attention call, over all inputs; None if no weight is
    signed.

    ``signs``, ``margins`` and ``masses`` are [layer][head], layers in the order of a pass. z is the score of
    the target class (`glasshead.models.target_score`); margin = |Σ |a| ∂z/∂a| / Σ |a| |∂z/∂a|, whose
    denominator is the mass. Heads whose weights cannot be negative have the sign 1. ``batches`` are what the
    model is called with; other keys than its inputs (labels) are left out.

    Negating (W_k, b_k) and the value map of one head changes no output, if the activation is odd and no
    position interferes: that is what makes its sign a gauge.
    """
    totals: list[Tensor] = []
    masses: list[Tensor] = []
    signed: list[bool] = []
    with evaluating(model):
        for batch in batches:
            inputs = {name: each.to(model.device) for name, each in batch.items() if name != "labels"}
            with torch.enable_grad(), record(model, keep_graph=True) as trace:
                logits = model(**inputs).logits
            value = target_score(logits, default_target(logits)).sum()
            records = list(trace.only)
            signed = signed or [each.call.mechanism.signed for each in records]
            if not any(signed):
                return None
            weights = [each.weights for each in records]
            slopes = torch.autograd.grad(value, weights, allow_unused=True)
            for layer, (a, slope) in enumerate(zip(weights, slopes, strict=True)):
                pull = a.detach().double().abs() * (0.0 if slope is None else slope.double())
                total, mass = (each.sum(dim=(0, 2, 3)).cpu() for each in (pull, pull.abs()))
                if layer == len(totals):
                    totals.append(torch.zeros_like(total))
                    masses.append(torch.zeros_like(mass))
                totals[layer] += total
                masses[layer] += mass
    if not totals:
        return None
    return {
        "signs": [
            torch.where(total < 0, -1, 1).tolist() if turns else [1] * len(total)
            for total, turns in zip(totals, signed, strict=True)
        ],
        "margins": [
            torch.where(mass > 0, total.abs() / mass.clamp(min=1e-300), 0.0).tolist()
            for total, mass in zip(totals, masses, strict=True)
        ],
        "masses": [mass.tolist() for mass in masses],
    }
