"""How much memory an audit will need, before it begins."""

from __future__ import annotations

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.data import PAIRS, TOKENS_PER_BATCH, Encoded, heads_of, layers_of
from glasshead.errors import InputError
from glasshead.huggingface import free_memory, gigabytes, kept_arithmetic
from glasshead.opening import dtype_name
from glasshead.spelling import spell

HIDDEN, INTERMEDIATE = 10, 2
"""Vectors of a token that a layer keeps for a gradient: of the hidden size, and of the feed-forward's."""
MAPS = 4
"""Tensors of the size of the weights that live at once: scores, weights, gradient, and one on the way."""
NUMBERS_PER_TOKEN = 24
"""Numbers that are kept of every token: weights, polarity, contributions, importance, erased predictions."""


def check_memory(model: PreTrainedModel, encoded: Encoded, dtype: torch.dtype) -> None:
    """Raise InputError if an audit of these texts would not fit into the memory of the model's device."""
    free, needed = free_memory(model.device), audit_memory(model, encoded, dtype)
    if free is None or needed <= free:
        return
    (texts, longest), nouns = encoded.ids.shape, encoded.nouns
    shorter = f" or shorter ones ({spell('max_length')})" if encoded.in_line else ""
    coarser = f", or use {spell('dtype', 'float32')}" if dtype == torch.float64 else ""
    raise InputError(
        f"the audit of {nouns.count(texts)} of up to {longest:,} {nouns.tokens} in {dtype_name(dtype)} needs "
        f"about {gigabytes(needed)} and {model.device} has {gigabytes(free)} free: give fewer {nouns.texts} "
        f"({spell('limit')}){shorter}{coarser}"
    )


def audit_memory(model: PreTrainedModel, encoded: Encoded, dtype: torch.dtype) -> int:
    """Bytes that an audit needs next to the model: copies of its weights, the largest batch, the results."""
    texts, longest = encoded.ids.shape
    config = model.config.get_text_config()
    size = torch.finfo(dtype).bits // 8
    hidden = int(getattr(config, "hidden_size", None) or 0)
    widths = getattr(config, "intermediate_size", None) or 4 * hidden
    intermediate = max(widths) if isinstance(widths, list | tuple) else int(widths)  # Gemma 3n: by layer
    layers, heads = layers_of(config) + decoder_layers_of(config), heads_of(config)
    copies = {dtype, torch.float32} - {model.dtype} if dtype != torch.float64 else {dtype, torch.float32}
    if kept_arithmetic(model) is not None:
        copies = set()
    weights = model.num_parameters() * sum(torch.finfo(kind).bits // 8 for kind in copies)
    pairs = longest**2
    batch = max(min(texts, TOKENS_PER_BATCH // longest, PAIRS // (heads * layers * pairs)), 1)
    kept = batch * layers * (longest * (HIDDEN * hidden + INTERMEDIATE * intermediate) + MAPS * heads * pairs)
    variants = texts * longest  # every text without one of its tokens
    batch = max(min(variants, TOKENS_PER_BATCH // longest, PAIRS // (heads * pairs)), 1)
    passed = batch * (longest * (HIDDEN * hidden + INTERMEDIATE * intermediate) + MAPS * heads * pairs)
    return weights + max(kept, passed) * size + texts * longest * NUMBERS_PER_TOKEN * 8


def decoder_layers_of(config: PreTrainedConfig) -> int:
    """How many layers is next to those of an encoder; none in a model that has one stack."""
    if not getattr(config, "is_encoder_decoder", False):
        return 0
    return int(getattr(config, "decoder_layers", None) or getattr(config, "num_decoder_layers", None) or 0)
