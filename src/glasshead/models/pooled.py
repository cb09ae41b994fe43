"""Embedding → encoder → attention pooling → linear, after Sun and Lu 2020 and Huang, Yang and Wang 2024."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformers import PreTrainedConfig
from transformers import initialization as init
from transformers.utils.generic import ModelOutput

from glasshead.attention import SCORE_FUNCTIONS, Activation, AttentionPooling, pooling_activation
from glasshead.errors import InputError, ParameterError
from glasshead.models.text_classifier import TextClassifier, output_size
from glasshead.registry import Registry


@strict
class PooledConfig(PreTrainedConfig):
    """Configuration of `PooledClassifier`.

    ``gauge`` is the sign (+1 or −1) that makes signed weights canonical; training sets it (see
    `glasshead.trace.sign_gauge`). It changes how weights are shown, never what the model computes.
    """

    model_type = "glasshead-pooled"
    attribute_map = {"attention": "activation"}  # noqa: RUF012 (as Transformers declares it)

    vocab_size: int = 8000
    pad_token_id: int = 0
    embedding_size: int = 100
    initializer_range: float = 0.1
    encoder: str = "none"
    hidden_size: int = 100
    score: str = "context"
    head_dim: int = 100
    value_dim: int | None = None
    temperature: float = 1.0
    activation: str = "softmax"
    dropout: float = 0.0
    bias: bool = True
    gauge: int = 1

    def check(self) -> None:
        """Raise InputError on values that no model can be built from."""
        for registry, name in ((ENCODERS, self.encoder), (SCORE_FUNCTIONS, self.score)):
            registry[name]
        pooling_activation(self.activation)
        for name in ("embedding_size", "hidden_size", "head_dim", "value_dim"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ParameterError(name, f"must be at least 1, not {getattr(self, name)}")
        for name in ("temperature", "initializer_range"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(name, f"must be a positive number, not {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise ParameterError("dropout", f"must be in [0, 1), not {self.dropout}")
        if self.encoder == "lstm" and self.hidden_size % 2:
            raise InputError(f"a bidirectional LSTM needs an even hidden size, not {self.hidden_size}")


@dataclass
class PooledOutput(ModelOutput):
    """Logits and, on request, everything the prediction is made of.

    ``scores``, ``weights`` [B, n]; ``polarity`` [B, n, K'] is what a token would add to the class scores at
    weight 1 (K' = 1 for binary tasks); ``attentions`` holds the weights as Hugging Face lays them out,
    [B, 1, 1, n].
    """

    loss: Tensor | None = None
    logits: Tensor | None = None
    attentions: tuple[Tensor, ...] | None = None
    scores: Tensor | None = None
    weights: Tensor | None = None
    polarity: Tensor | None = None


class NoEncoder(nn.Module):
    """h_i = e_i."""

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()

    def forward(self, embeddings: Float[Tensor, "b n e"], mask: Tensor) -> Float[Tensor, "b n d"]:
        return embeddings


class AffineEncoder(nn.Module):
    """h_i = M e_i (Sun and Lu 2020, eq. 56)."""

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()
        self.map = nn.Linear(config.embedding_size, config.hidden_size, bias=False)

    def forward(self, embeddings: Float[Tensor, "b n e"], mask: Tensor) -> Float[Tensor, "b n d"]:
        return self.map(embeddings)


class LSTMEncoder(nn.Module):
    """Bidirectional LSTM with d/2 units each way (Sun and Lu 2020, G.1); padding is never read."""

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            config.embedding_size, config.hidden_size // 2, batch_first=True, bidirectional=True
        )

    def forward(self, embeddings: Float[Tensor, "b n e"], mask: Tensor) -> Float[Tensor, "b n d"]:
        # Packing refuses empty sequences; the single position they get is masked in the pooling.
        lengths = mask.sum(dim=1).clamp(min=1).cpu()
        packed = pack_padded_sequence(embeddings, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=mask.shape[1])[0]


ENCODERS: Registry[type[nn.Module]] = Registry("encoder")
ENCODERS.register("none")(NoEncoder)
ENCODERS.register("affine")(AffineEncoder)
ENCODERS.register("lstm")(LSTMEncoder)


def embedding_of(config: PooledConfig) -> nn.Embedding:
    """A vector for every token."""
    return nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)


def encoder_size(config: PooledConfig) -> int:
    """d, the size of the encoder's output."""
    return config.embedding_size if config.encoder == "none" else config.hidden_size


def pooling_of(config: PooledConfig, score: str | None) -> AttentionPooling:
    """The pooling of a configuration, with that score function; None: scores are passed to it."""
    return AttentionPooling(
        encoder_size(config),
        score=score,
        activation=config.activation,
        temperature=config.temperature,
        head_dim=config.head_dim,
        value_dim=config.value_dim,
    )


class PooledClassifier(TextClassifier):
    """A text classifier with one attention output over words.

    z = (Σ_i a_i v_i)ᵀ W + b; binary logits are [0, z], so their softmax is the sigmoid of the papers.
    K > 2 classes have K weight vectors (Sun and Lu 2020, eq. 72). Labels only ever reach the loss.
    """

    config_class = PooledConfig
    config: PooledConfig
    base_model_prefix = "pooled"

    def __init__(self, config: PooledConfig) -> None:
        super().__init__(config)
        self.embedding = embedding_of(config)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = ENCODERS[config.encoder](config)
        self.pooling = self.make_pooling(config)
        value_dim = config.value_dim or encoder_size(config)
        self.classifier = nn.Linear(value_dim, output_size(config), bias=config.bias)
        self.post_init()

    def make_pooling(self, config: PooledConfig) -> AttentionPooling:
        """Make the pooling of encoded tokens into one vector."""
        return pooling_of(config, config.score)

    @property
    def attention_source(self) -> str | None:
        """Where the attention comes from, if it is not the model's own."""
        return None

    @property
    def activation(self) -> Activation:
        """What turns scores into weights."""
        return self.pooling.activation

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        # Hugging Face's own rule (normal 0.02 everywhere) is not the papers': embeddings are uniform,
        # every other parameter keeps the uniform ±1/√fan_in of torch.
        if isinstance(module, nn.Embedding):
            bound = self.config.initializer_range
            init.uniform_(module.weight, -bound, bound)
        elif isinstance(module, nn.Linear):
            bound = module.in_features**-0.5
            init.uniform_(module.weight, -bound, bound)
            if module.bias is not None:
                init.uniform_(module.bias, -bound, bound)
        elif isinstance(module, nn.LSTM):
            for parameter in module.parameters():
                init.uniform_(parameter, -(module.hidden_size**-0.5), module.hidden_size**-0.5)

    def outside_scores(
        self, input_ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "b n"] | None:
        """Scores that do not come from the encoded tokens; None: the pooling has its own."""
        return None

    def forward(
        self,
        input_ids: Int[Tensor, "b n"] | None = None,
        attention_mask: Int[Tensor, "b n"] | None = None,
        labels: Int[Tensor, " b"] | None = None,
        inputs_embeds: Float[Tensor, "b n e"] | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> PooledOutput:
        """Classify; either ``input_ids`` or ``inputs_embeds``, with a mask that is 1 on real tokens.

        Raises:
            ValueError: if the mask is missing and the ids do not show the padding.
        """
        inputs_embeds, mask = self.embed(input_ids, attention_mask, inputs_embeds)
        hidden = self.encoder(self.dropout(inputs_embeds), mask)
        pooled = self.pooling(hidden, mask, self.outside_scores(input_ids, mask))
        loss, logits = self.to_output(self.classifier(pooled.output), labels)
        if not output_attentions:
            return PooledOutput(loss=loss, logits=logits)
        return PooledOutput(
            loss=loss,
            logits=logits,
            attentions=(pooled.weights[:, None, None, :],),
            scores=pooled.scores,
            weights=pooled.weights,
            polarity=nn.functional.linear(pooled.values, self.classifier.weight),
        )
