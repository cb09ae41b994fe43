"""Replace attention weights while a model runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn

from glasshead.attention import AttentionInputs, TracedCall
from glasshead.errors import InputError
from glasshead.trace.hooks import AttentionHook, attach_hook

Edit = Callable[[int, Tensor, AttentionInputs], Tensor]
"""(layer, weights ``[B, H, Q, K]``, call) → weights; the call has q, k, v and the mask."""


@contextmanager
def intervene(model: nn.Module, edit: Edit, layers: Iterable[int] | None = None) -> Iterator[None]:
    """Let a model that runs in the block attend with other weights.

    ``edit(layer, weights, call)`` gives the weights that the output of the layer is computed from, dropout
    and relative values included; gradients flow through them. The layers that were not chosen keep their
    kernels. Blocks nest: the outer edit comes first, and a `record` around or inside sees the final weights.

    Raises:
        InputError: if no attention of the model ran in the block, if a layer does not exist, if the edit
        does not give finite weights of the same shape and type that are zero where the mask forbids, and
        under gradient checkpointing.
    """
    with attach_hook(InterveneHook(model, edit, layers)):
        yield


class InterveneHook(AttentionHook):
    """The hook behind `intervene`."""

    def __init__(self, model: nn.Module, edit: Edit, layers: Iterable[int] | None) -> None:
        super().__init__(model, layers)
        self.edit = edit

    def before(self, traced_call: TracedCall) -> None:
        layer = self.number(traced_call)
        if layer is not None:
            weights = traced_call.compute_weights()
            edited = self.edit(layer, weights, traced_call.call)
            check_edit(edited, weights, traced_call.call, layer)
            traced_call.weights = edited


def check_edit(edited: object, weights: Tensor, call: AttentionInputs, layer: int) -> None:
    """Raise InputError unless these can be weights of the call."""
    if not isinstance(edited, Tensor):
        raise InputError(f"the edit of layer {layer} returned {type(edited).__name__}: return the weights")
    for kind in ("shape", "dtype", "device"):
        actual, wanted = getattr(edited, kind), getattr(weights, kind)
        if actual != wanted:
            actual, wanted = (list(value) if kind == "shape" else value for value in (actual, wanted))
            raise InputError(f"the edit of layer {layer} returned weights of {kind} {actual}, not {wanted}")
    if not bool(edited.isfinite().all()):
        raise InputError(f"the edit of layer {layer} returned weights that are not finite")
    if bool(edited.masked_fill(call.mask.allowed(edited.device), 0.0).any()):
        raise InputError(
            f"the edit of layer {layer} gave weight to keys that the mask forbids: "
            "call.mask.allowed(weights.device) says which are allowed"
        )
