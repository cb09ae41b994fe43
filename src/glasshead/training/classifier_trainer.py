"""Hugging Face's Trainer, with batches of texts of similar length, and with losses that need no labels."""

from typing import Any

from torch import Tensor, nn
from torch.utils.data import Sampler

from glasshead.training.length_sampler import LengthGroupedSampler
from glasshead.training.other_run import Objective
from glasshead.training.own_names_trainer import OwnNamesTrainer
from glasshead.training.tensor_dataset import TensorDataset


class ClassifierTrainer(OwnNamesTrainer):
    """The Trainer; ``by_length`` makes batches of texts of similar length, in random order. An ``objective``,
    times ``loss_scale``, is minimised in place of the loss of the labels."""

    by_length = False
    objective: Objective | None = None
    loss_scale = 1.0

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Tensor | Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        if self.objective is None:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        features = {name: tensor for name, tensor in inputs.items() if name != "labels"}
        losses, logits = self.objective(model, features)
        loss = self.loss_scale * losses.mean()
        return (loss, {"logits": logits}) if return_outputs else loss

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler | None:
        if not self.by_length:
            return super()._get_train_sampler(train_dataset)
        rows = self.train_dataset if train_dataset is None else train_dataset
        assert isinstance(rows, TensorDataset)
        return LengthGroupedSampler(rows.lengths, self.args.train_batch_size)
