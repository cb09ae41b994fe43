"""A language model opened as what it is asked to be here: a classifier of the next token."""

from __future__ import annotations

import copy

from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from glasshead.errors import InputError
from glasshead.huggingface import (
    NextTokenClassifier,
    is_answerer,
    is_writer,
    isolated_copy,
    vocabulary_names,
)


def writes(model: PreTrainedModel, *, answers: bool = False) -> bool:
    """Whether the model is one that writes from left to right or, with ``answers``, writes one text for
    another."""
    config = config_to_save(model)
    return is_writer(config) or (answers and is_answerer(config))


def config_to_save(model: PreTrainedModel) -> PreTrainedConfig:
    """The configuration of a model as it would be saved, with the name of its class."""
    config = copy.copy(model.config)
    config.architectures = [type(model).__name__]
    return config


def read_next_token(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model as a classifier of the next token, and a tokenizer that keeps the end of a long text.

    Raises:
        InputError: if the tokenizer closes every text, so that nothing comes next.
    """
    if model.get_output_embeddings() is None:
        raise InputError(f"{type(model).__name__} has no map onto its vocabulary: give a language model")
    closed = {tokenizer.eos_token_id, tokenizer.sep_token_id}
    ids = tokenizer("a", verbose=False)["input_ids"]
    if not model.config.is_encoder_decoder and ids and ids[-1] in closed:
        raise InputError(
            f"the tokenizer of {type(model).__name__} ends every text with "
            f"{tokenizer.convert_ids_to_tokens(ids[-1])}, behind which nothing is written: give one that "
            "leaves texts open"
        )
    own = copy.deepcopy(tokenizer)
    own.truncation_side = "left"
    names = vocabulary_names(own, model.config.get_text_config().vocab_size)
    return NextTokenClassifier(isolated_copy(model), names), own
