"""Accuracy, F1 and errors of ratings are those of scikit-learn, which takes seconds to import."""

import numpy as np
import pytest
from sklearn import metrics

from glasshead.training import class_metrics, rating_metrics


@pytest.mark.parametrize("classes", [1, 2, 5, 40])
def test_classes(classes):
    rng = np.random.default_rng(classes)
    labels, predicted = rng.integers(0, classes, (2, 30))
    expected = {
        "accuracy": metrics.accuracy_score(labels, predicted),
        "macro_f1": metrics.f1_score(labels, predicted, average="macro", zero_division=0),
    }
    assert class_metrics(labels, predicted) == pytest.approx(expected)


def test_ratings():
    labels, predicted = np.random.default_rng(0).normal(size=(2, 30))
    expected = {
        "rmse": metrics.root_mean_squared_error(labels, predicted),
        "mae": metrics.mean_absolute_error(labels, predicted),
    }
    assert rating_metrics(labels, predicted) == pytest.approx(expected)
