"""Examples that are tensors already: a batch is one index_select, which halves the Trainer's time."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Dataset

from glasshead.data import Augmentation, Encoded

Batch = dict[str, Tensor]


class TensorDataset(Dataset[Batch]):
    """Encoded texts, or images, and their labels; a batch is cut to its longest text.

    ``augment`` changes the pixels of every batch anew, with PyTorch's own random numbers.
    """

    def __init__(self, encoded: Encoded, labels: Tensor, augment: Augmentation | None = None) -> None:
        self.encoded, self.labels, self.augment = encoded, labels, augment
        self.lengths: Int[Tensor, " texts"] = encoded.mask.sum(dim=1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Batch:
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        rows = torch.as_tensor(indices)
        longest = max(int(self.lengths[rows].max()), 1)
        inputs = self.encoded.cut(self.encoded.inputs(rows), longest)
        if self.augment is not None:
            inputs["pixel_values"] = self.augment(inputs["pixel_values"])
        return inputs | {"labels": self.labels[rows]}

    def by_length(self) -> tuple["TensorDataset", Int[Tensor, " texts"]]:
        """The texts from short to long, so that batches hold little padding, and the original place of
        each."""
        order = self.lengths.argsort(stable=True)
        return TensorDataset(self.encoded.take(order), self.labels[order]), order


def whole_batch(batch: Any) -> Batch:
    """The collator: there is nothing left to collate."""
    return batch
