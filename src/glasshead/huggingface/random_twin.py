"""A model with newly initialised weights."""

import copy

from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.dispatch import clear_spec, spec_of
from glasshead.huggingface.half_weights import (
    keep_halves,
    kept_arithmetic,
    narrow_products,
    products_of,
)
from glasshead.huggingface.module_classifier import ModuleClassifier
from glasshead.huggingface.plug import plug
from glasshead.huggingface.readable_copy import readable_copy
from glasshead.huggingface.task_model import TaskModel
from glasshead.random_numbers import use_seed


def random_twin(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A readable model of the same class and configuration, with newly initialised weights."""
    config = copy.deepcopy(model.config)
    spec = spec_of(config)
    clear_spec(config)
    config._attn_implementation = None
    with use_seed(seed):
        twin = new_like(model, config).eval()
        if spec is not None:
            plug(twin, spec)
    twin = readable_copy(twin.to(device=model.device, dtype=model.dtype))
    dtype = kept_arithmetic(model)
    if dtype is not None:
        keep_halves(twin, dtype)
    if (half := products_of(model)) is not None:
        narrow_products(twin, half)
    return twin


def new_like(model: PreTrainedModel, config: PreTrainedConfig) -> PreTrainedModel:
    """A model of the same class with new weights."""
    if isinstance(model, TaskModel | ModuleClassifier):
        return model.rebuild(config)
    return type(model)(config)
