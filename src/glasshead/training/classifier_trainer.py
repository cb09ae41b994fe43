"""Hugging Face's Trainer, whose batches may be of texts of similar length."""

from typing import Any

from torch.utils.data import Sampler

from glasshead.training.length_sampler import LengthGroupedSampler
from glasshead.training.own_names_trainer import OwnNamesTrainer
from glasshead.training.tensor_dataset import TensorDataset


class ClassifierTrainer(OwnNamesTrainer):
    """The Trainer; ``by_length`` makes batches of texts of similar length, in random order."""

    by_length = False

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler | None:
        if not self.by_length:
            return super()._get_train_sampler(train_dataset)
        rows = self.train_dataset if train_dataset is None else train_dataset
        assert isinstance(rows, TensorDataset)
        return LengthGroupedSampler(rows.lengths, self.args.train_batch_size)
