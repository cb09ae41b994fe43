"""One snapshot of a model whose training was not recorded: what the parameters alone tell."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.models import PooledClassifier, is_regression
from glasshead.opening import Run
from glasshead.papers.dynamics.forms.select import form_of, no_closed_form_reason, read_parameters
from glasshead.papers.dynamics.observers import make_observer
from glasshead.papers.dynamics.observers.pooled import PooledObserver
from glasshead.papers.dynamics.snapshots import as_columns
from glasshead.papers.results import CURVES, PRODUCTS, History, canonical_history
from glasshead.trace import eval_mode
from glasshead.training import TensorDataset, TrainingConfig


def history_from_trained_run(
    run: Run, rows: TensorDataset | None, truth: Mapping[str, str] | None = None
) -> History:
    """A history with a single snapshot, of the trained model; without train ``rows`` it contains what the
    parameters alone give.

    Raises:
        InputError: for ratings by one learned query, and without rows for a model whose scores depend on the
            texts.
    """
    check_not_regression(run)
    recipe = config_of(run.record)
    if rows is not None:
        observer = make_observer(truth, model=run.model, tokenizer=run.tokenizer, rows=rows, recipe=recipe)
    elif isinstance(run.model, PooledClassifier):
        observer = PooledObserver(
            model=run.model, tokenizer=run.tokenizer, rows=None, counts=run.counts, recipe=recipe, truth=truth
        )
    else:
        raise InputError(f"the attention of {run.folder} depends on texts: name the data it was trained on")
    with eval_mode(run.model):
        snapshot = observer.snapshot(run.model)
    curves = [(0, *row) for row in snapshot.curves]
    products = [(0, *row) for row in snapshot.products]
    size = len(next(iter(observer.token_facts.values()))) if observer.token_facts else 0
    tokens = (
        {"step": np.zeros(size, dtype=np.int64)} | observer.token_facts | snapshot.columns()
        if observer.token_facts
        else {}
    )
    facts = observer.facts | {
        "steps": None,
        "every": None,
        "learning_rate": recipe.learning_rate,
        "best_step": None,
    }
    history = History(facts, as_columns(CURVES, curves), as_columns(PRODUCTS, products), tokens)
    return (
        canonical_history(history, run.model.config.gauge)
        if isinstance(run.model, PooledClassifier)
        else history
    )


def check_not_regression(run: Run) -> None:
    """Raise InputError for ratings by one learned query, which the theory does not cover."""
    if isinstance(run.model, PooledClassifier) and is_regression(run.model.config):
        raise InputError(f"{run.folder} predicts ratings: words have no polarity, so there is no history")


def config_of(record: dict[str, Any]) -> TrainingConfig:
    """The recipe of a run, without fields that this version does not know."""
    names = {field.name for field in fields(TrainingConfig)}
    return TrainingConfig(**{name: value for name, value in record["recipe"].items() if name in names})


def token_score(model: PreTrainedModel, token: int) -> tuple[float, list[float]] | None:
    """The score and polarities of a token that was not followed; None if they depend on its text."""
    if no_closed_form_reason(model) is not None:
        return None
    assert isinstance(model, PooledClassifier)
    tokens = form_of(model).tokens(read_parameters(model), model.config.temperature)
    return float(tokens.score[token]), tokens.polarity[token].tolist()
