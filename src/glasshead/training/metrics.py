"""Accuracy and macro-F1."""

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from transformers import EvalPrediction


def classification_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Share of correct predictions, and the unweighted mean of the F1 of every class."""
    predicted = np.argmax(prediction.predictions, axis=-1)
    labels = np.asarray(prediction.label_ids)
    return {
        "accuracy": float(accuracy_score(labels, predicted)),
        "macro_f1": float(f1_score(labels, predicted, average="macro", zero_division=0)),
    }
