"""What is measured: accuracy and macro-F1 of classes, RMSE and MAE of ratings."""

import numpy as np
from numpy.typing import NDArray
from transformers import EvalPrediction


def class_metrics(labels: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[str, float]:
    """Share of correct predictions, and the unweighted mean of the F1 of every class that occurs:
    2 TP / (2 TP + FP + FN)."""
    right = labels == predicted
    f1 = [
        2 * (right & (labels == one)).sum() / ((labels == one).sum() + (predicted == one).sum())
        for one in np.union1d(labels, predicted)
    ]
    return {"accuracy": float(right.mean()), "macro_f1": float(np.mean(f1))}


def rating_metrics(labels: NDArray[np.floating], predicted: NDArray[np.floating]) -> dict[str, float]:
    """√(mean (y − ŷ)²) and mean |y − ŷ|, in units of the rating."""
    error = labels - predicted
    return {"rmse": float(np.sqrt(np.mean(error**2))), "mae": float(np.mean(np.abs(error)))}


def classification_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of logits."""
    return class_metrics(np.asarray(prediction.label_ids), np.argmax(prediction.predictions, axis=-1))


def regression_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of ratings [N, 1]."""
    predicted = np.asarray(prediction.predictions, dtype=np.float64)[:, 0]
    if not np.isfinite(predicted).all():  # a training that diverged; it is refused when it ends
        return {"rmse": float("inf"), "mae": float("inf")}
    return rating_metrics(np.asarray(prediction.label_ids, dtype=np.float64), predicted)
