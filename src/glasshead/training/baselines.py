"""The floor of every metric: a model that always guesses one thing, whatever it reads."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.training.metrics import class_metrics, rating_metrics

Guess = str | float


def constant_guess(described: Mapping[str, Any]) -> Guess:
    """The commonest class of train, or its mean rating, of data as `describe` tells of them.

    Raises:
        InputError: if they tell of neither.
    """
    match described:
        case {"ratings": {"train": {"mean": float(mean)}}}:
            return mean
        case {"classes": {"train": dict(counts)}} if counts and all(
            isinstance(n, int) for n in counts.values()
        ):
            return str(max(counts, key=counts.__getitem__))
    raise InputError("run.json is damaged (neither classes nor ratings of train): train again")


def floor_metrics(guess: Guess, labels: NDArray[Any]) -> dict[str, float]:
    """The metrics of always guessing it, where ``labels`` [n] are class names or ratings."""
    if not isinstance(guess, str):
        return rating_metrics(labels, np.full(len(labels), guess))
    _, codes = np.unique(np.array([*labels, guess]), return_inverse=True)
    return class_metrics(codes[:-1], np.full(len(labels), codes[-1]))


def only_class(predicted: NDArray[Any]) -> str | None:
    """The one class that a model predicts, of class names [n]; None if there are more, and of ratings."""
    classes = set() if predicted.dtype.kind == "f" else set(predicted.tolist())
    return str(classes.pop()) if len(classes) == 1 else None


def floor_record(
    described: Mapping[str, Any], pairs: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
) -> dict[str, Any]:
    """What run.json says of it, from the labels and the predictions of every split."""
    guess = constant_guess(described)
    floor = {split: floor_metrics(guess, labels) for split, (labels, _) in pairs.items()}
    return {
        "floor": {"guess": guess} | floor,
        "only_class": {split: only_class(predicted) for split, (_, predicted) in pairs.items()},
    }


def describe_guess(guess: Guess) -> str:
    """always guessing 'negative', the commonest class of train"""
    what = f"{guess!r}, the commonest class" if isinstance(guess, str) else f"{guess:.3g}, the mean rating"
    return f"always guessing {what} of train"
