"""The logits of chosen places alone: a row of them is as long as the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel


@contextmanager
def vocabulary_at(model: PreTrainedModel, chosen: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """The map onto the vocabulary reads ``chosen(hidden)`` alone in the block, of hidden states [b, n, d]."""

    def keep(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (chosen(args[0]), *args[1:])

    head = model.get_output_embeddings()
    assert head is not None  # what is opened as a language model has one
    handle = head.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()
