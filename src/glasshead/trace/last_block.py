"""The last block of a model for the one row of each text that its classifier reads.

Where a model reads nothing but the row of its first (or last) token, and its last attention is edited, all
other rows of the last block are worked out for nothing. The keys and values of that attention are known from
one pass over the texts; what is left of the block runs for one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glasshead.attention import AttentionInputs, Mask, TracedCall, attend_by_call
from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.trace.hooks import AttentionHook, substitute_forward

ReadRow = Literal["first", "last"]


@dataclass(frozen=True)
class LastBlock:
    """The last block of a model, its one attention call, and the row that is read of its output."""

    module: nn.Module
    attention: nn.Module
    row: ReadRow

    def rows(self, inputs: Inputs) -> Int[Tensor, " texts"]:
        """The number of the row in each text."""
        lengths = inputs["attention_mask"].sum(dim=1)
        return torch.zeros_like(lengths) if self.row == "first" else (lengths - 1).clamp(min=0)

    @contextmanager
    def of_row(self, call: AttentionInputs, rows: Int[Tensor, " variants"]) -> Iterator[None]:
        """The block runs for one row of each text in the block of code; its attention has the keys and values
        of ``call``."""

        def forward(own: Any, *args: Any, **options: Any) -> Any:
            hidden = args[0] if args else options.get("hidden_states")
            if not isinstance(hidden, Tensor):
                raise InputError(f"{type(self.module).__name__} does not name the states that it reads")
            row = hidden[torch.arange(len(hidden), device=hidden.device), rows][:, None]
            if args:
                args = (row, *args[1:])
            else:
                options = options | {"hidden_states": row}
            return spread(own(*args, **options), hidden.shape[1])

        with (
            substitute_forward(self.module, forward),
            attend_by_call(self.attention, select_row(call, rows)),
        ):
            yield


def select_row(call: AttentionInputs, rows: Int[Tensor, " texts"]) -> AttentionInputs:
    """The call of one query of each text."""
    keys, texts = call.k.shape[2], torch.arange(len(rows), device=call.q.device)
    allowed = call.mask.allowed(call.q.device)
    if allowed.shape[2] == 1:
        allowed = allowed.expand(-1, -1, call.q.shape[2], -1)
    allowed = allowed.expand(len(rows), -1, -1, -1)[texts, :, rows][:, :, None]
    return replace(call, q=call.q[texts, :, rows][:, :, None], mask=Mask(1, keys, attn_mask=allowed))


def select_texts(call: AttentionInputs, texts: Int[Tensor, " variants"]) -> AttentionInputs:
    """The call of some of the texts, each as often as it is named."""
    mask = call.mask
    padding, pairs = mask.padding, mask.attn_mask
    return replace(
        call,
        q=call.q[texts],
        k=call.k[texts],
        v=call.v[texts],
        mask=replace(
            mask,
            padding=None if padding is None else padding[texts],
            attn_mask=pairs if pairs is None or len(pairs) == 1 else pairs[texts],
        ),
    )


def spread(output: Any, length: int) -> Any:
    """The states of one row as those of all rows: nobody reads the others."""
    if isinstance(output, Tensor) and output.ndim == 3 and output.shape[1] == 1:
        return output.expand(-1, length, -1)
    if isinstance(output, tuple | list):
        return type(output)(spread(part, length) for part in output)
    return output


class CallReader(AttentionHook):
    """Keeps the inputs of one attention call."""

    def __init__(self, model: nn.Module, layer: int) -> None:
        super().__init__(model, [layer])
        self.call: AttentionInputs | None = None

    def before(self, traced_call: TracedCall) -> None:
        if self.number(traced_call) is not None:
            self.call = traced_call.call


def has_row(call: AttentionInputs) -> bool:
    """Whether a row of the call can be worked out alone: nothing but the mask depends on where it stands."""
    mechanism = call.mechanism
    return call.bias is None and call.v.shape[-1] > 0 and not (
        mechanism.learned or mechanism.position.needs_positions or mechanism.position.changes_weights
    )  # fmt: skip
