"""What a copy that shares its weights cannot see of its model: whether the two still belong together."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn

PLAIN_VALUES = (int, float, str, type(None), torch.dtype, torch.device)
APART = ("_parameters", "_buffers", "_modules")


@dataclass(frozen=True)
class ModelState:
    """All of a model but the values of its weights: its modules, which weights they have, what else is set on
    them, their hooks, and the configurations. A copy that shares the weights is still one as long as the
    state of its model is the same."""

    parts: list[object]
    configs: list[dict[str, Any]]

    @classmethod
    def of(cls, model: nn.Module) -> ModelState:
        """The state now. It keeps no module alive."""
        parts: list[object] = []
        configs: dict[int, dict[str, Any]] = {}
        for module in model.modules():
            own = vars(module)
            parts += type(module), *own["_parameters"].values(), *own["_buffers"].values()
            for name, value in own.items():
                if name in APART:
                    continue
                if hasattr(value, "to_dict"):
                    configs[id(value)] = settings_of(value)
                else:
                    parts += contents_of(value)
        return cls(parts, list(configs.values()))

    def snapshot(self) -> ModelState:
        """This state, which later changes of the configurations do not reach."""
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
        return {name: settings_of(own) for name, own in value.items()}
    return [settings_of(own) for own in value] if isinstance(value, list | tuple) else value


def contents_of(value: object) -> Iterator[object]:
    """What a change of a value would change: the elements of containers, the version of a tensor, and which
    object anything else is."""
    if isinstance(value, PLAIN_VALUES):
        yield value
    elif isinstance(value, Tensor):
        yield from (value, version_of(value))
    elif isinstance(value, dict):
        yield len(value)
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
    """What changes with the numbers of a tensor; None where nothing tells of changes."""
    return None if tensor.is_inference() else (tensor._version, tensor.data_ptr())


def shares_tensors(model: nn.Module, copied: nn.Module) -> bool:
    """Whether every change of the numbers of a weight of the model reaches the copy, too."""
    own = {tensor.data_ptr() for tensor in (*model.parameters(), *model.buffers())}
    return all(tensor.data_ptr() in own for tensor in (*copied.parameters(), *copied.buffers()))
