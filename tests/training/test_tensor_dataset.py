"""Batches, metrics and losses of the Trainer."""

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, root_mean_squared_error
from transformers import EvalPrediction

from glasshead.data import Encoded
from glasshead.training.metrics import (
    class_metrics,
    classification_metrics,
    rating_metrics,
    regression_metrics,
)
from glasshead.training.tensor_dataset import TensorDataset, whole_batch
from glasshead.training.trainer import ClassifierTrainer, LengthGroupedSampler, make_scaled_loss


def rows_of(ids, labels, types=None):
    words, offsets = np.where(ids > 0, 0, -1), np.zeros((*ids.shape, 2), dtype=int)
    return TensorDataset(Encoded(ids, ids.ne(0), words, offsets, types), torch.tensor(labels))


@pytest.fixture
def rows():
    return rows_of(torch.tensor([[5, 6, 7, 0], [8, 0, 0, 0], [0, 0, 0, 0]]), [1, 0, 1])


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


def test_types_go_with_the_ids():
    ids = torch.tensor([[5, 6, 7, 0], [8, 9, 0, 0]])
    pairs = rows_of(ids, [1, 0], types=torch.tensor([[0, 1, 1, 0], [0, 1, 0, 0]]))
    assert pairs.__getitems__([1])["token_type_ids"].tolist() == [[0, 1]]
    ordered, order = pairs.by_length()
    assert order.tolist() == [1, 0]
    assert ordered.__getitems__([0, 1])["token_type_ids"].tolist() == [[0, 1, 0], [0, 1, 1]]


def test_from_short_to_long(rows):
    ordered, order = rows.by_length()
    assert order.tolist() == [2, 1, 0]
    assert ordered.lengths.tolist() == [0, 1, 3]
    assert ordered.labels.tolist() == [1, 0, 1]
    assert ordered.encoded.ids[2].tolist() == [5, 6, 7, 0]
    assert rows.lengths.tolist() == [3, 1, 0]


def test_buckets_spare_padding():
    """Lengths as they occur: most texts are short, some are ten times as long."""
    lengths = torch.randint(1, 11, (2000,), generator=torch.Generator().manual_seed(0)) ** 2
    ids = (torch.arange(100) < lengths[:, None]).long()
    rows = rows_of(ids, [0] * 2000)

    def padded(order):
        batches = [rows.__getitems__(order[start : start + 32]) for start in range(0, 2000, 32)]
        return sum(batch["input_ids"].numel() for batch in batches) / int(lengths.sum())

    class Arguments:
        train_batch_size = 32

    trainer = ClassifierTrainer.__new__(ClassifierTrainer)
    trainer.by_length = True
    trainer.args, trainer.train_dataset = Arguments, rows
    torch.manual_seed(0)
    drawn, shuffled = list(trainer._get_train_sampler()), torch.randperm(2000).tolist()
    assert sorted(drawn) == list(range(2000))
    assert drawn != list(trainer._get_train_sampler())  # another order in every epoch
    with_buckets, without = padded(drawn), padded(shuffled)
    print(f"tokens that are computed, per real one: {without:.2f} shuffled, {with_buckets:.2f} in buckets")
    assert without > 2.2
    assert with_buckets < 1.15


def test_the_last_batch_is_no_shorter_than_others():
    """What fills no batch comes last; the shortest of a pool would bias the step before an evaluation."""
    lengths = torch.randint(1, 60, (330,), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    rest = [lengths[list(LengthGroupedSampler(lengths, 32))[320:]].double().mean() for _ in range(30)]
    assert abs(torch.stack(rest).mean() - lengths.double().mean()) < 4  # 30 × 10 texts: a spread of about 1
    assert sorted(LengthGroupedSampler(lengths, 32)) == list(range(330))
    assert list(LengthGroupedSampler(lengths[:0], 32)) == []
    assert sorted(LengthGroupedSampler(lengths[:5], 32)) == list(range(5))


def test_metrics_of_ratings_by_hand():
    ratings = np.array([[1.0], [2.0], [4.0], [4.0]])
    found = regression_metrics(EvalPrediction(ratings, np.array([1.0, 4.0, 4.0, 3.0])))
    assert found == {"rmse": pytest.approx((5 / 4) ** 0.5), "mae": pytest.approx(3 / 4)}
    diverged = regression_metrics(EvalPrediction(ratings * np.nan, np.array([1.0, 4.0, 4.0, 3.0])))
    assert diverged == {"rmse": float("inf"), "mae": float("inf")}


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
    torch.testing.assert_close(make_scaled_loss(100, rated=False)({"logits": logits}, labels), 100 * expected)


def test_the_loss_of_ratings():
    outputs, labels = {"logits": torch.tensor([[1.0], [3.0]])}, torch.tensor([2.0, 1.0])
    assert make_scaled_loss(2, rated=True)(outputs, labels) == 2 * (1 + 4) / 2


@pytest.mark.parametrize("seed", range(5))
def test_metrics_are_those_of_scikit_learn(seed):
    """Of classes of which some occur in the labels or in the predictions alone."""
    rng = np.random.default_rng(seed)
    labels, predicted = rng.integers(0, 4, 30), rng.integers(1, 6, 30)
    assert class_metrics(labels, predicted) == pytest.approx({
        "accuracy": accuracy_score(labels, predicted),
        "macro_f1": f1_score(labels, predicted, average="macro", zero_division=0),
    })  # fmt: skip
    ratings, guesses = rng.normal(size=(2, 30))
    assert rating_metrics(ratings, guesses) == pytest.approx({
        "rmse": root_mean_squared_error(ratings, guesses),
        "mae": mean_absolute_error(ratings, guesses),
    })  # fmt: skip
