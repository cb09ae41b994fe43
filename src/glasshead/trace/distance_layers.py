"""What the heads of a model have learned about distance, next to what they began with."""

import copy
from collections.abc import Iterator, Sequence

import numpy as np
from torch import nn

from glasshead.attention import DistanceAware
from glasshead.errors import InputError
from glasshead.results import LearnedParameter
from glasshead.spelling import spell

INSIDE = (".position", ".mechanism", ".attention")


def read_learned_positions(models: Sequence[nn.Module]) -> list[list[LearnedParameter]]:
    """w_h and v_h (or other learned parameters of the mapping) of every head, one list for each layer;
    ``models`` are repeats that differ in their seeds.

    Raises:
        InputError: on models that are not distance-aware, or differ in their layers.
    """
    layers = [parameters_by_layer(model) for model in models]
    names = list(layers[0])
    if not names:
        raise InputError(
            "this model has no distance-aware attention, so it has learned no w_h: "
            f"train with {spell('attention', 'distance-aware')}"
        )
    if any(list(other) != names for other in layers):
        raise InputError("these are runs of different models: repeats differ only in their seeds")
    return [
        [
            LearnedParameter(name, parameter, np.stack([one[name][parameter][0] for one in layers]), initial)
            for parameter, (_, initial) in layers[0][name].items()
        ]
        for name in names
    ]


def parameters_by_layer(model: nn.Module) -> dict[str, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Layer → parameter → its values and its initial values, both [heads]."""
    return {name: parameters(position) for name, position in distance_layers(model)}


def parameters(position: DistanceAware) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each learned parameter, with what it was before training."""
    fresh = copy.deepcopy(position)
    fresh.reset_parameters()
    pairs = zip(position.named_parameters(), fresh.parameters(), strict=True)
    return {
        name: (now.detach().cpu().numpy(), before.detach().cpu().numpy()) for (name, now), before in pairs
    }


def distance_layers(model: nn.Module) -> Iterator[tuple[str, DistanceAware]]:
    """Every distance-aware position with the name of the layer that it belongs to."""
    for name, module in model.named_modules():
        if isinstance(module, DistanceAware):
            yield layer_title(model, layer_name(name)) or type(model).__name__, module


def layer_name(module: str) -> str:
    """The layer that an attention module, or a part of one, belongs to."""
    for part in INSIDE:
        module = module.removesuffix(part)
    return module


def layer_title(model: nn.Module, layer: str) -> str:
    """A layer as plots call it, with its level in a model whose class names ``attention_levels``."""
    levels: dict[str, str] = getattr(type(model), "attention_levels", {})
    for prefix, level in levels.items():
        if layer.startswith(prefix):
            return f"{level}, {layer.removeprefix(prefix)}"
    return layer
