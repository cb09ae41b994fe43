"""Where recording and intervening reach in: every attention module runs its calls through here."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Protocol

import torch
from torch import Tensor, nn

from glasshead.attention.attend import run_kernel
from glasshead.attention.compile_guard import COMPILE_GUARD
from glasshead.attention.mechanism import AttentionInputs


class TracedCall:
    """One attention call while it runs. A kernel computes it until its weights are requested.

    ``scores`` and ``weights`` ``[B, H, Q, K]`` are None until then; afterwards the output is computed from
    ``weights``, which a hook may replace. With ``needs_graph`` the weights are part of the autograd graph
    even where nothing else is. ``handed`` is what the module continues with after the hooks have seen the
    output: the output itself, or ``[B, 1, Q, d_v]`` where the module ``adds`` its heads.
    """

    def __init__(
        self,
        module: nn.Module,
        call: AttentionInputs,
        adds: bool = False,
        total: Callable[[], Tensor] | None = None,
    ) -> None:
        self.module = module
        self.call = call
        self.adds = adds
        self.total = total
        self.scores: Tensor | None = None
        self.weights: Tensor | None = None
        self.handed: Tensor | None = None
        self.needs_graph = False

    def compute_weights(self) -> Tensor:
        """The weights so far, by the formula unless a hook has replaced them."""
        if self.weights is None:
            self.scores = self.call.mechanism.scores(self.call)
            self.weights = self.call.mechanism.weights(self.call, self.scores)
        return self.weights

    def output(self, kernel: str) -> Tensor:
        """The output ``[B, H, Q, d_v]``, from the weights if there are any, else from a kernel."""
        if self.weights is None:
            with COMPILE_GUARD.allow_compiled_kernel():
                return run_kernel(self.call, kernel)
        if self.needs_graph and not self.weights.requires_grad:
            self.weights = self.weights.detach().requires_grad_()
        return self.call.mechanism.output(self.call, self.weights)

    def final_output(self, output: Tensor) -> Tensor:
        """What the module continues with; where possible, the sum is computed as it is without hooks."""
        if not self.adds:
            return output
        if self.total is None or self.weights is not None or self.call.dropout:  # dropout draws only once
            return output.sum(dim=1, keepdim=True)
        with COMPILE_GUARD.allow_compiled_kernel():
            return self.total()


class KernelHook(Protocol):
    """Sees every call of every module of its thread; all see it `before`, then all see it `after`."""

    def before(self, traced_call: TracedCall) -> None:
        """May ask for the weights and replace them."""

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        """Sees the final weights, if there are any, and the output ``[B, H, Q, d_v]``."""


ACTIVE_HOOKS: ContextVar[tuple[KernelHook, ...]] = ContextVar("glasshead_hooks", default=())
"""The hooks of this thread (or task), outermost first; none outside `record` and `intervene`."""

KNOWN_CALLS: ContextVar[Mapping[nn.Module, AttentionInputs]] = ContextVar(
    "glasshead_known_calls", default=MappingProxyType({})
)
"""Calls of this thread that need not be put together from what a module was given."""


@contextmanager
def attend_by_call(module: nn.Module, call: AttentionInputs) -> Iterator[None]:
    """A module attends by this call in the block, with any queries, keys and values."""
    token = KNOWN_CALLS.set({**KNOWN_CALLS.get(), module: call})
    try:
        yield
    finally:
        KNOWN_CALLS.reset(token)


def has_hooks() -> bool:
    """Whether somebody records or intervenes; where a model is being compiled there are no hooks, since they
    keep the compiler away."""
    return not torch.compiler.is_compiling() and bool(ACTIVE_HOOKS.get())


def run_hooked(module: nn.Module, call: AttentionInputs, kernel: str = "auto") -> Tensor:
    """The output of a module's attention call, through the hooks where there are some."""
    if not has_hooks():
        return run_kernel(call, kernel)
    return apply_hooks(TracedCall(module, call), kernel)


def run_hooked_sum(
    module: nn.Module, call: Callable[[], AttentionInputs], total: Callable[[], Tensor]
) -> Tensor:
    """``total()``, ``[B, 1, Q, d_v]``: the sum of the heads of ``call()``, which the hooks alone need."""
    if not has_hooks():
        return total()
    return apply_hooks(TracedCall(module, call(), adds=True, total=total), "auto")


def run_hooked_weights(module: nn.Module, call: AttentionInputs, adds: bool = False) -> tuple[Tensor, Tensor]:
    """Output and weights by the formula, as the hooks leave them, for a module that passes its weights on."""
    if not has_hooks():
        output, weights = call.mechanism(call)
        return output.sum(dim=1, keepdim=True) if adds else output, weights
    traced_call = TracedCall(module, call, adds)
    traced_call.compute_weights()
    output = apply_hooks(traced_call, "reference")
    assert traced_call.weights is not None
    return output, traced_call.weights


def apply_hooks(traced_call: TracedCall, kernel: str) -> Tensor:
    """A call past all hooks."""
    hooks = ACTIVE_HOOKS.get()
    for hook in hooks:
        hook.before(traced_call)
    # Laid out as [B, Q, H, d_v]: joining the heads is then a view, by which `record` knows the projection.
    output = traced_call.output(kernel).transpose(1, 2).contiguous().transpose(1, 2)
    traced_call.handed = traced_call.final_output(output)
    for hook in hooks:
        hook.after(traced_call, output)
    return traced_call.handed
