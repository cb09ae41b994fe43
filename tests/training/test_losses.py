"""What a classifier is trained to make small."""

import pytest
import torch

from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.opening import MEASURED, read_object, read_record
from glasshead.training import LOSSES, TrainingConfig, preset_config, train
from glasshead.training.trainer import make_scaled_loss


@pytest.fixture
def logits():
    return torch.randn(40, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def labels():
    return torch.arange(40) % 2


def test_two_classes_by_their_margin(logits, labels):
    """With z = z₁ − z₀ and t = ±1: log(1 + e^{−tz}), (σ(z) − y)² and max(0, 1 − tz)."""
    z, t = logits[:, 1] - logits[:, 0], 2.0 * labels - 1
    truths = {
        "cross-entropy": torch.nn.functional.softplus(-t * z),
        "squared": (z.sigmoid() - labels) ** 2,
        "hinge": (1 - t * z).clamp(min=0),
    }
    assert set(truths) == set(LOSSES)
    for name, truth in truths.items():
        torch.testing.assert_close(LOSSES[name](logits, labels), truth.mean())


def test_hinge_of_three_classes_asks_for_the_best_other():
    logits = torch.tensor([[2.0, 1.5, -1.0], [0.0, 3.0, 1.0], [0.2, 0.1, 0.0]])
    labels = torch.tensor([0, 1, 2])
    assert float(LOSSES["hinge"](logits, labels)) == pytest.approx((0.5 + 0.0 + 1.2) / 3)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "hinge" else pytest.mark.slow) for name in LOSSES]
)
def test_a_training_makes_its_loss_small(name, tmp_path):
    data = load("synthetic", LoadOptions(generator={"instances": 400, "neutral_words": 50, "polar_words": 5}))
    recipe = preset_config("s0-paper", None).with_changes(loss=name, epochs=4, learning_rate=0.01)
    folder = train(data, recipe, tmp_path / "run")
    metrics = read_object(folder / MEASURED)
    assert read_record(folder)["recipe"]["loss"] == name
    epochs = [epoch["loss"] for epoch in metrics["epochs"]]
    assert epochs[-1] < 0.5 * epochs[0]
    assert metrics["test"]["accuracy"] > 0.9


def test_the_usual_loss_is_not_written_down():
    assert "loss" not in TrainingConfig().as_dict()


def test_what_cannot_be_meant():
    with pytest.raises(InputError, match="unknown loss 'hnge'"):
        TrainingConfig(loss="hnge")
    with pytest.raises(InputError, match="ratings are trained by squared error"):
        make_scaled_loss(1.0, rated=True, name="hinge")
