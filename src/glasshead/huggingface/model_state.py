"""What a copy that shares its weights cannot see of its model: whether the two still belong together."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn

PLAIN_VALUES = (int, float, str, type(None), torch.dtype, torch.device)
PLAIN_TYPES = {*PLAIN_VALUES, bool}
APART = ("_parameters", "_buffers", "_modules")


@dataclass(frozen=True)
class ModelState:
    """Everything about a model except the values of its weights: its modules, their weights, attributes and
    hooks, and the configurations. A copy that shares the weights is valid as long as the state of its model
    is the same."""

    parts: list[object]
    configs: list[dict[str, Any]]

    @classmethod
    def of(cls, model: nn.Module) -> ModelState:
        """The state now. It holds no reference to a module."""
        parts: list[object] = []
        configs: dict[int, dict[str, Any]] = {}
        for module in model.modules():
            own = vars(module)
            parts += type(module), *own["_parameters"].values(), *own["_buffers"].values()
            for name, value in own.items():
                if name in APART:
                    continue
                if type(value) in PLAIN_TYPES:
                    parts.append(value)
                elif hasattr(value, "to_dict"):
                    if id(value) not in configs:  # modules share one
                        configs[id(value)] = settings_of(value)
                else:
                    parts += contents_of(value)
        return cls(parts, list(configs.values()))

    def snapshot(self) -> ModelState:
        """This state, unaffected by later changes of the configurations."""
        return ModelState(self.parts, copy.deepcopy(self.configs))

    def equals(self, other: ModelState) -> bool:
        """Whether nothing differs."""
        return (
            len(self.parts) == len(other.parts)
            and all(map(is_same_entry, self.parts, other.parts))
            and self.configs == other.configs
        )


def settings_of(value: Any) -> Any:
    """The attributes of a configuration and of those in it. The configurations themselves cannot always be
    compared: those of Gemma 4 raise where their layers differ."""
    if hasattr(value, "to_dict"):
        return {name: settings_of(own) for name, own in vars(value).items()}
    if isinstance(value, dict):
        plain = are_plain(value.values())
        return dict(value) if plain else {name: settings_of(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return list(value) if are_plain(value) else [settings_of(own) for own in value]
    return value


def are_plain(values: Iterable[object]) -> bool:
    """Whether there is nothing in any of them: the names of a vocabulary are many."""
    return {*map(type, values)} <= PLAIN_TYPES


def contents_of(value: object) -> Iterator[object]:
    """What a change of a value would change: the elements of containers, the version of a tensor, and which
    object anything else is."""
    if isinstance(value, PLAIN_VALUES) or (isinstance(value, tuple) and are_plain(value)):
        yield value
    elif isinstance(value, Tensor):
        yield from (value, version_of(value))
    elif isinstance(value, dict):
        yield len(value)  # of hooks that a module does not have: most of what modules hold
        for key, element in value.items():
            yield from (*contents_of(key), *contents_of(element))
    elif isinstance(value, list | tuple | set | frozenset):
        yield len(value)
        for element in value:
            yield from contents_of(element)
    else:
        try:
            yield ref(value)
        except TypeError:  # it cannot be referred to without being kept alive
            yield id(value)


def is_same_entry(first: object, second: object) -> bool:
    """Whether two entries are one tensor, one object, or equal plain values."""
    if isinstance(first, Tensor | ReferenceType) or isinstance(second, Tensor | ReferenceType):
        return first is second
    return first is second or first == second


def version_of(tensor: Tensor) -> tuple[int, int] | None:
    """A value that changes when a tensor changes; None if changes cannot be detected."""
    return None if tensor.is_inference() else (tensor._version, tensor.data_ptr())


def shares_tensors(model: nn.Module, copied: nn.Module) -> bool:
    """Whether every change of the numbers of a weight of the model reaches the copy, too."""
    own = {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())}
    return all(tensor.data_ptr() in own for tensor in (*copied.parameters(), *copied.buffers()))
