"""Read and replace the attention of models that compute it themselves: their softmax is caught on its way.

Inside their attention modules a call of softmax over ``[B, H, Q, K]``, or ``[B·H, Q, K]``, is attention;
columns of sinks (`learned_sinks`) belong to no token. It goes past the hooks of `glasshead.trace` as any
other call does, as attention of no features whose scores are all bias: weights, their gradients and edits are
there, and q, k and v are not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glasshead.attention import ACTIVE_HOOKS, AttentionInputs, Mask, Mechanism, TracedCall, mechanism
from glasshead.dispatch import MECHANISM
from glasshead.huggingface.learned_sinks import SinkColumns, SinkMechanism
from glasshead.huggingface.structure import (
    HEAD_FIELDS,
    attention_modules,
    find_undispatched_attention,
    first_int_attr,
)

CAUGHT_HEADS = "glasshead_caught_heads"
"""Attribute of an attention module whose softmax is caught: how many heads it has, 0 where no one says."""

SOFTMAX: set[Callable[..., Tensor]] = {
    torch.softmax,
    torch.special.softmax,
    nn.functional.softmax,
    Tensor.softmax,
}
HIDDEN_SCORE = -1e4
"""A score so far below the best of its row has weight 0 in every precision: the model masked the pair."""


class OpenModes(threading.local):
    """The modes that this thread has entered, innermost last."""

    def __init__(self) -> None:
        self.stack: list[CaughtSoftmax] = []


OPEN_MODES = OpenModes()


class CaughtSoftmax(TorchFunctionMode):
    """While a module runs: its softmax over keys goes past the hooks."""

    def __init__(self, module: nn.Module, batch: int, queries: int) -> None:
        super().__init__()
        self.module, self.batch, self.queries = module, batch, queries
        self.sinks = SinkColumns(module)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is nn.functional.scaled_dot_product_attention and ACTIVE_HOOKS.get():
            return self.attend(*args, **kwargs)
        if func not in SOFTMAX:
            result = func(*args, **kwargs)
            self.sinks.follow(func, args, kwargs, result)
            return result
        scores = args[0] if args else kwargs["input"]
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if scores.dtype == torch.float64:  # some name float32
            kwargs = {name: value for name, value in kwargs.items() if name != "dtype"}
            args = args[:2]
        weights = func(*args, **kwargs)
        heads = getattr(self.module, CAUGHT_HEADS)
        folded = (heads * self.batch, self.queries)  # Longformer has such scores of some queries alone
        if scores.ndim == 3 and dim in (-1, 2) and heads and scores.shape[:2] == folded:
            by_head = scores.to(weights.dtype).unflatten(0, (self.batch, heads))
            hooked = run_hooks(
                self.module, by_head, weights.unflatten(0, (self.batch, heads)), scores.new_zeros(0)
            )
            return hooked.flatten(0, 1)
        if scores.ndim == 4 and dim in (-1, 3) and heads in (0, scores.shape[1]):
            front, back = self.sinks.of(scores)
            parts = [front, scores.shape[-1] - front - back, back]
            before, own, behind = scores.to(weights.dtype).split(parts, dim=-1)
            first, middle, last = weights.split(parts, dim=-1)
            hooked = run_hooks(self.module, own, middle, torch.cat([before, behind], dim=-1))
            return torch.cat([first, hooked, last], dim=-1) if front or back else hooked
        return weights

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """Fused attention, step by step, so that its softmax is there to be caught."""
        if enable_gqa:
            groups = query.shape[-3] // key.shape[-3]
            key, value = key.repeat_interleave(groups, dim=-3), value.repeat_interleave(groups, dim=-3)
        scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones_like(scores, dtype=torch.bool).tril()
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, torch.finfo(scores.dtype).min)
        elif attn_mask is not None:
            scores = scores + attn_mask
        weights: Tensor = self.__torch_function__(torch.softmax, (), (scores, -1))
        return nn.functional.dropout(weights, dropout_p) @ value


def run_hooks(module: nn.Module, scores: Tensor, weights: Tensor, sinks: Tensor) -> Tensor:
    """The weights as the hooks leave them; ``sinks`` are scores in the same rows that belong to no token."""
    hooks = ACTIVE_HOOKS.get()
    if not hooks:
        return weights
    call = CaughtCall(module, scores, weights, sinks)
    for hook in hooks:
        hook.before(call)
    assert call.weights is not None
    if call.needs_graph and not call.weights.requires_grad:
        call.weights = call.weights.detach().requires_grad_()
    # The values are not known here, so nothing is handed on that `record` could follow to a projection.
    call.handed = scores.new_zeros(*scores.shape[:3], 0)
    for hook in hooks:
        hook.after(call, call.handed)
    return call.weights


class CaughtCall(TracedCall):
    """A call that has its weights already; its mask and bias cost copies of the scores, where one asks."""

    def __init__(self, module: nn.Module, scores: Tensor, weights: Tensor, sinks: Tensor) -> None:
        self.module, self.scores, self.weights, self.sinks = module, scores, weights, sinks
        self.handed, self.needs_graph = None, False

    @cached_property
    def call(self) -> AttentionInputs:  # type: ignore[override]
        assert self.scores is not None
        return call_of(self.module, self.scores.detach(), self.sinks.detach())


def call_of(module: nn.Module, scores: Tensor, sinks: Tensor) -> AttentionInputs:
    """The call whose scores these are: no features, all bias."""
    batch, heads, queries, keys = scores.shape
    # Where all is masked by one number nothing is: the model spreads its weight over everything.
    allowed = scores >= scores.amax(dim=-1, keepdim=True) + HIDDEN_SCORE
    square = queries == keys
    causal = square and queries > 1 and not bool(allowed.triu(1).any())
    mask = Mask(
        queries, keys, attn_mask=allowed, causal=causal, query_positions=range(queries) if square else None
    )
    attention: Mechanism = getattr(module, MECHANISM)
    if sinks.shape[-1]:
        attention = SinkMechanism(attention, sinks)
    q, k = (scores.new_zeros(batch, heads, length, 0) for length in (queries, keys))
    return AttentionInputs(attention, q, k, k, mask, scale=1.0, bias=scores.masked_fill(~allowed, 0.0))


def enter_mode(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Forward pre-hook: from here on softmax is caught, where somebody looks, and in double precision: models
    that name float32 for it would turn the mask of such a model into −∞, and rows of padding into NaN."""
    if ACTIVE_HOOKS.get() or next(module.parameters()).dtype == torch.float64:
        given = (value for value in (*args, *kwargs.values()) if isinstance(value, Tensor))
        mode = CaughtSoftmax(module, *next((state.shape[:2] for state in given if state.ndim == 3), (0, 0)))
        mode.__enter__()
        OPEN_MODES.stack.append(mode)


def leave_mode(module: nn.Module, args: Any, output: Any) -> None:
    """Forward hook: no longer, also after an exception."""
    if OPEN_MODES.stack and OPEN_MODES.stack[-1].module is module:
        OPEN_MODES.stack.pop().__exit__(None, None, None)


def softmax_modules(model: nn.Module) -> Iterator[nn.Module]:
    """The attention modules whose softmax can be caught: all, once the model attends eagerly."""
    for _, module in attention_modules(model):
        yield module
    for _, module in find_undispatched_attention(model):
        yield module


def head_count(module: nn.Module) -> int | None:
    """How many heads a module has: what a part of it says, else what its configuration says. ConvBERT's
    attention has fewer than its configuration names, since a convolution stands for the others."""
    for part in module.modules():
        for name in HEAD_FIELDS:
            if isinstance(vars(part).get(name), int):
                return int(vars(part)[name])
    return first_int_attr(module, HEAD_FIELDS)


def catch_softmax(model: nn.Module) -> None:
    """Let `record` and `intervene` see the attention of a model that dispatches none, or not to us.

    The model is changed: give an `isolated_copy`.
    """
    for module in softmax_modules(model):
        setattr(module, CAUGHT_HEADS, head_count(module) or first_int_attr(model, HEAD_FIELDS) or 0)
        module.add_module(MECHANISM, mechanism("softmax"))
        module.register_forward_pre_hook(enter_mode, with_kwargs=True)
        module.register_forward_hook(leave_mode, always_call=True)
