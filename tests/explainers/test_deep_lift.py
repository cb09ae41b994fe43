"""DeepLift: right where its rules hold, refused elsewhere."""

import pytest
import torch
from torch import nn

from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from small import TEXTS, random_model, tokenizer
from tolerances import ONE_MODEL

NAME = "captum:deep-lift"
READABLE = [text for text in TEXTS if text]


def without_attention():
    """Scores of zero: every token weighs the same, so that nothing is multiplied."""
    model = random_model(activation="softmax").double()
    with torch.no_grad():
        for parameter in model.pooling.score.parameters():
            parameter.zero_()
    return model


@pytest.mark.parametrize("target_fn", ["logit", "probability"])
def test_where_its_rules_hold_it_is_exact(target_fn):
    """Contributions to z are gradient × way, and those to σ(z) the same times Δσ / Δz."""
    model = without_attention()
    found = EXPLAINERS[NAME](model, tokenizer(), READABLE, target_fn=target_fn)
    linear = EXPLAINERS["captum:integrated-gradients"](model, tokenizer(), READABLE, target_fn="logit")
    for one, other in zip(found, linear, strict=True):
        contributions = torch.tensor(other.scores).double()
        if target_fn == "probability":
            # The classes' scores are 0 and z: log-odds are z itself.
            after = torch.tensor(one.prediction).logit().double()
            before = after - contributions.sum()
            contributions *= (after.sigmoid() - before.sigmoid()) / (after - before)
        torch.testing.assert_close(torch.tensor(one.scores).double(), contributions, **ONE_MODEL)


class Twice(nn.Module):
    """One module that runs twice."""

    def __init__(self, first):
        super().__init__()
        self.first, self.tanh = first, nn.Tanh()

    def forward(self, *args):
        return self.tanh(self.tanh(self.first(*args)))


def twice():
    model = without_attention()
    model.classifier = Twice(model.classifier)
    return model


@pytest.mark.parametrize(
    "model",
    [
        lambda: random_model(activation="tanhmax"),
        lambda: random_model(activation="softmax", encoder="lstm"),
        twice,
    ],
)
def test_what_its_rules_do_not_cover_is_refused_and_left_as_it_was(model):
    model = model()
    before = {name: set(module.__dict__) for name, module in model.named_modules()}
    with pytest.raises(InputError, match="would not add up") as refused:
        EXPLAINERS[NAME](model, tokenizer(), READABLE)
    assert "\n" not in str(refused.value)
    assert {name: set(module.__dict__) for name, module in model.named_modules()} == before
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
