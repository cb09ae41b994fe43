"""What recording and intervening share: which call of which model this is, and for how long to look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import PreTrainedModel

from glasshead.attention import ACTIVE_HOOKS, COMPILE_GUARD, TracedCall
from glasshead.errors import InputError
from glasshead.huggingface import CAUGHT_HEADS, class_name, lacks_attention, no_attention


class AttentionHook:
    """A hook that numbers the attention calls of one model: 0, 1, … in the order of each forward pass.

    A pass is one forward call of the model. A call outside of it (an encoder alone, as in `generate`) is a
    separate pass. Calls of other models, and of other threads, are ignored.
    """

    def __init__(self, model: nn.Module, layers: Iterable[int] | None) -> None:
        self.model = model
        self.names: dict[nn.Module, str] = {
            module: name or type(module).__name__ for name, module in model.named_modules()
        }
        self.layers = None if layers is None else validate_layers(layers)
        self.counts: list[int] = []
        """How many attention calls each pass had."""
        self.passing = False

    def before(self, traced_call: TracedCall) -> None:
        """Nothing to do ahead of the output."""

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        """Nothing to do after it."""

    def number(self, traced_call: TracedCall) -> int | None:
        """The layer number of this call in its pass; None if it is not recorded. Ask once for each call."""
        if traced_call.module not in self.names:
            return None
        layer = self._count(1)
        return layer if self.layers is None or layer in self.layers else None

    def skip(self, module: nn.Module, calls: int) -> None:
        """Count the calls of a part of the model that is not run again."""
        if module in self.names:
            self._count(calls)

    def _count(self, calls: int) -> int:
        """The number of the next call of the pass, before so many are counted."""
        if not self.passing:
            refuse_checkpointing(self.model)
            self.counts.append(0)
            self.passing = True
        self.counts[-1] += calls
        return self.counts[-1] - calls

    def end_pass(self, *_: object) -> None:
        """Later calls belong to another pass."""
        if self in ACTIVE_HOOKS.get():  # another thread may run the same model
            self.passing = False

    def hooks(self) -> list[RemovableHandle]:
        """Hooks for the time of the block."""
        return [
            self.model.register_forward_pre_hook(self.end_pass),
            self.model.register_forward_hook(self.end_pass, always_call=True),
        ]

    def check(self) -> None:
        """Raise InputError if no call ran in the block, or not the requested ones."""
        if not self.counts:
            kind = class_name(self.model)
            if any(hasattr(module, CAUGHT_HEADS) for module in self.model.modules()):
                raise InputError(
                    f"{kind} computes its attention itself, but not as a map of tokens × tokens (in bands, "
                    "or fused): use 'gradient' or 'erasure-delete'"
                )
            if isinstance(self.model, PreTrainedModel) and lacks_attention(self.model):
                raise InputError(no_attention(self.model))
            raise InputError(
                f"no attention of {kind} ran in the block: call plug(model, 'softmax') first, and the model "
                "itself inside the block"
            )
        missing = sorted((self.layers or frozenset()) - set(range(max(self.counts))))
        if missing:
            raise InputError(
                f"{class_name(self.model)} has no attention layer {missing[0]}: "
                f"they are numbered 0 to {max(self.counts) - 1}, in the order in which they are called"
            )


def thread_hook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook of a module that sees only the passes of this thread, since others may run the same model."""
    thread = threading.get_ident()

    def of_thread(*args: Any) -> Any:
        return hook(*args) if threading.get_ident() == thread else None

    return of_thread


@contextmanager
def attach_hook(hook: AttentionHook) -> Iterator[None]:
    """Let a hook see the calls of this thread; afterwards the model is unchanged, also after an error.

    Raises:
        InputError: at the end of the block, if no call was seen.
    """
    with ExitStack() as stack:
        stack.enter_context(COMPILE_GUARD.eager())
        for handle in hook.hooks():
            stack.callback(handle.remove)
        token = ACTIVE_HOOKS.set((*ACTIVE_HOOKS.get(), hook))
        stack.callback(ACTIVE_HOOKS.reset, token)
        yield
    hook.check()


def validate_layers(layers: Iterable[int]) -> frozenset[int]:
    """Layer numbers."""
    if isinstance(layers, Iterable) and not isinstance(layers, str):
        numbers = list(layers)
        if numbers and all(isinstance(number, int) and number >= 0 for number in numbers):
            return frozenset(numbers)
    raise InputError(f"the layers must be a list of numbers from 0, not {layers!r}")


def refuse_checkpointing(model: nn.Module) -> None:
    """Raise InputError where layers would run a second time, unseen, in the backward pass."""
    if any(
        getattr(module, "gradient_checkpointing", False) and module.training for module in model.modules()
    ):
        raise InputError(
            "gradient checkpointing runs every layer twice: "
            "call model.activation_checkpointing_disable() or model.eval() before recording or intervening"
        )


Forward = Callable[..., Any]
"""``forward(own, *args, **options)``: what a module does instead, given its own forward."""

FORWARDS: ContextVar[Mapping[nn.Module, Forward]] = ContextVar(
    "glasshead_forwards", default=MappingProxyType({})
)
"""What modules do instead in this thread."""

SUBSTITUTES: dict[nn.Module, Substitute] = {}
"""The modules that are substituted in some thread."""
SUBSTITUTES_LOCK = threading.Lock()


@contextmanager
def substitute_forward(module: nn.Module, forward: Forward) -> Iterator[None]:
    """In the block, a module runs another function. Its hooks work as before, and other threads that run
    the module are not affected."""
    with SUBSTITUTES_LOCK:
        substitute = SUBSTITUTES.get(module) or Substitute(module)
        SUBSTITUTES[module] = substitute
        substitute.blocks += 1
        module.forward = substitute
    token = FORWARDS.set({**FORWARDS.get(), module: forward})
    try:
        yield
    finally:
        FORWARDS.reset(token)
        with SUBSTITUTES_LOCK:
            substitute.blocks -= 1
            if not substitute.blocks:
                del SUBSTITUTES[module]
                substitute.restore()


class Substitute:
    """The forward of a module that runs something else in some threads, in so many ``blocks`` of code."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self.own, self.blocks = module, module.forward, 0
        self.of_instance = "forward" in vars(module)

    def __call__(self, *args: Any, **options: Any) -> Any:
        instead = FORWARDS.get().get(self.module)
        return self.own(*args, **options) if instead is None else instead(self.own, *args, **options)

    def restore(self) -> None:
        """The module has its own forward again."""
        del self.module.forward
        if self.of_instance:
            self.module.forward = self.own
