"""The canonical signs of trained weights, fixed on the train split; the model's configuration keeps them."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import torch
from transformers import PreTrainedModel

from glasshead.attention import Mechanism
from glasshead.models import (
    Gauge,
    PooledClassifier,
    default_target,
    fix_gauge,
    is_regression,
    target_polarity,
)
from glasshead.trace import head_gauges
from glasshead.training.rows import Batch, TensorRows


def gauge_on(model: PreTrainedModel, rows: TensorRows) -> dict[str, Any] | None:
    """Fix the signs of a pooled classifier's one attention, or of all heads, and say what the run records.

    None for models of several heads of which no weight can be negative.
    """
    if isinstance(model, PooledClassifier):
        gauge = pooled_gauge(model, rows)
        model.config.gauge = gauge.sign
        return asdict(gauge)
    if not any(isinstance(each, Mechanism) and each.signed for each in model.modules()):
        return None
    gauges = head_gauges(model, batches(rows, 256))
    if gauges is not None:
        model.config.gauge = gauges["signs"]
    return gauges


def batches(rows: TensorRows, size: int) -> Iterator[Batch]:
    """All examples in their order."""
    for start in range(0, len(rows), size):
        yield rows.__getitems__(range(start, min(start + size, len(rows))))


@torch.inference_mode()
def pooled_gauge(model: PooledClassifier, rows: TensorRows) -> Gauge:
    """The sign for which Σ |a_i| o_i, towards the target or of the rating, is positive."""
    model.eval()
    parts = []
    for batch in batches(rows, 1024):
        mask = batch["attention_mask"]
        inputs = {key: value.to(model.device) for key, value in batch.items() if key != "labels"}
        output = model(**inputs, output_attentions=True)
        polarity = (
            output.polarity[..., 0]
            if is_regression(model.config)
            else target_polarity(output.polarity, default_target(output.logits))
        )
        parts.append((output.weights.cpu()[mask], polarity.cpu()[mask]))
    weights, polarities = (torch.cat(part)[None] for part in zip(*parts, strict=True))
    mask = torch.ones_like(weights, dtype=torch.bool)
    return fix_gauge(weights, polarities, mask, signed=model.activation.signed)
