"""Batches of encoded texts that hold little padding and fit into memory."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PretrainedConfig

from glasshead.data.encoded import Encoded

TOKENS_PER_BATCH = 16_384  # tokens of a batch, which bound the hidden states
PAIRS = 8_000_000  # pairs of tokens of a batch in all maps that are held, which bound the weights
BUCKET = 0.75
"""A text that is shorter than this share of the longest begins another batch: padding costs as words do."""
SMALL_BATCH = 512
"""So few tokens are one batch whatever their lengths: a pass of its own would cost more."""

Inputs = dict[str, Tensor]


def length_of(inputs: Inputs) -> int:
    """How many tokens the longest text of a batch has."""
    return inputs["attention_mask"].shape[1]


def heads_of(config: PretrainedConfig) -> int:
    """How many maps a layer of the model has; 1 where it does not say."""
    return int(getattr(config, "num_attention_heads", None) or 1)


def layers_of(config: PretrainedConfig) -> int:
    """How many layers the model has; 1 where it does not say."""
    return int(getattr(config, "num_hidden_layers", None) or 1)


def longest(encoded: Encoded, device: torch.device | str = "cpu") -> Inputs:
    """The model's inputs for the longest of the texts alone; for none where there are none."""
    return encoded.inputs(encoded.mask.sum(dim=1).argmax()[None] if len(encoded.ids) else slice(0), device)


def batch_size(length: int, maps: int = 1) -> int:
    """How many texts of so many tokens make a batch, with so many maps of weights of each."""
    return max(min(TOKENS_PER_BATCH // max(length, 1), PAIRS // (maps * max(length, 1) ** 2)), 1)


def batches(
    encoded: Encoded,
    texts: Int[Tensor, " variants"] | None = None,
    device: torch.device | str = "cpu",
    *,
    maps: int = 1,
) -> Iterator[tuple[Int[Tensor, " b"], Inputs]]:
    """Places in ``texts`` (all, unless given; one may stand there many times) and the model's inputs for
    these, cut to the longest; long texts first, and none that is much shorter than the longest of its batch.
    ``maps`` is how many maps of weights of a text are held at once: the heads of a layer, times the layers
    that are recorded or differentiated."""
    if texts is None:
        texts = torch.arange(len(encoded.ids))
    lengths = encoded.mask.sum(dim=1)[texts].clamp(min=1)
    order = lengths.argsort(descending=True, stable=True)
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        places = order[start : start + batch_size(longest, maps)]
        begun = torch.arange(len(places)) * longest < SMALL_BATCH
        places = places[begun | (lengths[places] >= BUCKET * longest)]
        inputs = encoded.inputs(texts[places], device)
        yield places, encoded.cut(inputs, longest)
        start += len(places)
