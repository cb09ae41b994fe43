"""One pass over prompt and answer, teacher-forced: every token's distribution, whatever chose it."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor
from transformers import Cache, PreTrainedModel
from transformers.cache_utils import DynamicLayer

from glasshead.huggingface import vocabulary_at


def keeps_every_token(past: Cache) -> bool:
    """Whether every layer keeps the keys and values of every token. Layers with a window or a state do not,
    so texts cannot share a prefix."""
    return all(type(layer) is DynamicLayer for layer in past.layers)


def answer_logits(
    model: PreTrainedModel,
    ids: Int[Tensor, "b n"],
    start: int,
    past: Cache | None = None,
    *,
    source: int = 0,
) -> Float[Tensor, "b answer vocabulary"]:
    """The logits of every token from ``start`` on, z_t = f(x_<t), of texts of one length, behind ``past``;
    the first ``source`` tokens are those of an encoder."""
    with vocabulary_at(model, lambda hidden: hidden[:, start - source - 1 :]):
        inputs = split_inputs(ids[:, :-1], source)
        read = model(**inputs, past_key_values=past, use_cache=past is not None)
    logits: Tensor = read.logits
    return logits


def split_inputs(ids: Int[Tensor, "b n"], source: int) -> dict[str, Int[Tensor, "b some"]]:
    """The tokens by who reads them: the first ``source`` an encoder, if there is one, the rest a decoder."""
    if not source:
        return {"input_ids": ids}
    return {"input_ids": ids[:, :source], "decoder_input_ids": ids[:, source:]}
