"""What a copy that shares its weights cannot see of its model: whether the two still belong together."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

PLAIN = (int, float, str, type(None), torch.dtype, torch.device)
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
                if isinstance(value, dict):
                    if value:
                        parts.append(tuple(value))  # hooks have numbers
                elif isinstance(value, PLAIN):
                    parts.append(value)
                elif isinstance(value, Tensor):
                    parts += value, version_of(value)
                elif hasattr(value, "to_dict"):
                    configs[id(value)] = vars(value)
                else:
                    parts.append(id(value))
        return cls(parts, list(configs.values()))

    def snapshot(self) -> ModelState:
        """This state, which later changes of the configurations do not reach."""
        return ModelState(self.parts, copy.deepcopy(self.configs))

    def equals(self, other: ModelState) -> bool:
        """Whether nothing differs."""
        return (
            len(self.parts) == len(other.parts)
            and all(map(same_part, self.parts, other.parts))
            and self.configs == other.configs
        )


def same_part(first: object, second: object) -> bool:
    """Whether two entries are one tensor, or equal."""
    if isinstance(first, Tensor) or isinstance(second, Tensor):
        return first is second
    return first is second or first == second


def version_of(tensor: Tensor) -> tuple[int, int] | None:
    """What changes with the numbers of a tensor; None where nothing tells of changes."""
    return None if tensor.is_inference() else (tensor._version, tensor.data_ptr())


def shares_tensors(model: nn.Module, copied: nn.Module) -> bool:
    """Whether every change of a weight of the model reaches the copy, too."""
    own = {id(tensor) for tensor in (*model.parameters(), *model.buffers())}
    return all(id(tensor) in own for tensor in (*copied.parameters(), *copied.buffers()))
