"""What is measured: accuracy and macro-F1 of classes, RMSE and MAE of ratings."""

import numpy as np
from numpy.typing import NDArray
from transformers import EvalPrediction


def class_metrics(labels: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy, and the unweighted mean of the F1 of every class that occurs as a label or a prediction."""
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    classes = np.union1d(labels, predicted)[:, None]
    hits = ((labels == classes) & (predicted == classes)).sum(axis=1)
    counts = (labels == classes).sum(axis=1) + (predicted == classes).sum(axis=1)
    return {"accuracy": float((labels == predicted).mean()), "macro_f1": float((2 * hits / counts).mean())}


def rating_metrics(labels: NDArray[np.floating], predicted: NDArray[np.floating]) -> dict[str, float]:
    """√(mean (y − ŷ)²) and mean |y − ŷ|, in units of the rating."""
    errors = np.asarray(labels) - np.asarray(predicted)
    return {"rmse": float(np.sqrt(np.square(errors).mean())), "mae": float(np.abs(errors).mean())}


def classification_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of logits."""
    return class_metrics(np.asarray(prediction.label_ids), np.argmax(prediction.predictions, axis=-1))


def regression_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of ratings [N, 1]."""
    predicted = np.asarray(prediction.predictions, dtype=np.float64)[:, 0]
    if not np.isfinite(predicted).all():  # a training that diverged; it is refused when it ends
        return {"rmse": float("inf"), "mae": float("inf")}
    return rating_metrics(np.asarray(prediction.label_ids, dtype=np.float64), predicted)
