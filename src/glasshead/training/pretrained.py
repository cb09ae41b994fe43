"""A pretrained Hugging Face classifier with a head for other labels, and a mechanism if one is wanted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from glasshead.errors import InputError
from glasshead.huggingface import (
    clear_spec,
    load,
    load_weights,
    plug,
    positions_of,
    read_config,
    silence_transformers,
    spec_of,
)
from glasshead.models import MODELS
from glasshead.registry import did_you_mean, with_suggestion
from glasshead.training.config import TrainingConfig


def load_pretrained(
    config: TrainingConfig, about: dict[str, Any]
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model that a configuration names, to be tuned for other labels.

    ``about`` are the settings of the model's own configuration that say which labels.

    Raises:
        InputError: if there is no such classifier, its files do not fit each other or the settings, or the
            mechanism cannot be put into it.
    """
    model_config = load_config(config.model)
    for name, value in about.items():
        setattr(model_config, name, value)
    tokenizer = load_tokenizer(config.model, config.max_length)
    model = load_classifier(config, model_config)
    check_vocabulary(config.model, model, tokenizer)
    positions = positions_of(model)
    if positions is not None and config.max_length > positions:
        raise InputError(
            f"{config.model} has {positions} positions, fewer than the {config.max_length} tokens that are "
            f"read of a text: take `max_length={positions}`"
        )
    if config.attention is not None:
        plug(model, config.attention)
    model.config.pad_token_id = tokenizer.pad_token_id  # a decoder looks for its last real token
    return model, tokenizer


def load_config(name: str) -> PreTrainedConfig:
    """The configuration of a folder or a Hub name; a misspelt family of ours is told so."""
    try:
        return read_config(name)
    except InputError as error:
        raise InputError(with_suggestion(str(error), did_you_mean(name, MODELS))) from error


def load_tokenizer(name: str, max_length: int | None) -> PreTrainedTokenizerFast:
    """The tokenizer that a model is trained with: one that can pad, too."""
    tokenizer = read_tokenizer(name, {} if max_length is None else {"model_max_length": max_length})
    if tokenizer.pad_token_id is None:
        raise InputError(f"the tokenizer of {name} has no padding token: set one and save it again")
    return tokenizer


def read_tokenizer(name: str, options: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """The tokenizer saved beside a model, one that knows where its tokens stand in a text.

    Raises:
        InputError: if there is none.
    """
    try:
        with silence_transformers():
            tokenizer = AutoTokenizer.from_pretrained(name, **options)
    except Exception as error:  # tokenizers break in every way there is
        raise InputError(
            f"{name} has no tokenizer that loads: save one into it with save_pretrained"
        ) from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # Transformers makes up what it does not find
        raise InputError(f"{name} has no tokenizer: save one into it with save_pretrained")
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            f"the tokenizer of {name} does not know where its tokens stand in a text: save a fast one"
        )
    return tokenizer


def check_vocabulary(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> None:
    """Raise InputError if the tokenizer has ids that the model has no vector for."""
    try:
        embeddings: Any = model.get_input_embeddings()
    except NotImplementedError:
        raise InputError(
            f"{type(model).__name__} has no one table of word vectors: give a model that looks up one vector "
            "for each token of a text"
        ) from None
    words = getattr(embeddings, "num_embeddings", None)
    if words is None:
        words = embeddings.get_parameter("weight").shape[0]
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if len(tokenizer) > words:
        raise InputError(
            f"the tokenizer of {name} knows {len(tokenizer)} tokens, the model {words}: save the "
            "tokenizer that the model was trained with"
        )
    if highest >= words:
        token = tokenizer.convert_ids_to_tokens(highest)
        raise InputError(
            f"the tokenizer of {name} numbers its token {token!r} {highest}, and the model has only "
            f"{words} word vectors: save the tokenizer that the model was trained with"
        )


def load_classifier(config: TrainingConfig, model_config: PreTrainedConfig) -> PreTrainedModel:
    """The weights under a head of the right size, in float32, with the mechanism they were saved with.

    A mechanism that was saved goes where the configuration names another one.
    """
    options: dict[str, Any] = {"ignore_mismatched_sizes": True, "dtype": torch.float32}
    own = spec_of(model_config)
    if own is not None and config.attention is not None:
        clear_spec(model_config)
        own = None
    try:
        if own is not None:
            return load(config.model, AutoModelForSequenceClassification, config=model_config, **options)
        return load_weights(AutoModelForSequenceClassification, config.model, config=model_config, **options)[
            0
        ]
    except InputError:
        raise
    except Exception as error:  # so do weights and configurations
        reason = load_reason(config.model, error)
        raise InputError(f"{config.model} is no model that classifies texts: {reason}") from error


def load_reason(source: str | Path, error: Exception) -> str:
    """Why weights do not load, and what to do."""
    folder = Path(source)
    if folder.is_dir() and not any(folder.glob("*.safetensors")):
        return "there are no weights (model.safetensors): save it again"
    if isinstance(error, SafetensorError):
        return "its weights (model.safetensors) are damaged: save it again, or download it again"
    return "its configuration and its weights do not make a model: save both again with save_pretrained"
