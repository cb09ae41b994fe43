"""Batches of encoded texts that hold little padding and fit into memory."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from glasshead.data.encode import Encoded

TOKENS = 16_384  # tokens of a batch, which bound the hidden states
PAIRS = 2_000_000  # pairs of tokens of a batch, which bound the weights of a head

Inputs = dict[str, Tensor]


def batches(
    encoded: Encoded, texts: Int[Tensor, " variants"] | None = None, device: torch.device | str = "cpu"
) -> Iterator[tuple[Int[Tensor, " b"], Inputs]]:
    """Places in ``texts`` (all, unless given; one may stand there many times) and the model's inputs for
    these, cut to the longest; long texts first."""
    if texts is None:
        texts = torch.arange(len(encoded.ids))
    lengths = encoded.mask.sum(dim=1)[texts]
    order = lengths.argsort(descending=True, stable=True)
    start = 0
    while start < len(order):
        longest = max(int(lengths[order[start]]), 1)
        size = max(min(TOKENS // longest, PAIRS // longest**2), 1)
        places = order[start : start + size]
        inputs = encoded.inputs(texts[places], device)
        yield places, {name: each[:, :longest] for name, each in inputs.items()}
        start += size
