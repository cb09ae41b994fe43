"""The canonical signs of trained weights, fixed on the train split; the model's configuration keeps them."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import Mechanism
from glasshead.huggingface import class_names
from glasshead.models import PooledClassifier, is_regression
from glasshead.trace import (
    Gauge,
    class_sides,
    default_target,
    fix_gauges,
    head_gauges,
    target_polarity,
    text_sums,
)
from glasshead.training.tensor_dataset import Batch, TensorDataset


def store_gauge(model: PreTrainedModel, rows: TensorDataset) -> dict[str, Any] | None:
    """Fix the signs of a pooled classifier's one attention, or of all heads, and say what the run records.

    None for models of several heads of which no weight can be negative.
    """
    if isinstance(model, PooledClassifier):
        gauge = fix_pooled_gauge(model, rows)
        model.config.gauge = gauge.sign
        return asdict(gauge)
    if not any(isinstance(module, Mechanism) and module.signed for module in model.modules()):
        return None
    gauges = head_gauges(model, rows_in_batches(rows, 256))
    if gauges is not None:
        model.config.gauge = gauges["signs"]
    return gauges


def rows_in_batches(rows: TensorDataset, size: int) -> Iterator[Batch]:
    """All examples in their order."""
    for start in range(0, len(rows), size):
        yield rows.__getitems__(range(start, min(start + size, len(rows))))


def fix_pooled_gauge(model: PooledClassifier, rows: TensorDataset) -> Gauge:
    """The gauge of a pooled classifier: `glasshead.trace.fix_gauges` of its one head."""
    sums, positive, tokens = pooled_sums(model, rows)
    groups, names = class_sides(rows.labels, class_names(model), regression=is_regression(model.config))
    (gauge,) = fix_gauges(sums, groups, names, [model.activation.signed])
    share = (positive if gauge.sign > 0 else tokens - positive) / max(tokens, 1)
    return replace(gauge, positive_polarity=share)


@torch.inference_mode()
def pooled_sums(model: PooledClassifier, rows: TensorDataset) -> tuple[Float[Tensor, "texts 1 4"], int, int]:
    """`glasshead.trace.text_sums` of every text, with o towards the target or of the rating; how many o are
    positive; how many tokens there are."""
    model.eval()
    parts, positive, tokens = [], 0, 0
    for batch in rows_in_batches(rows, 1024):
        mask = batch["attention_mask"].bool()
        inputs = {key: value.to(model.device) for key, value in batch.items() if key != "labels"}
        output = model(**inputs, output_attentions=True)
        polarity = (
            output.polarity[..., 0]
            if is_regression(model.config)
            else target_polarity(output.polarity, default_target(output.logits))
        ).cpu()
        parts.append(text_sums(output.weights.cpu() * mask, polarity * mask, -1)[:, None])
        positive += int((polarity[mask] > 0).sum())
        tokens += int(mask.sum())
    return torch.cat(parts), positive, tokens
