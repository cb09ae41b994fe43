"""The logits of chosen places alone: a row of them is as long as the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel


@contextmanager
def vocabulary_at(model: PreTrainedModel, chosen: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """In the block, the map onto the vocabulary reads only ``chosen(hidden)`` of the hidden states [b, n, d].

    MobileBERT multiplies by the weights of its map and never calls it, so only the chosen logits are kept.
    ProphetNet maps the states of several next tokens at once, [b, tokens, n, d].
    """
    was_called = False

    def keep(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        nonlocal was_called
        was_called = True
        hidden: Tensor = args[0]
        if hidden.ndim == 4:
            return (torch.stack([chosen(states) for states in hidden.unbind(1)], dim=1), *args[1:])
        return (chosen(hidden), *args[1:])

    def keep_logits(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if not was_called:
            output.logits = chosen(output.logits)

    head = model.get_output_embeddings()
    assert head is not None  # what is opened as a language model has one
    handles = [head.register_forward_pre_hook(keep), model.register_forward_hook(keep_logits)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
