"""One pass over prompt and answer, teacher-forced: every token's distribution, whatever chose it."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor
from transformers import Cache, PreTrainedModel

from glasshead.huggingface import vocabulary_at


def answer_logits(
    model: PreTrainedModel, ids: Int[Tensor, "b n"], start: int, past: Cache | None = None
) -> Float[Tensor, "b answer vocabulary"]:
    """The logits of every token from ``start`` on, z_t = f(x_<t), of texts of one length, behind ``past``."""
    with vocabulary_at(model, lambda hidden: hidden[:, start - 1 :]):
        read = model(input_ids=ids[:, :-1], past_key_values=past, use_cache=past is not None)
    logits: Tensor = read.logits
    return logits
