"""What all classifiers of ours have in common: texts in, class scores or a rating out."""

from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

REGRESSION = "regression"


def is_regression(config: PreTrainedConfig) -> bool:
    """Whether a model predicts a number."""
    return config.problem_type == REGRESSION


def output_size(config: PreTrainedConfig) -> int:
    """How many numbers the last linear map gives: one for two classes, and one for a rating."""
    classes = len(config.id2label or {})
    return 1 if is_regression(config) or classes == 2 else classes


def as_logits(outputs: Float[Tensor, "*b k"]) -> Float[Tensor, "*b classes"]:
    """One output z becomes [0, z], whose softmax is [1 − σ(z), σ(z)]; K outputs stay."""
    return torch.cat([torch.zeros_like(outputs), outputs], dim=-1) if outputs.shape[-1] == 1 else outputs


class TextClassifier(PreTrainedModel):
    """Token ids → outputs z; binary logits are [0, z], a rating is z itself. Labels only reach the loss."""

    main_input_name = "input_ids"
    texts_per_example: ClassVar[int] = 1
    """1, or 2 for models that compare two."""
    special_tokens: ClassVar[bool] = False
    """Whether each text begins with the tokenizer's [CLS]."""
    sentence_marks: ClassVar[tuple[frozenset[str], frozenset[str]] | None] = None
    """Tokens that end a sentence, and that may close it after its end; None where sentences mean nothing."""
    asks_about_token: ClassVar[bool] = False
    """Whether the last layer has one row, that of the token that the text asks about."""
    config_class: type[PreTrainedConfig]
    classifier: nn.Linear
    embedding: nn.Module

    @classmethod
    def tokenizer_settings(cls, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
        """What the configuration needs to know about the tokenizer."""
        return {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}

    def get_input_embeddings(self) -> nn.Module:
        return self.embedding

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.embedding = value

    def embed(
        self,
        input_ids: Int[Tensor, "b n"] | None,
        attention_mask: Int[Tensor, "b n"] | None,
        inputs_embeds: Float[Tensor, "b n e"] | None,
    ) -> tuple[Float[Tensor, "b n e"], Bool[Tensor, "b n"]]:
        """Embeddings, and where there are real tokens.

        Raises:
            ValueError: if there is no input, or no mask although the ids do not show the padding.
        """
        if inputs_embeds is None:
            if input_ids is None:
                raise ValueError("give input_ids or inputs_embeds")
            inputs_embeds = self.embedding(input_ids)
        if attention_mask is not None:
            return inputs_embeds, attention_mask.bool()
        if input_ids is not None:
            return inputs_embeds, input_ids.ne(self.config.pad_token_id)
        raise ValueError("inputs_embeds need an attention_mask, because embeddings do not show padding")

    def to_output(
        self, outputs: Float[Tensor, "b k"], labels: Tensor | None
    ) -> tuple[Tensor | None, Float[Tensor, "b logits"]]:
        """Mean cross-entropy or mean squared error, if there are labels, and logits or ratings [B, 1]."""
        if is_regression(self.config):
            loss = None if labels is None else nn.functional.mse_loss(outputs[:, 0], labels.to(outputs.dtype))
            return loss, outputs
        logits = as_logits(outputs)
        return None if labels is None else nn.functional.cross_entropy(logits, labels), logits
