"""Examples that are tensors already: a batch is one index_select, which halves the Trainer's time."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Dataset

from glasshead.data import Encoded

Batch = dict[str, Tensor]


class TensorDataset(Dataset[Batch]):
    """Encoded texts and their labels; a batch is cut to its longest text."""

    def __init__(self, encoded: Encoded, labels: Tensor) -> None:
        self.encoded, self.labels = encoded, labels
        self.lengths: Int[Tensor, " texts"] = encoded.mask.sum(dim=1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Batch:
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        rows = torch.as_tensor(indices)
        longest = max(int(self.lengths[rows].max()), 1)
        inputs = {name: tensor[:, :longest] for name, tensor in self.encoded.inputs(rows).items()}
        return inputs | {"labels": self.labels[rows]}

    def by_length(self) -> tuple["TensorDataset", Int[Tensor, " texts"]]:
        """The same texts from short to long, so that batches hold little padding, and where each stood."""
        order = self.lengths.argsort(stable=True)
        encoded, types = self.encoded, self.encoded.types
        ordered = encoded._replace(
            ids=encoded.ids[order],
            mask=encoded.mask[order],
            words=encoded.words[order],
            offsets=encoded.offsets[order],
            types=None if types is None else types[order],
        )
        return TensorDataset(ordered, self.labels[order]), order


def whole_batch(batch: Any) -> Batch:
    """The collator: there is nothing left to collate."""
    return batch
