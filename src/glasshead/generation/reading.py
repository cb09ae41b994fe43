"""One pass over prompt and answer, teacher-forced: every token's distribution, whatever chose it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import Cache, PreTrainedModel


@contextmanager
def vocabulary_rows(model: PreTrainedModel, rows: slice) -> Iterator[None]:
    """The map onto the vocabulary reads these places alone in the block: a row of logits is long."""

    def keep(module: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0][:, rows], *args[1:])

    head = model.get_output_embeddings()
    assert head is not None  # what is opened as a language model has one
    handle = head.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()


def answer_logits(
    model: PreTrainedModel, ids: Int[Tensor, "b n"], start: int, past: Cache | None = None
) -> Float[Tensor, "b answer vocabulary"]:
    """The logits of every token from ``start`` on, z_t = f(x_<t), of texts of one length, behind ``past``."""
    with vocabulary_rows(model, slice(start - 1, None)):
        read = model(input_ids=ids[:, :-1], past_key_values=past, use_cache=past is not None)
    logits: Tensor = read.logits
    return logits
