"""Titles → vectors of news; clicked news → vector of the user; click score = their inner product."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.utils.generic import ModelOutput

from glasshead.errors import InputError, ParameterError
from glasshead.models import Encoder, EncoderConfig, WordEmbedding, initialise


@strict
class NewsRecommenderConfig(EncoderConfig):
    """Configuration of `NewsRecommender`.

    When batches are made, titles are cut to their first ``max_length`` words and histories to their latest
    ``history_length`` clicks.
    """

    model_type = "glasshead-news"

    max_length: int = 30
    history_length: int = 50

    def check(self) -> None:
        super().check()
        if self.history_length < 1:
            raise ParameterError("history_length", f"must be at least 1, not {self.history_length}")
        if self.positions == "learned" and self.history_length > self.max_length:
            raise InputError(
                f"{self.history_length} clicks do not fit into {self.max_length} learned positions: use the "
                "positions 'none' or 'sinusoidal'"
            )


@dataclass
class RecommenderOutput(ModelOutput):
    """Click scores ``logits`` [B, C], −∞ where there is no candidate, and vectors of users and news.

    ``attentions`` are those of the word level, then those of the news level.
    """

    loss: Tensor | None = None
    logits: Tensor | None = None
    users: Tensor | None = None
    news: Tensor | None = None
    attentions: tuple[Tensor, ...] | None = None


class NewsRecommender(PreTrainedModel):
    """ŷ = u · n: n pools a Transformer over the words of a title, u one over the clicked news, oldest first.

    Both levels are an `Encoder` of the same configuration. A user without clicks has u = 0, so that all
    candidates tie; so has a title without a known token.

    Source: Wu et al. (2019), NRMS, with the layers of Wu, Wu and Huang (2021), section 4.1.
    """

    config_class = NewsRecommenderConfig
    config: NewsRecommenderConfig
    attention_levels: ClassVar = {"words.": "word level", "clicks.": "news level"}
    base_model_prefix = "recommender"
    main_input_name = "input_ids"

    def __init__(self, config: NewsRecommenderConfig) -> None:
        super().__init__(config)
        self.embedding: nn.Module = WordEmbedding(config)
        self.words = Encoder(config)
        self.clicks = Encoder(config)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        initialise(module, self.config)

    def get_input_embeddings(self) -> nn.Module:
        return self.embedding

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.embedding = value

    def encode_news(
        self, input_ids: Int[Tensor, "n l"], attention_mask: Tensor | None = None, need_weights: bool = False
    ) -> tuple[Float[Tensor, "n d"], tuple[Tensor, ...]]:
        """The vector of every title, and the word-level weights if requested."""
        mask = input_ids.ne(self.config.pad_token_id) if attention_mask is None else attention_mask.bool()
        vectors, weights = self.words(self.embedding(input_ids), mask, need_weights=need_weights)
        return vectors, weights

    def encode_users(
        self, news: Float[Tensor, "n d"], history: Int[Tensor, "b t"], need_weights: bool = False
    ) -> tuple[Float[Tensor, "b d"], tuple[Tensor, ...]]:
        """The vector of every history (row numbers of ``news``, −1 for padding at its end), and weights."""
        clicked, present = take_rows(news, history)
        vectors, weights = self.clicks(clicked, present, need_weights=need_weights)
        return vectors, weights

    def forward(
        self,
        input_ids: Int[Tensor, "n l"],
        history: Int[Tensor, "b t"],
        candidates: Int[Tensor, "b c"],
        attention_mask: Int[Tensor, "n l"] | None = None,
        labels: Int[Tensor, " b"] | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> RecommenderOutput:
        """Click scores of candidates. ``input_ids`` are distinct titles; ``history`` and ``candidates`` are
        their row numbers (−1: none); ``labels`` say which candidate of each row was clicked.

        The loss is −log softmax of the clicked candidate within its row (Wu et al. 2019, eq. 10 and 11).
        """
        news, word_weights = self.encode_news(input_ids, attention_mask, output_attentions)
        users, news_weights = self.encode_users(news, history, output_attentions)
        candidate_vectors, present = take_rows(news, candidates)
        scores = torch.einsum("bd,bcd->bc", users, candidate_vectors).masked_fill(~present, -torch.inf)
        return RecommenderOutput(
            loss=None if labels is None else nn.functional.cross_entropy(scores, labels),
            logits=scores,
            users=users,
            news=news,
            attentions=(*word_weights, *news_weights) if output_attentions else None,
        )


def take_rows(
    vectors: Float[Tensor, "n d"], index: Int[Tensor, "b m"]
) -> tuple[Float[Tensor, "b m d"], Bool[Tensor, "b m"]]:
    """The rows that an index names, zeros where it is −1, and where it is not."""
    present = index >= 0
    return vectors[index.clamp(min=0)].masked_fill(~present[..., None], 0.0), present
