"""How a classifier is built and trained, as plain data; the presets are the papers' settings."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from glasshead.attention import SCORES
from glasshead.attention.pooling import pooling_activation
from glasshead.errors import InputError
from glasshead.models import ENCODERS, MODELS
from glasshead.registry import Registry


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a trained model besides the data and the seed."""

    preset: str = "s0-paper"
    model: str = "pooled"
    # Text
    max_length: int = 128
    vocabulary_size: int = 20_000
    minimum_frequency: int = 1
    vectors: str | None = None
    # Model
    activation: str = "softmax"
    encoder: str = "none"
    score: str = "query-key"
    embedding_size: int = 100
    hidden_size: int = 100
    key_size: int = 100
    value_size: int | None = 100
    scale: float = 10.0
    dropout: float = 0.5
    bias: bool = True
    initializer_range: float = 0.1
    # Optimisation
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    batch_size: int = 32
    epochs: int = 8
    loss_scale: float = 1.0

    def __post_init__(self) -> None:
        for registry, name in (
            (MODELS, self.model),
            (ENCODERS, self.encoder),
            (SCORES, self.score),
            (OPTIMIZERS, self.optimizer),
        ):
            registry[name]  # a misspelt name raises here, before any work
        pooling_activation(self.activation)
        sizes = ("embedding_size", "hidden_size", "key_size", "value_size")
        for field in (*sizes, "max_length", "batch_size", "epochs"):
            if getattr(self, field) is not None and getattr(self, field) < 1:
                raise InputError(f"{field.replace('_', ' ')} must be at least 1, not {getattr(self, field)}")
        for field in ("scale", "learning_rate", "loss_scale", "initializer_range"):
            if not 0 < getattr(self, field) < math.inf:
                raise InputError(
                    f"{field.replace('_', ' ')} must be a positive number, not {getattr(self, field)}"
                )
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be in [0, 1), not {self.dropout}")
        if self.encoder == "lstm" and self.hidden_size % 2:
            raise InputError(f"a bidirectional LSTM needs an even hidden size, not {self.hidden_size}")

    def with_changes(self, **changes: Any) -> "Recipe":
        """A copy with every change that is not None."""
        return replace(self, **{key: value for key, value in changes.items() if value is not None})

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


OPTIMIZERS: Registry[type[torch.optim.Optimizer]] = Registry("optimizer")
OPTIMIZERS.register("adam")(torch.optim.Adam)
OPTIMIZERS.register("adadelta")(torch.optim.Adadelta)
OPTIMIZERS.register("adagrad")(torch.optim.Adagrad)
OPTIMIZERS.register("sgd")(torch.optim.SGD)

PRESETS: Registry[Recipe] = Registry("preset")

# Huang, Yang and Wang (2024), section 5.1: Adam, uniform ±0.1, dropout. Sizes, rate and epochs are ours:
# the paper leaves them to a supplement.
PRESETS.register("s0-paper")(Recipe(preset="s0-paper"))

# The settings of the published code of Huang, Yang and Wang (2024); batch size and epochs are ours.
PRESETS.register("s0-code")(
    Recipe(
        preset="s0-code",
        max_length=30,
        vocabulary_size=8_000,
        embedding_size=30,
        key_size=10,
        value_size=10,
        scale=3.0,
        optimizer="adadelta",
        learning_rate=0.5,
        batch_size=32,
        epochs=30,
        loss_scale=100.0,
    )
)

# Sun and Lu (2020), section C: context vector, plain SGD at a fixed rate, no dropout, no bias; λ = 10 as in
# their figures. Rate and epochs are ours.
PRESETS.register("s4")(
    Recipe(
        preset="s4",
        score="context",
        value_size=None,
        scale=10.0,
        dropout=0.0,
        bias=False,
        optimizer="sgd",
        learning_rate=1.0,
        epochs=30,
    )
)
