"""A pretrained Hugging Face classifier with a head for other labels, and a mechanism if one is wanted."""

from typing import Any

import torch
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from glasshead.errors import InputError
from glasshead.huggingface import (
    clear_spec,
    load,
    load_reason,
    load_weights,
    plug,
    positions_of,
    read_config,
    spec_of,
)
from glasshead.models import MODELS
from glasshead.opening import check_vocabulary, read_tokenizer
from glasshead.registry import did_you_mean, with_suggestion
from glasshead.spelling import spell
from glasshead.training.config import TrainingConfig


def load_pretrained(
    config: TrainingConfig, about: dict[str, Any]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
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
            f"{config.model} has {positions} positions, fewer than the {config.max_length} tokens of "
            f"a text: use {spell('max_length', positions)}"
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


def load_tokenizer(name: str, max_length: int | None) -> PreTrainedTokenizerBase:
    """The tokenizer that a model is trained with: one that can pad, too."""
    tokenizer = read_tokenizer(name, {} if max_length is None else {"model_max_length": max_length})
    if tokenizer.pad_token_id is None:
        raise InputError(f"the tokenizer of {name} has no padding token: set one and save it again")
    return tokenizer


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
        raise InputError(f"{config.model} is not a model that classifies texts: {reason}") from error
