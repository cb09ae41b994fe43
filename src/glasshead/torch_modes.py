"""The modes of torch in which Glasshead computes, whatever the caller has set."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
DEVICES = ("cpu", "cuda", "mps", "xpu")


class Entered(threading.local):
    """The modules of this thread that run, and the mode that each entered, innermost last; None where it was
    on already."""

    def __init__(self) -> None:
        self.stack: list[tuple[nn.Module, TorchFunctionMode | None]] = []

    def leave(self, depth: int) -> None:
        """End the modes of all but so many: an interrupt ends a module without its hooks."""
        while len(self.stack) > depth:
            _, mode = self.stack.pop()
            if mode is not None:
                mode.__exit__(None, None, None)


ENTERED = Entered()


@contextmanager
def own_modes() -> Iterator[None]:
    """Gradients on, inference mode and autocast off inside the block; as the caller had them afterwards."""
    with ExitStack() as modes:
        modes.callback(ENTERED.leave, len(ENTERED.stack))
        modes.enter_context(torch.inference_mode(mode=False))
        modes.enter_context(torch.enable_grad())
        for device in DEVICES:
            if torch.is_autocast_enabled(device):
                modes.enter_context(torch.autocast(device, enabled=False))
        yield


def in_own_modes(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorator: a public function that gives the same under ``torch.no_grad()`` and its like as outside."""

    @wraps(function)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with own_modes():
            return function(*args, **kwargs)

    return wrapper
