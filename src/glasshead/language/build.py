"""A new language model from a configuration, its attention plugged before the first step."""

from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from glasshead.errors import InputError
from glasshead.huggingface import plug
from glasshead.language.config import LanguageModelConfig
from glasshead.language.corpus import end_of_text
from glasshead.language.model_types import model_fields
from glasshead.spelling import spell

WIDTH_FIELDS = ("intermediate_size", "ffn_dim", "hidden_dim", "n_inner")
"""What families call the width between the two maps of a block, here four times its input."""
EMBEDDING = ("word_embed_proj_dim", "embedding_size")
DROPOUT = (
    "resid_pdrop", "embd_pdrop", "attn_pdrop", "dropout", "attention_dropout", "hidden_dropout",
    "hidden_dropout_prob", "attention_probs_dropout_prob", "resid_dropout", "embed_dropout",
    "activation_dropout", "embedding_dropout", "mlp_dropout",
)  # fmt: skip
INITIAL_SPREAD = 0.02 * 768**0.5
"""σ·√d_e of new weights in GPT-2 small: with its σ of 0.02 narrow models begin with scores near 0, and stay
there for long."""
COUNTS_FROM_PADDING = ("roberta", "camembert", "data2vec-text", "xmod", "ibert", "luke", "longformer", "esm")
"""Families whose first position is the one behind the id of the padding token."""


def model_config(config: LanguageModelConfig, tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    """The configuration of the model that is asked for, with the sizes and tokens of this training.

    Raises:
        InputError: if the model type cannot be built like this.
    """
    known = model_fields(config.model)
    pad, end = tokenizer.pad_token_id, end_of_text(tokenizer)
    offset = 1 + (pad or 0) if any(name in config.model for name in COUNTS_FROM_PADDING) else 0
    sizes: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_attention_heads,
        "head_dim": config.hidden_size // config.num_attention_heads,
        "max_position_embeddings": config.block_size + offset,
        "tie_word_embeddings": True,
        "initializer_range": INITIAL_SPREAD / config.hidden_size**0.5,
        "bos_token_id": end,
        "eos_token_id": end,
        "cls_token_id": end,
        "sep_token_id": end,
        "pad_token_id": pad,
        "mask_token_id": tokenizer.mask_token_id,
    }
    sizes |= dict.fromkeys(WIDTH_FIELDS, 4 * config.hidden_size)
    sizes |= dict.fromkeys(EMBEDDING, config.hidden_size)
    sizes |= dict.fromkeys(DROPOUT, config.dropout)
    tokens = {"bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings"}
    chosen = {name: value for name, value in sizes.items() if name in known | tokens}
    try:
        built: PreTrainedConfig = AutoConfig.for_model(config.model, **(chosen | dict(config.architecture)))
    except Exception as error:  # as above
        raise sizes_do_not_fit(config) from error
    if built.is_encoder_decoder:
        raise InputError(
            f"{config.model} has an encoder and a decoder: train a model with one stack, such as gpt2 or bert"
        )
    return built


def sizes_do_not_fit(config: LanguageModelConfig) -> InputError:
    """Why a model type cannot be built."""
    names = " and ".join(map(spell, config.architecture))
    return InputError(
        f"{config.model} cannot be built with these sizes: "
        + (
            f"choose other values of {names}"
            if names
            else f"choose others, or another {spell('model')}, such as gpt2"
        )
    )


def new_language_model(config: LanguageModelConfig, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """A model with new weights, tied embeddings, and the chosen mechanism.

    Raises:
        InputError: if the model type cannot be built like this, or cannot be plugged.
    """
    auto = AutoModelForMaskedLM if config.masked else AutoModelForCausalLM
    own = model_config(config, tokenizer)
    try:
        model: PreTrainedModel = auto.from_config(own)
    except Exception as error:  # models refuse sizes in every way there is
        raise sizes_do_not_fit(config) from error
    if config.attention is not None:
        plug(model, config.attention)
    check_block(model, config)
    return model


@torch.no_grad()
def check_block(model: PreTrainedModel, config: LanguageModelConfig) -> None:
    """Raise InputError unless the model reads one block, and answers with a word for each token of it."""
    ids = torch.zeros(1, config.block_size, dtype=torch.long)
    training = model.training
    try:
        logits = model.eval()(input_ids=ids).logits
    except InputError:
        raise
    except Exception as error:  # models that want more than tokens, or other sizes
        raise InputError(
            f"{config.model} does not read a block of {config.block_size} tokens: choose a smaller "
            f"{spell('block_size')}, other sizes, or another {spell('model')}"
        ) from error
    finally:
        model.train(training)
    if logits.shape[:2] != ids.shape:
        raise InputError(f"{config.model} does not answer for each token of a block: choose another model")
