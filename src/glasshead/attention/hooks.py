"""Where recording and intervening reach in: every attention module runs its calls through here."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

import torch
from torch import Tensor, nn

from glasshead.attention.attend import run
from glasshead.attention.compile_guard import STANCE
from glasshead.attention.inputs import Call


class Flow:
    """One call on its way. As long as nobody asks for its weights, a kernel serves it.

    ``scores`` and ``weights`` ``[B, H, Q, K]`` are None until then; afterwards the output is computed from
    ``weights``, which a tap may replace. With ``needs_graph`` the weights are part of the autograd graph even
    where nothing else is. ``handed`` is what the module goes on with once the taps have seen the output: the
    output itself, or ``[B, 1, Q, d_v]`` where the module ``adds`` its heads.
    """

    def __init__(
        self, module: nn.Module, call: Call, adds: bool = False, total: Callable[[], Tensor] | None = None
    ) -> None:
        self.module = module
        self.call = call
        self.adds = adds
        self.total = total
        self.scores: Tensor | None = None
        self.weights: Tensor | None = None
        self.handed: Tensor | None = None
        self.needs_graph = False

    def weigh(self) -> Tensor:
        """The weights so far, by the formula unless a tap has replaced them."""
        if self.weights is None:
            self.scores = self.call.mechanism.scores(self.call)
            self.weights = self.call.mechanism.weights(self.call, self.scores)
        return self.weights

    def output(self, backend: str) -> Tensor:
        """The output ``[B, H, Q, d_v]``: of the weights if there are any, else of a kernel."""
        if self.weights is None:
            with STANCE.compiled():
                return run(self.call, backend)
        if self.needs_graph and not self.weights.requires_grad:
            self.weights = self.weights.detach().requires_grad_()
        return self.call.mechanism.output(self.call, self.weights)

    def hand(self, output: Tensor) -> Tensor:
        """What the module goes on with; the sum is worked out as it is without taps, where it can be."""
        if not self.adds:
            return output
        if self.total is None or self.weights is not None or self.call.dropout:  # dropout draws only once
            return output.sum(dim=1, keepdim=True)
        with STANCE.compiled():
            return self.total()


class Tap(Protocol):
    """Sees every call of every module of its thread; all see it `before`, then all see it `after`."""

    def before(self, flow: Flow) -> None:
        """May ask for the weights and replace them."""

    def after(self, flow: Flow, output: Tensor) -> None:
        """Sees the final weights, if there are any, and the output ``[B, H, Q, d_v]``."""


TAPS: ContextVar[tuple[Tap, ...]] = ContextVar("glasshead_taps", default=())
"""The taps of this thread (or task), outermost first; none outside `record` and `intervene`."""


def tapped(module: nn.Module, call: Call, backend: str = "auto") -> Tensor:
    """The output of a module's attention call, through the taps where there are some."""
    # Where a model is being compiled there are no taps: they keep the compiler away.
    if torch.compiler.is_compiling() or not TAPS.get():
        return run(call, backend)
    return through(Flow(module, call), backend)


def tapped_sum(module: nn.Module, call: Callable[[], Call], total: Callable[[], Tensor]) -> Tensor:
    """``total()``, ``[B, 1, Q, d_v]``: the sum of the heads of ``call()``, which the taps alone need."""
    if torch.compiler.is_compiling() or not TAPS.get():
        return total()
    return through(Flow(module, call(), adds=True, total=total), "auto")


def tapped_weights(module: nn.Module, call: Call, adds: bool = False) -> tuple[Tensor, Tensor]:
    """Output and weights by the formula, as the taps leave them, for a module that hands its weights on."""
    if torch.compiler.is_compiling() or not TAPS.get():
        output, weights = call.mechanism(call)
        return output.sum(dim=1, keepdim=True) if adds else output, weights
    flow = Flow(module, call, adds)
    flow.weigh()
    output = through(flow, "reference")
    assert flow.weights is not None
    return output, flow.weights


def through(flow: Flow, backend: str) -> Tensor:
    """A call past all taps."""
    taps = TAPS.get()
    for tap in taps:
        tap.before(flow)
    # Laid out as [B, Q, H, d_v]: joining the heads is then a view, by which `record` knows the projection.
    output = flow.output(backend).transpose(1, 2).contiguous().transpose(1, 2)
    flow.handed = flow.hand(output)
    for tap in taps:
        tap.after(flow, output)
    return flow.handed
