"""The Transformer encoder of the papers: any mechanism, free d_k and d_v, heads concatenated or summed."""

from typing import Any

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig
from transformers import initialization as init

from glasshead.attention import LearnedQueryAttention, MultiHeadAttention, Position, position_of, sines
from glasshead.errors import InputError, ParameterError
from glasshead.registry import Registry
from glasshead.spelling import spell


@strict
class EncoderConfig(PreTrainedConfig):
    """Configuration of the encoder models.

    ``attention`` is a mechanism (word or spec); ``head_combination``: heads are concatenated ("concat") or
    summed ("sum"); ``head_dim`` and ``value_dim`` are d_k and d_v, by default d_e / H (d_e for summed heads).
    ``positions`` are added to the embeddings: none, sinusoidal, or learned for at most ``max_length``
    tokens; "auto" is none if the mechanism has positions, else sinusoidal. ``scale_embedding``
    multiplies the embeddings of words by √d_e, and ``layernorm_embedding`` normalises what the first layer
    reads. None scales them only where sinusoids are added; then two mechanisms may read different inputs.
    ``pooling`` turns a sequence into one vector: that of the first token, the mean of all, or an attention
    with one learned query. ``gauge`` are the canonical signs [layer][head] of signed weights, which
    training sets (`glasshead.trace.head_gauges`).
    """

    model_type = "glasshead-encoder"
    attribute_map = {"max_position_embeddings": "max_length"}  # noqa: RUF012 (as Transformers declares it)

    vocab_size: int = 8000
    pad_token_id: int = 0
    hidden_size: int = 128
    initializer_range: float = 1.0
    positions: str = "auto"
    scale_embedding: bool | None = None
    layernorm_embedding: bool = False
    max_length: int = 512
    num_hidden_layers: int = 1
    num_attention_heads: int = 8
    attention: str | dict[str, Any] = "softmax"
    head_dim: int | None = None
    value_dim: int | None = None
    head_combination: str = "concat"
    intermediate_size: int = 512
    dropout: float = 0.1
    pooling: str = "attention"
    gauge: list[list[int]] | None = None

    @property
    def added_positions(self) -> str:
        """What is added to the embeddings, with "auto" settled."""
        if self.positions != "auto":
            return self.positions
        return "none" if position_of(self.attention).needs_positions else "sinusoidal"

    @property
    def embedding_factor(self) -> float:
        """What the embeddings of words are multiplied by."""
        scaled = self.scale_embedding
        if scaled is None:
            scaled = self.added_positions == "sinusoidal"
        return self.hidden_size**0.5 if scaled else 1.0

    def check(self) -> None:
        """Raise InputError on values that no encoder can be built from."""
        check_encoder(self, "hidden_size")
        if not 0 <= self.dropout < 1:
            raise ParameterError("dropout", f"must be in [0, 1), not {self.dropout}")
        for registry, name in ((EMBEDDING_POSITIONS, self.added_positions), (POOLINGS, self.pooling)):
            registry[name]
        with torch.device("meta"):
            EncoderLayer(self)


def check_encoder(config: Any, *more: str) -> None:
    """Raise InputError unless the sizes that all encoders have, and ``more``, are valid."""
    for name in (*more, "max_length", "num_hidden_layers", "num_attention_heads", "intermediate_size"):
        if getattr(config, name) < 1:
            raise ParameterError(name, f"must be at least 1, not {getattr(config, name)}")
    if not 0 < config.initializer_range < float("inf"):
        raise ParameterError(
            "initializer_range", f"must be a positive number, not {config.initializer_range}"
        )


class WordEmbedding(nn.Embedding):
    """e of a word, times √d_e if the configuration says so (Vaswani et al. 2017, 3.4)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.factor = config.embedding_factor

    def forward(self, input: Int[Tensor, "*b"]) -> Float[Tensor, "*b d"]:
        return super().forward(input) * self.factor


class NoPositions(nn.Module):
    """Nothing is added: order reaches the model through its mechanism, or not at all."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()

    def forward(self, hidden: Float[Tensor, "b n d"], places: Int[Tensor, "p n"]) -> Float[Tensor, "b n d"]:
        return hidden


class SinusoidalPositions(NoPositions):
    """h_i + [sin iω_0, …, cos iω_0, …] (Vaswani et al. 2017, section 3.5)."""

    def forward(self, hidden: Float[Tensor, "b n d"], places: Int[Tensor, "p n"]) -> Float[Tensor, "b n d"]:
        size = hidden.shape[2]
        exponents = torch.arange(0, size, 2, dtype=torch.float64, device=hidden.device) / size
        waves = torch.cat(sines(places, 10000.0**-exponents, hidden.dtype), dim=-1)  # [p, 1, n, d or d + 1]
        return hidden + waves[:, 0, :, :size]


class LearnedPositions(nn.Module):
    """h_i + p_i with one learned vector for each of ``max_length`` places."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.max_length, config.hidden_size)

    def forward(self, hidden: Float[Tensor, "b n d"], places: Int[Tensor, "p n"]) -> Float[Tensor, "b n d"]:
        return hidden + vectors_of_places(self.embedding, places)


def vectors_of_places(embedding: nn.Embedding, places: Int[Tensor, "p n"]) -> Float[Tensor, "p n d"]:
    """One learned vector for each place.

    Raises:
        InputError: if a text has more places than were learned.
    """
    known = embedding.num_embeddings
    if places.shape[1] > known and int(places.max()) >= known:
        raise InputError(
            f"a text of {int(places.max()) + 1} tokens is longer than the {known} positions that this "
            f"model has learned: cut it, or train with a larger {spell('max_length')}"
        )
    return embedding(places)


EMBEDDING_POSITIONS: Registry[type[nn.Module]] = Registry("positions")
EMBEDDING_POSITIONS.register("none")(NoPositions)
EMBEDDING_POSITIONS.register("sinusoidal")(SinusoidalPositions)
EMBEDDING_POSITIONS.register("learned")(LearnedPositions)


class EncoderLayer(nn.Module):
    """x ← LN(x + attention(x)), x ← LN(x + W_2 max(0, W_1 x + b_1) + b_2), after Vaswani et al. (2017).

    The norm comes after the residual. (Bhardwaj et al. 2021, section 2.2, print another order of these steps,
    which is not the standard layer that they name; this is the standard one.)
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(
            config.hidden_size,
            config.num_attention_heads,
            config.attention,
            head_dim=config.head_dim,
            value_dim=config.value_dim,
            head_combination=config.head_combination,
        )
        self.attention_norm = nn.LayerNorm(config.hidden_size)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.hidden_size, config.intermediate_size),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.intermediate_size, config.hidden_size),
        )
        self.feed_forward_norm = nn.LayerNorm(config.hidden_size)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "b n d"],
        mask: Bool[Tensor, "b n"],
        *,
        rows: slice = slice(None),
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "b r d"], Float[Tensor, "b h r n"] | None]:
        """The new vectors of some of the tokens, all of which they may read."""
        attended = self.attention(x, mask=mask, rows=rows, need_weights=need_weights)
        x = self.attention_norm(x[:, rows] + self.dropout(attended.output))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x))), attended.weights


class Encoder(nn.Module):
    """Positions, layers, and the pooling that turns a sequence of vectors into one."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.max_length = config.max_length
        self.positions = EMBEDDING_POSITIONS[config.added_positions](config)
        self.embedding_norm = (
            nn.LayerNorm(config.hidden_size) if config.layernorm_embedding else nn.Identity()
        )
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.num_hidden_layers))
        self.pooling = POOLINGS[config.pooling](config)

    def forward(
        self, embeddings: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "b d"], tuple[Tensor, ...]]:
        """One vector for each sequence and, if requested, the weights of every attention.

        If only the first token is read, the last layer computes only that one, unless weights are
        requested. Only real tokens have places, so padding may be on either side.
        """
        aligned = is_aligned(mask)
        # In a batch that is wider than anything learned, padding takes the place of the last real token.
        counted = not aligned or mask.shape[1] > self.max_length
        places = token_positions(mask) if counted else torch.arange(mask.shape[1], device=mask.device)[None]
        hidden = self.dropout(self.embedding_norm(self.positions(embeddings, places)))
        weights = []
        for number, layer in enumerate(self.layers, start=1):
            last = number == len(self.layers)
            rows = self.pooling.rows if last and aligned and not need_weights else slice(None)
            hidden, attention = layer(hidden, mask, rows=rows, need_weights=need_weights)
            weights.append(attention)
        vector, attention = self.pooling(hidden, mask, need_weights)
        weights.append(attention)
        return vector, tuple(matrix for matrix in weights if matrix is not None)


def is_aligned(mask: Bool[Tensor, "b n"]) -> bool:
    """Whether padding stands only behind real tokens; a compiler cannot ask, and hears no."""
    return not torch.compiler.is_compiling() and not bool((mask[:, 1:] & ~mask[:, :-1]).any())


def token_positions(mask: Bool[Tensor, "b n"]) -> Int[Tensor, "b n"]:
    """0 1 2 … for the real tokens of each text."""
    return (mask.long().cumsum(dim=1) - 1).clamp(min=0)


class FirstToken(nn.Module):
    """The vector of the first real token."""

    rows = slice(0, 1)

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], need_weights: bool
    ) -> tuple[Float[Tensor, "b d"], None]:
        first = (
            torch.zeros_like(mask[:, 0], dtype=torch.long) if hidden.shape[1] == 1 else mask.int().argmax(1)
        )
        return hidden[torch.arange(len(hidden), device=hidden.device), first], None


class AttentionVector(nn.Module):
    """Σ_i a_i h_i by an attention with one learned query."""

    rows = slice(None)

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.summary = LearnedQueryAttention(config.hidden_size)

    def forward(
        self, hidden: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], need_weights: bool
    ) -> tuple[Float[Tensor, "b d"], Tensor | None]:
        attended = self.summary(hidden, mask, need_weights=need_weights)
        return attended.output, attended.weights


class MeanVector(nn.Module):
    """The mean of the vectors of all real tokens; zeros for an empty text."""

    rows = slice(None)

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()

    def forward(
        self, hidden: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], need_weights: bool
    ) -> tuple[Float[Tensor, "b d"], None]:
        total = hidden.masked_fill(~mask[..., None], 0.0).sum(dim=1)
        return total / mask.sum(dim=1, keepdim=True).clamp(min=1), None


POOLINGS: Registry[type[FirstToken] | type[MeanVector] | type[AttentionVector]] = Registry("pooling")
POOLINGS.register("first")(FirstToken)
POOLINGS.register("mean")(MeanVector)
POOLINGS.register("attention")(AttentionVector)


@torch.no_grad()
def initialise(module: nn.Module, config: EncoderConfig) -> None:
    """Embeddings are normal(0, initializer_range); linear maps Glorot-uniform, biases 0; norms 1 and 0."""
    if isinstance(module, nn.Embedding):
        init.normal_(module.weight, 0.0, config.initializer_range)
        if module.padding_idx is not None:
            init.zeros_(module.weight[module.padding_idx])
    elif isinstance(module, nn.Linear):
        init.xavier_uniform_(module.weight)
        if module.bias is not None:
            init.zeros_(module.bias)
    elif isinstance(module, nn.LayerNorm):
        init.ones_(module.weight)
        init.zeros_(module.bias)
    elif isinstance(module, Position):
        module.reset_parameters()
