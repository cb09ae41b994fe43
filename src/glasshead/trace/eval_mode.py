"""Dropout off for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from transformers import PreTrainedModel


@contextmanager
def eval_mode(model: PreTrainedModel) -> Iterator[None]:
    """Turn off dropout inside the block, and restore it afterwards."""
    if not any(module.training for module in model.modules()):
        yield
        return
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)
