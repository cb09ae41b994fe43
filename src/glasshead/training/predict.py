"""What a trained model predicts for each example, and its metrics."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import logsumexp, softmax
from transformers import PreTrainedModel

from glasshead.huggingface import class_names
from glasshead.models import is_regression
from glasshead.training.metrics import class_metrics, rating_metrics
from glasshead.training.tensor_dataset import TensorDataset

if TYPE_CHECKING:
    from transformers import Trainer

PREDICTIONS = "predictions.parquet"
RATING_COLUMNS = ("dev", "test")
PREDICTION_COLUMNS = ("split", "index", "label", "predicted", "probability")


def predict(trainer: "Trainer", rows: TensorDataset) -> np.ndarray:
    """Logits, or ratings [N, 1], of every example in its order."""
    ordered, order = rows.by_length()
    outputs = np.asarray(trainer.predict(ordered).predictions, dtype=np.float64)
    in_order = np.empty_like(outputs)
    in_order[order.numpy()] = outputs
    return in_order


def write_predictions(
    model: PreTrainedModel, outputs: dict[str, np.ndarray], rows: dict[str, TensorDataset], out: Path
) -> dict[str, dict[str, float]]:
    """Write one row for each predicted example, and give the metrics of each split.

    The columns are split, index (the row of the split), label, predicted, and the probability of the
    predicted class; of ratings there is none.
    """
    metrics: dict[str, dict[str, float]] = {}
    tables = []
    for split, logits in outputs.items():
        labels = rows[split].labels.numpy()
        names = class_names_of(model, logits, rows[split])
        if is_regression(model.config):
            predicted = logits[:, 0]
            metrics[split] = rating_metrics(labels, predicted)
            metrics[split]["loss"] = float(np.mean((predicted - labels) ** 2))
            columns = [
                *(pa.array(values, pa.float64()) for values in names),
                pa.nulls(len(labels), pa.float64()),
            ]
        else:
            probabilities = softmax(logits, axis=-1)
            metrics[split] = class_metrics(labels, logits.argmax(axis=-1))
            metrics[split]["loss"] = float(np.mean(example_cross_entropy(logits, labels)))
            columns = [*map(pa.array, names), pa.array(probabilities.max(axis=-1))]
        index = pa.array(np.arange(len(labels)))
        tables.append(pa.table([pa.array([split] * len(labels)), index, *columns], names=PREDICTION_COLUMNS))
    pq.write_table(pa.concat_tables(tables), out)
    return metrics


def class_names_of(
    model: PreTrainedModel, outputs: np.ndarray, rows: TensorDataset
) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predictions of every example, as class names or ratings."""
    labels = rows.labels.numpy()
    if is_regression(model.config):
        return labels, outputs[:, 0]
    names = np.array(class_names(model), dtype=object)
    return names[labels], names[outputs.argmax(axis=-1)]


def example_cross_entropy(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """−log p(label) of each example."""
    return logsumexp(logits, axis=-1) - logits[np.arange(len(labels)), labels]
