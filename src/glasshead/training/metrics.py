"""What is measured: accuracy and macro-F1 of classes, RMSE and MAE of ratings."""

import numpy as np
from numpy.typing import NDArray
from transformers import EvalPrediction


def class_metrics(labels: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[str, float]:
    """Share of correct predictions, and the unweighted mean of the F1 of every class."""
    from sklearn.metrics import accuracy_score, f1_score

    return {
        "accuracy": float(accuracy_score(labels, predicted)),
        "macro_f1": float(f1_score(labels, predicted, average="macro", zero_division=0)),
    }


def rating_metrics(labels: NDArray[np.floating], predicted: NDArray[np.floating]) -> dict[str, float]:
    """√(mean (y − ŷ)²) and mean |y − ŷ|, in units of the rating."""
    from sklearn.metrics import mean_absolute_error, root_mean_squared_error

    return {
        "rmse": float(root_mean_squared_error(labels, predicted)),
        "mae": float(mean_absolute_error(labels, predicted)),
    }


def classification_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of logits."""
    return class_metrics(np.asarray(prediction.label_ids), np.argmax(prediction.predictions, axis=-1))


def regression_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Metrics of ratings [N, 1]."""
    predicted = np.asarray(prediction.predictions, dtype=np.float64)[:, 0]
    if not np.isfinite(predicted).all():  # a training that diverged; it is refused when it ends
        return {"rmse": float("inf"), "mae": float("inf")}
    return rating_metrics(np.asarray(prediction.label_ids, dtype=np.float64), predicted)
