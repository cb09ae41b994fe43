"""What is recorded of which model."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from transformers import PreTrainedModel

from glasshead.errors import InputError, ParameterError
from glasshead.language import BlockDataset
from glasshead.models import PooledClassifier, is_regression
from glasshead.papers.dynamics.callback import DynamicsCallback, Observer
from glasshead.papers.dynamics.observers.language import LanguageObserver
from glasshead.papers.dynamics.observers.pooled import PooledObserver
from glasshead.papers.dynamics.observers.transformer import TransformerObserver
from glasshead.spelling import spell


def dynamics_callback(truth: Mapping[str, str] | None = None, every: int | None = None) -> DynamicsCallback:
    """A callback that records how attention develops, of a classifier or a language model; ``truth`` is the
    group in which a word was planted.

    Raises:
        InputError: if ``every`` is below 1.
    """
    if every is not None and every < 1:
        raise ParameterError("every", f"must be a number of steps from 1, not {every}")
    return DynamicsCallback(partial(make_observer, truth), every)


def make_observer(
    truth: Mapping[str, str] | None, *, model: PreTrainedModel, rows: Any, **inputs: Any
) -> Observer:
    """The observer that fits a model, and the ``rows`` of train that it learns from.

    Raises:
        InputError: for ratings by one learned query, and for a model whose attention cannot be seen.
    """
    if isinstance(rows, BlockDataset):
        return LanguageObserver(model=model, rows=rows, **inputs)
    if isinstance(model, PooledClassifier):
        if is_regression(model.config):
            raise InputError(
                f"{spell('DynamicsCallback')} of {spell('model', 'pooled')} is for classes: words have no "
                "polarity where ratings "
                "are predicted (the layers of the models 'encoder' and 'hierarchical' can be recorded)"
            )
        return PooledObserver(model=model, truth=truth, rows=rows, **inputs)
    return TransformerObserver(model=model, rows=rows, **inputs)
