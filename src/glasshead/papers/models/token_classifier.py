"""The class of one token of a text: attention of that token, with letters and places kept apart."""

from typing import Any, NamedTuple

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedTokenizerBase
from transformers import initialization as init
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.attention import MultiHeadAttention, position_of
from glasshead.errors import InputError, ParameterError
from glasshead.models import TextClassifier, check_encoder, output_size, token_positions, vectors_of_places
from glasshead.registry import did_you_mean

PARTS = ("both", "positional", "semantic")


@strict
class TokenClassifierConfig(PreTrainedConfig):
    """Configuration of `TokenClassifier`.

    A token is a vector of ``embedding_size`` numbers for its letter (or word), followed by
    ``position_size`` numbers for its place; both are learned. ``tied`` heads have one map for queries and
    keys. ``scores`` says what queries and keys read: places alone ("positional"), letters alone
    ("semantic"), or "both"; ``start`` says the same of the initial weights, which training changes. With
    ``left_to_right`` no token reads later tokens. ``asked_tokens`` is, for each token of the vocabulary,
    the token that it asks about, −1 where it asks about none. ``gauge`` are the canonical signs
    [layer][head] of signed weights, which training sets.
    """

    model_type = "glasshead-token"

    vocab_size: int = 8000
    pad_token_id: int = 0
    asked_tokens: list[int] | None = None
    embedding_size: int = 16
    position_size: int = 16
    initializer_range: float = 1.0
    max_length: int = 64
    num_hidden_layers: int = 1
    num_attention_heads: int = 1
    attention: str | dict[str, Any] = "softmax"
    head_dim: int | None = None
    value_dim: int | None = None
    intermediate_size: int = 128
    tied: bool = False
    scores: str = "both"
    start: str = "both"
    left_to_right: bool = False
    gauge: list[list[int]] | None = None

    def read_by(self, part: str) -> slice:
        """The numbers of a token that a part of the scores reads."""
        size = self.embedding_size
        return {"semantic": slice(0, size), "positional": slice(size, None), "both": slice(0, None)}[part]

    @property
    def hidden_size(self) -> int:
        """Letter and place."""
        return self.embedding_size + self.position_size

    def check(self) -> None:
        """Raise InputError on values that no such model can be built from."""
        check_encoder(self, "embedding_size", "position_size")
        for name in ("scores", "start"):
            if getattr(self, name) not in PARTS:
                raise ParameterError(
                    name, f"{getattr(self, name)!r} is unknown: {did_you_mean(getattr(self, name), PARTS)}"
                )
        if position_of(self.attention).needs_positions:
            raise InputError(
                f"the model knows places by their vectors and takes no attention {self.attention!r}: choose "
                "an activation alone"
            )
        with torch.device("meta"):
            TokenLayer(self)


class LetterEmbedding(nn.Embedding):
    """The vector of a letter, the same whether or not it is asked about."""

    letters: Int[Tensor, " vocabulary"]

    def __init__(self, config: TokenClassifierConfig) -> None:
        super().__init__(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        letters = torch.arange(config.vocab_size)
        if config.asked_tokens is not None:
            letter_of = torch.tensor(config.asked_tokens)
            letters = torch.where(letter_of >= 0, letter_of, letters)
        self.register_buffer("letters", letters)  # saved: what is not lacks its values after a reload

    def forward(self, input: Int[Tensor, "*b"]) -> Float[Tensor, "*b e"]:
        return super().forward(self.letters[input])


class PartLinear(nn.Linear):
    """W x with the numbers of x that scores do not read at 0."""

    reads: Float[Tensor, " d"]

    def __init__(self, config: TokenClassifierConfig, size: int) -> None:
        super().__init__(config.hidden_size, size, bias=False)
        reads = torch.zeros(config.hidden_size)
        reads[config.read_by(config.scores)] = 1.0
        self.register_buffer("reads", reads)  # saved, as the letters are

    def forward(self, input: Float[Tensor, "*b d"]) -> Float[Tensor, "*b q"]:
        return super().forward(input * self.reads)


class TiedAttention(MultiHeadAttention):
    """s_ij = (W x_i)ᵀ (W x_j) · scale: queries and keys by one map."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        del self.key

    @property
    def key(self) -> nn.Module:  # type: ignore[override]  # a module of the parent
        return self.query


class TokenLayer(nn.Module):
    """y_i = x_i + Σ_j a_ij D W_v x_j, then y_i + W_2 max(0, W_1 y_i + b_1) + b_2, for some of the tokens."""

    def __init__(self, config: TokenClassifierConfig) -> None:
        super().__init__()
        kind = TiedAttention if config.tied else MultiHeadAttention
        self.attention = kind(
            config.hidden_size,
            config.num_attention_heads,
            config.attention,
            head_dim=config.head_dim,
            value_dim=config.value_dim,
            bias=False,
        )
        self.attention.query = PartLinear(config, self.attention.query.out_features)
        if not config.tied:
            self.attention.key = PartLinear(config, self.attention.key.out_features)
        self.feed_forward = nn.Sequential(
            nn.Linear(config.hidden_size, config.intermediate_size),
            nn.ReLU(),
            nn.Linear(config.intermediate_size, config.hidden_size),
        )

    def forward(
        self, x: Float[Tensor, "b r d"], context: Float[Tensor, "b n d"] | None, mask: Bool[Tensor, "b n"],
        options: dict[str, bool],
    ) -> tuple[Float[Tensor, "b r d"], Float[Tensor, "b h r n"] | None]:  # fmt: skip
        """The new vectors of tokens ``x`` that read the ``context``, or themselves, and their weights."""
        attended = self.attention(x, context, mask=mask, **options)
        x = x + attended.output
        return x + self.feed_forward(x), attended.weights


class Asked(NamedTuple):
    """Where each token stands among the real ones, and which one is asked about."""

    places: Int[Tensor, "b n"]
    token: Int[Tensor, " b"]


class TokenClassifier(TextClassifier):
    """Letters and places → attention of the token that is asked about → its class.

    A text asks about the token between underscores (``d a t _a_``), the first one if there are several, and
    about its last token if there is none. The last layer computes only that row.

    Source: Cui, Behrens, Krzakala and Zdeborová (2024), section 2, whose model has one layer, one tied head
    and fixed embeddings.
    """

    config_class = TokenClassifierConfig
    config: TokenClassifierConfig
    base_model_prefix = "layers"
    asks_about_token = True

    def __init__(self, config: TokenClassifierConfig) -> None:
        super().__init__(config)
        self.embedding = LetterEmbedding(config)
        self.positions = nn.Embedding(config.max_length, config.position_size)
        self.layers = nn.ModuleList(TokenLayer(config) for _ in range(config.num_hidden_layers))
        self.classifier = nn.Linear(config.hidden_size, output_size(config))
        self.post_init()
        self.set_start()  # a model that is loaded gets its weights afterwards

    @classmethod
    def tokenizer_settings(cls, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
        vocabulary = tokenizer.get_vocab()
        letter_of = [-1] * len(tokenizer)
        for token, index in vocabulary.items():
            letter = token.strip("_")
            if token == f"_{letter}_":
                letter_of[index] = vocabulary.get(letter, index)
        return super().tokenizer_settings(tokenizer) | {"asked_tokens": letter_of}

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Embedding):
            init.normal_(module.weight, 0.0, self.config.initializer_range)
            if module.padding_idx is not None:
                init.zeros_(module.weight[module.padding_idx])
        elif isinstance(module, nn.Linear):
            init.xavier_uniform_(module.weight)
            if module.bias is not None:
                init.zeros_(module.bias)

    @torch.no_grad()
    def set_start(self) -> None:
        """Let the scores start from what `TokenClassifierConfig.start` says."""
        for module in self.modules():
            if isinstance(module, PartLinear):
                known = torch.zeros_like(module.reads)
                known[self.config.read_by(self.config.start)] = 1.0
                module.weight.mul_(known * module.reads)  # what is never read is 0, also if it is freed

    def free_scores(self) -> None:
        """Let queries and keys read letters and places, with the weights as they are: the same function."""
        for module in self.modules():
            if isinstance(module, PartLinear):
                module.reads.fill_(1.0)

    def find_asked(self, ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"]) -> Asked:
        """Which token of each text is asked about."""
        places = token_positions(mask)
        index = torch.where(mask, places, -1).argmax(dim=1)
        if ids is not None and self.config.asked_tokens is not None:
            asks = torch.tensor(self.config.asked_tokens, device=ids.device)[ids].ge(0) & mask
            index = torch.where(asks.any(dim=1), asks.int().argmax(dim=1), index)
        return Asked(places, index)

    def forward(
        self,
        input_ids: Int[Tensor, "b n"] | None = None,
        attention_mask: Int[Tensor, "b n"] | None = None,
        labels: Tensor | None = None,
        inputs_embeds: Float[Tensor, "b n e"] | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """Classify the token that each text asks about; ``inputs_embeds`` replace the letters.

        Raises:
            ValueError: if there is no input, or no mask although the ids do not show the padding.
            InputError: if a text is longer than the number of learned places.
        """
        letters, mask = self.embed(input_ids, attention_mask, inputs_embeds)
        question = self.find_asked(input_ids, mask)
        x = torch.cat([letters, vectors_of_places(self.positions, question.places)], dim=-1)
        texts, weights = torch.arange(len(x), device=x.device), []
        for number, layer in enumerate(self.layers, start=1):
            options = {"need_weights": output_attentions}
            if number < len(self.layers):
                x, attention = layer(x, None, mask, options | {"is_causal": self.config.left_to_right})
            else:
                known = mask & (question.places <= question.places[texts, question.token][:, None])
                row = x[texts, question.token][:, None]
                x, attention = layer(row, x, known if self.config.left_to_right else mask, options)
            weights.append(attention)
        loss, logits = self.to_output(self.classifier(x[:, 0]), labels)
        return SequenceClassifierOutput(
            loss=loss, logits=logits, attentions=tuple(weights) if output_attentions else None
        )
