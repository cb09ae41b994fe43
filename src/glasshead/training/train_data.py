"""What training data tell about a model trained elsewhere: classes of its words, signs of its heads."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import UnitReader, align_labels, occurrences
from glasshead.errors import InputError
from glasshead.huggingface import class_names, isolated_copy
from glasshead.models import is_regression
from glasshead.spelling import spell
from glasshead.trace import Subject
from glasshead.training.build_model import encoded_split
from glasshead.training.store_gauge import store_gauge
from glasshead.training.tensor_dataset import TensorDataset

if TYPE_CHECKING:
    from datasets import Dataset
    from numpy.typing import NDArray


def with_train_data(subject: Subject, split: "Dataset") -> Subject:
    """A subject with train counts of every token in every class, and with the signs of its heads fixed.

    Raises:
        InputError: if the labels are not what the model predicts.
    """
    labels, note = labels_for(subject.model, split)
    rated = is_regression(subject.model.config)
    target = torch.tensor(labels, dtype=torch.float32 if rated else torch.long)
    rows = TensorDataset(encoded_split(subject.tokenizer, split), target)
    model = isolated_copy(subject.model)
    gauge = store_gauge(model, rows)
    of_words = not isinstance(subject.tokenizer, UnitReader)
    counts = train_counts(model, subject.tokenizer, rows) if of_words else None
    notes = subject.notes if note is None else (*subject.notes, f"training data: {note}")
    return replace(subject, model=model, counts=counts, gauge=gauge, notes=notes)


def train_counts(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: TensorDataset
) -> "NDArray[np.int64]":
    """How often each token stands in the texts of each class [classes, vocabulary]; of ratings, in all."""
    classes = torch.zeros(len(rows), dtype=torch.long) if is_regression(model.config) else rows.labels
    return occurrences(rows.encoded, classes, classes=len(class_names(model)), vocabulary=len(tokenizer))


def labels_for(model: PreTrainedModel, split: "Dataset") -> "tuple[NDArray[np.generic], str | None]":
    """The labels of a split as the model's classes, or its ratings, and a remark on how they were matched.

    Raises:
        InputError: if the split has ratings where the model has classes, or the reverse, or a class that the
            model does not know.
    """
    labels = np.array(split["label"][:])
    names = getattr(split.features["label"], "names", None)
    if is_regression(model.config):
        if names is not None:
            raise InputError(
                f"the model predicts ratings, but the data have the classes {', '.join(names)}: read them "
                f"with {spell('task', 'regression')}"
            )
        return labels.astype(float), None
    known = class_names(model)
    if names is None:
        raise InputError(f"the model knows the classes {', '.join(known)}, but the data have ratings")
    order, note = align_labels(known, names)
    return order[labels], note
