"""A model with the weights that its class begins with."""

import copy

import torch
from transformers import PreTrainedModel

from glasshead.huggingface.configuration import clear_spec, spec_of
from glasshead.huggingface.plug import plug
from glasshead.huggingface.readable_copy import readable_copy


def random_twin(model: PreTrainedModel, seed: int) -> PreTrainedModel:
    """A readable model of the same class and configuration, with the weights that its class begins with."""
    config = copy.deepcopy(model.config)
    spec = spec_of(config)
    clear_spec(config)
    config._attn_implementation = None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        twin = type(model)(config).eval()
        if spec is not None:
            plug(twin, spec)
    return readable_copy(twin.to(device=model.device, dtype=model.dtype))
