"""Batches, metrics and losses of the Trainer."""

import numpy as np
import pytest
import torch
from transformers import EvalPrediction

from glasshead.training.metrics import classification_metrics
from glasshead.training.rows import TensorRows, whole_batch
from glasshead.training.train import scaled_loss


@pytest.fixture
def rows():
    ids = torch.tensor([[5, 6, 7, 0], [8, 0, 0, 0], [0, 0, 0, 0]])
    return TensorRows(ids, ids.ne(0), torch.tensor([1, 0, 1]))


def test_a_batch_is_as_long_as_its_longest_text(rows):
    batch = whole_batch(rows.__getitems__([1, 0]))
    assert batch["input_ids"].tolist() == [[8, 0, 0], [5, 6, 7]]
    assert batch["attention_mask"].tolist() == [[True, False, False], [True, True, True]]
    assert batch["labels"].tolist() == [0, 1]


def test_a_batch_of_empty_texts_keeps_one_place(rows):
    batch = rows[2]
    assert batch["input_ids"].tolist() == [[0]]
    assert batch["attention_mask"].tolist() == [[False]]


def test_size(rows):
    assert len(rows) == 3


def test_metrics_by_hand():
    logits = np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 3.0], [1.0, 0.0]])
    metrics = classification_metrics(EvalPrediction(logits, np.array([0, 1, 0, 0])))
    # Class 0: precision 1, recall 2/3; class 1: precision 1/2, recall 1.
    assert metrics["accuracy"] == 0.75
    assert metrics["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)


def test_metrics_of_one_class_have_no_nan():
    metrics = classification_metrics(EvalPrediction(np.array([[0.0, 1.0]]), np.array([0])))
    assert metrics == {"accuracy": 0, "macro_f1": 0}


def test_the_loss_is_scaled():
    logits, labels = torch.tensor([[0.0, 2.0], [0.0, -1.0]]), torch.tensor([1, 1])
    expected = torch.nn.functional.softplus(-logits[:, 1]).mean()
    torch.testing.assert_close(scaled_loss(100)({"logits": logits}, labels), 100 * expected)
