"""Batches of encoded texts that hold little padding and fit into memory."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor
from transformers import PretrainedConfig

from glasshead.data.encoded import Encoded

TOKENS_PER_BATCH = 16_384  # tokens of a batch, which bound the hidden states
PAIRS = 8_000_000  # pairs of tokens of a batch in all maps that are held, which bound the weights
PASS_COSTS = {"cpu": 64}
"""What a further pass costs, in tokens: so many more of padding are cheaper. Measured on MiniLM; on a GPU,
which works on many tokens at once, `LARGE_PASS_COST`."""
LARGE_PASS_COST = 2048

Inputs = dict[str, Tensor]


def length_of(inputs: Inputs) -> int:
    """How many tokens the longest text of a batch has."""
    return inputs["attention_mask"].shape[1]


def heads_of(config: PretrainedConfig) -> int:
    """How many maps a layer of the model has, the most of several kinds; 1 where it does not say."""
    return largest(getattr(config, "num_attention_heads", None))


def layers_of(config: PretrainedConfig) -> int:
    """How many layers the model has; 1 where it does not say."""
    return largest(getattr(config, "num_hidden_layers", None))


def largest(value: int | Sequence[int] | None) -> int:
    """A size, the largest of several, or 1 if there is none."""
    return max(map(int, value), default=1) if isinstance(value, Sequence) else int(value or 1)


def longest(encoded: Encoded, device: torch.device | str = "cpu") -> Inputs:
    """The model's inputs for the longest of the texts alone; for none if there are none."""
    return encoded.inputs(encoded.mask.sum(dim=1).argmax()[None] if len(encoded.ids) else slice(0), device)


def batch_size(length: int, maps: int = 1) -> int:
    """How many texts of a length make a batch, given the number of attention maps for each."""
    return max(min(TOKENS_PER_BATCH // max(length, 1), PAIRS // (maps * max(length, 1) ** 2)), 1)


def batches(
    encoded: Encoded,
    texts: Int[Tensor, " variants"] | None = None,
    device: torch.device | str = "cpu",
    *,
    maps: int = 1,
) -> Iterator[tuple[Int[Tensor, " b"], Inputs]]:
    """Places in ``texts`` (default: all; one may occur many times) and the model's inputs for these, cut to
    the longest. Long texts come first, in the batches that cost least; if padding changes predictions, each
    batch has texts of one length. ``maps`` is how many maps of weights of a text are in memory at once: the
    heads of a layer, times the layers that are recorded or differentiated."""
    if texts is None:
        texts = torch.arange(len(encoded.ids))
    lengths = encoded.mask.sum(dim=1)[texts].clamp(min=1)
    order = lengths.argsort(descending=True, stable=True)
    cost = PASS_COSTS.get(torch.device(device).type, LARGE_PASS_COST)
    start = 0
    for size in batch_sizes(lengths[order].numpy(), maps, 0 if encoded.one_length else cost):
        places = order[start : start + size]
        inputs = encoded.inputs(texts[places], device)
        yield places, encoded.cut(inputs, int(lengths[order[start]]))
        start += size


def batch_sizes(lengths: NDArray[np.int64], maps: int, cost: int) -> list[int]:
    """How many texts [N], the longest first, make each batch, so that tokens and padding and the ``cost`` of
    each batch are the least. Texts of one length stay together as far as memory allows."""
    longest, counts = (part[::-1] for part in np.unique(lengths, return_counts=True))
    ends = np.concatenate([[0], counts.cumsum()])
    most = np.array([batch_size(int(length), maps) for length in longest])
    # The least cost of all texts before the end of each length, and where the last batches of these begin.
    least, begins = np.zeros(len(ends)), np.zeros(len(ends), dtype=np.int64)
    for end in range(1, len(ends)):
        texts = ends[end] - ends[:end]
        costs = least[:end] + texts * longest[:end] + cost * -(-texts // most[:end])
        begins[end] = costs.argmin()
        least[end] = costs[begins[end]]
    sizes: list[int] = []
    end = len(longest)
    while end:
        begin = int(begins[end])
        full, rest = divmod(int(ends[end] - ends[begin]), int(most[begin]))
        sizes = [most[begin].item()] * full + [rest] * (rest > 0) + sizes
        end = begin
    return sizes
