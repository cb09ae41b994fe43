"""How a news recommender is built and trained, as plain data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from glasshead.errors import InputError, ParameterError
from glasshead.papers.models import NewsRecommenderConfig
from glasshead.registry import Registry, did_you_mean
from glasshead.training import validate_type

EMBEDDING_SIZE = 32


@dataclass(frozen=True)
class RecommenderConfig:
    """Everything that decides a trained recommender besides the logs and the seed.

    ``attention`` is the mechanism of both levels. ``positions`` are added to the vectors of words and news;
    "auto" means none where the mechanism knows places itself, else sinusoidal. ``hidden_size`` is by
    default that of the ``word_vectors``, without them 32. Embeddings of words are multiplied by √d_e
    (``scale_embedding``) whatever the mechanism, so that all read one input scale; ``layernorm_embedding``
    normalises what the layers of both levels read. ``negatives`` is K.

    Raises:
        InputError: if a value cannot be meant, before any work.
    """

    preset: str = "small"
    # Text
    title_length: int = 30
    history_length: int = 50
    vocab_size: int = 20_000
    min_freq: int = 1
    word_vectors: str | None = None
    # Model
    attention: str | dict[str, Any] = "distance-aware"
    positions: str = "auto"
    hidden_size: int | None = None
    num_hidden_layers: int = 1
    num_attention_heads: int = 2
    head_dim: int | None = 16
    value_dim: int | None = 16
    intermediate_size: int = 64
    dropout: float = 0.1
    initializer_range: float = 0.1
    scale_embedding: bool = True
    layernorm_embedding: bool = False
    # Optimisation
    negatives: int = 4
    learning_rate: float = 1e-3
    batch_size: int = 32
    epochs: int = 10
    dev_fraction: float = 0.1

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(
                self, field.name, validate_type(field.name, getattr(self, field.name), field.type)
            )
        if self.hidden_size is None and self.word_vectors is None:
            object.__setattr__(self, "hidden_size", EMBEDDING_SIZE)
        for name in ("negatives", "batch_size", "epochs", "title_length"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"must be at least 1, not {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise ParameterError("learning_rate", f"must be a positive number, not {self.learning_rate}")
        if not 0 < self.dev_fraction < 1:
            raise ParameterError("dev_fraction", f"must be between 0 and 1, not {self.dev_fraction}")
        self.model_config().check()

    def model_config(self, **overrides: Any) -> NewsRecommenderConfig:
        """The configuration of a new model, with what the logs say."""
        own = {field.name for field in fields(NewsRecommenderConfig)}
        settings = {name: value for name, value in asdict(self).items() if name in own}
        if self.hidden_size is None:  # the vectors have not been read yet: a size that any heads divide
            settings["hidden_size"] = EMBEDDING_SIZE * max(self.num_attention_heads, 1)
        return NewsRecommenderConfig(**settings | {"max_length": self.title_length} | overrides)

    def with_changes(self, **changes: Any) -> "RecommenderConfig":
        """A copy with every change that is not None, as `with_settings`."""
        return self.with_settings({name: value for name, value in changes.items() if value is not None})

    def with_settings(self, settings: Mapping[str, Any]) -> "RecommenderConfig":
        """A copy with these settings; with other vectors comes their size, unless one is given as well.

        Raises:
            InputError: on a name that is not a setting, and on a value that cannot be meant.
        """
        known = {field.name for field in fields(self)}
        for name in settings:
            if name not in known:
                raise InputError(f"a recommender has no setting {name!r}: {did_you_mean(name, known)}")
        size = {"hidden_size": None} if settings.get("word_vectors") is not None else {}
        return replace(self, **{**size, **settings})

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


NEWS_PRESETS: Registry[RecommenderConfig] = Registry("preset")
NEWS_PRESETS.register("small")(RecommenderConfig())

# Wu, Wu and Huang (2021), section 4.1: one layer, 16 heads × 16, Adam 1e-3, size 300 for their GloVe vectors
# (--vectors); K = 4 and dropout 0.2 are those of Wu et al. (2019). The other numbers are ours.
NEWS_PRESETS.register("da-transformer")(
    RecommenderConfig(
        preset="da-transformer",
        hidden_size=300,
        num_attention_heads=16,
        head_dim=16,
        value_dim=16,
        intermediate_size=512,
        dropout=0.2,
        batch_size=64,
        min_freq=2,
        epochs=5,
    )
)
