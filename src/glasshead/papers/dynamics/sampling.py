"""The texts of a training that are observed."""

import torch
from jaxtyping import Int
from torch import Tensor

from glasshead.training import TensorDataset


def choose_sample(rows: TensorDataset, size: int) -> Int[Tensor, " n"]:
    """A seeded choice of the texts in which there is something to attend to, in their order."""
    nonempty = torch.nonzero(rows.lengths > 0).flatten()
    order = torch.randperm(len(nonempty), generator=torch.Generator().manual_seed(0))
    return nonempty[order[:size]].sort().values
