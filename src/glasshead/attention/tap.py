"""Where recording and intervening reach in: every attention module runs its calls through here."""

from contextvars import ContextVar
from typing import Protocol

from torch import Tensor, nn

from glasshead.attention.attend import run
from glasshead.attention.call import Call


class Tap(Protocol):
    """Sees every call of every module, and returns its output ``[B, H, Q, d_v]``."""

    def __call__(self, module: nn.Module, call: Call, backend: str) -> Tensor: ...


TAP: ContextVar[Tap | None] = ContextVar("glasshead_tap", default=None)
"""The tap of this thread (or task); None outside `record` and `intervene`."""


def tapped(module: nn.Module, call: Call, backend: str = "auto") -> Tensor:
    """The output of a module's attention call, through the tap where there is one."""
    tap = TAP.get()
    return run(call, backend) if tap is None else tap(module, call, backend)
