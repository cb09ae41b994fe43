"""Open whatever model lies in a folder so that its attention can be read: a run, or one of Hugging Face."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from glasshead.attention import Mechanism
from glasshead.errors import InputError
from glasshead.files import check_readable, partial_path
from glasshead.huggingface import (
    MECHANISM,
    first_line,
    load,
    load_weights,
    model_class,
    plug,
    positions_of,
    read_config,
    spec_of,
)
from glasshead.models import PooledClassifier
from glasshead.training.pretrained import check_words, tokenizer_of
from glasshead.training.run import RECORD, REPEATS, load_run

CONFIG = "config.json"
RECOMMENDER = "glasshead-news"
POOLER = "pooler."
"""Weights that many models are saved without; no attention rests on them."""


def open_model(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model of a folder in evaluation mode and float32, and its tokenizer, cut to what the model reads.

    A run is loaded as it was trained. Any other folder that ``save_pretrained`` wrote, tokenizer included, is
    loaded with the mechanism that it was saved with; as a classifier if it was saved as one, else as the bare
    model. What shows no attention yet is plugged with softmax, which changes no prediction.

    Raises:
        InputError: if there is no such folder, it holds no model that reads texts or no fast tokenizer, a
            file of it is damaged, or the model computes its attention itself.
    """
    model, tokenizer = open_saved_model(folder)
    if not shows_attention(model):
        plug(model, "softmax")
    return model.eval(), tokenizer


def is_run(folder: Path) -> bool:
    """Whether the folder is, or is going to be, a run or repeats of one."""
    return (folder / RECORD).is_file() or (folder / REPEATS).is_file() or partial_path(folder).exists()


def open_saved_model(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model as it was saved."""
    if is_run(folder):
        run = load_run(folder)
        return run.model, run.tokenizer
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: give a run, or a folder with a saved model")
    check_readable(folder)
    if not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder} holds neither a run ({RECORD}) nor a model ({CONFIG}): make one with "
            "`glasshead.training.train`, or save a model and its tokenizer into it with save_pretrained"
        )
    config = read_config(folder)
    model = load_saved_model(folder, config)
    tokenizer = tokenizer_of(str(folder), None)
    check_words(str(folder), model, tokenizer)
    positions = positions_of(model)
    if positions is not None:
        tokenizer.model_max_length = min(tokenizer.model_max_length, positions)
    model.config.pad_token_id = tokenizer.pad_token_id
    return model, tokenizer


def load_saved_model(folder: Path, config: PreTrainedConfig) -> PreTrainedModel:
    """The weights in the class that reads texts with them."""
    options: dict[str, Any] = {"config": config, "dtype": torch.float32, "local_files_only": True}
    classifies = is_classifier(config)
    cls = AutoModelForSequenceClassification if classifies else AutoModel
    if getattr(config, "is_encoder_decoder", False) and not classifies:
        raise InputError(
            f"{folder} holds a model that writes texts: give an encoder, or a classifier of texts"
        )
    missing: list[str] = []
    try:
        if spec_of(config) is not None:
            model = load(folder, cls, **options)
        else:
            model, info = load_weights(cls, folder, **options)
            missing = sorted(key for key in info["missing_keys"] if not key.startswith(POOLER))
    except InputError:
        raise
    except Exception as error:  # weights and configurations break in every way there is
        raise InputError(
            f"{folder} holds no model that loads ({first_line(error)}): save it again"
        ) from error
    if missing:
        raise InputError(f"{folder} lacks weights of its model, such as {missing[0]}: save it again")
    if model.config.model_type == RECOMMENDER:
        raise InputError(
            f"{folder} recommends news and reads no single text: give a classifier or an encoder"
        )
    return model


def is_classifier(config: PreTrainedConfig) -> bool:
    """Whether a classifier of texts was saved."""
    try:
        wanted = model_class(config, AutoModelForSequenceClassification)
    except InputError:
        return False
    return wanted.__name__ in (config.architectures or ())


def shows_attention(model: PreTrainedModel) -> bool:
    """Whether attention of the model can be read without plugging it."""
    if isinstance(model, PooledClassifier):
        return True
    return any(isinstance(getattr(each, MECHANISM, None), Mechanism) for each in model.modules())
