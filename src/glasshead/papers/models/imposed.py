"""A pooled classifier with the attention of another one (Wiegreffe and Pinter 2019)."""

from typing import Any

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glasshead.attention import SCORE_FUNCTIONS, AttentionPooling
from glasshead.models import (
    ENCODERS,
    PooledClassifier,
    PooledConfig,
    embedding_of,
    encoder_size,
    pooling_of,
)

SCORE_FIELDS = (
    "vocab_size", "pad_token_id", "embedding_size", "encoder", "hidden_size", "score", "head_dim",
    "temperature",
)  # fmt: skip
"""What decides the form of the scores of a pooled classifier."""


class ImposedScores(nn.Module):
    """The scores s_i of another pooled classifier, which reads the same tokens and is not trained any more.

    Nothing flows back into them, and they see no dropout: every text has the same weights for good.

    Source: Wiegreffe and Pinter (2019), section 3.3, where an MLP gets the weights of an LSTM.
    """

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()
        self.embedding = embedding_of(config)
        self.encoder = ENCODERS[config.encoder](config)
        self.score = SCORE_FUNCTIONS[config.score](encoder_size(config), config.head_dim, config.temperature)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, input_ids: Int[Tensor, "b n"], mask: Bool[Tensor, "b n"]) -> Float[Tensor, "b n"]:
        scores: Tensor = self.score(self.encoder(self.embedding(input_ids), mask))
        return scores


@strict
class ImposedConfig(PooledConfig):
    """Configuration of `ImposedClassifier`.

    ``imposed`` describes the scores of another pooled classifier, by the fields `SCORE_FIELDS` of its
    configuration; the activation must be that of the other.
    """

    model_type = "glasshead-imposed"

    imposed: dict[str, Any] | None = None


class ImposedClassifier(PooledClassifier):
    """A pooled classifier without scores of its own; they are `ImposedScores`, computed from the ids."""

    config_class = ImposedConfig
    config: ImposedConfig

    def make_pooling(self, config: PooledConfig) -> AttentionPooling:
        assert isinstance(config, ImposedConfig)
        self.imposed = ImposedScores(PooledConfig(**config.imposed or {}))
        return pooling_of(config, None)

    def outside_scores(
        self, input_ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "b n"]:
        """The scores of the other model.

        Raises:
            ValueError: if there are no ids, since it has its own embeddings.
        """
        if input_ids is None:
            raise ValueError("imposed attention is computed from input_ids: give them")
        scores: Tensor = self.imposed(input_ids, mask)
        return scores

    @property
    def attention_source(self) -> str:
        """Where the attention comes from."""
        assert self.config.imposed is not None
        return f"frozen: scores of another run, of encoder {self.config.imposed['encoder']}"
