"""Models that write, as classifiers of the next token, and encoders of those that need a second text."""

from __future__ import annotations

import copy

import torch
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from glasshead.errors import InputError
from glasshead.huggingface import (
    NextTokenClassifier,
    config_to_save,
    is_answerer,
    is_writer,
    isolated_copy,
    vocabulary_names,
)


def only_answers(model: PreTrainedModel) -> bool:
    """Whether an encoder–decoder was opened to write one text for another."""
    return isinstance(model, NextTokenClassifier) and bool(model.config.is_encoder_decoder)


def needs_decoder_inputs(model: PreTrainedModel) -> bool:
    """Whether a model cannot read a text without the beginning of another."""
    if not getattr(model.config, "is_encoder_decoder", False):
        return False
    ids = torch.ones(1, 2, dtype=torch.long, device=model.device)
    try:
        with torch.no_grad():
            isolated_copy(model)(input_ids=ids, attention_mask=torch.ones_like(ids))
    except (ValueError, TypeError):
        return True
    return False


def encoder_of(model: PreTrainedModel) -> PreTrainedModel:
    """The encoder of an encoder–decoder, with a configuration that says so."""
    encoder = isolated_copy(model.get_encoder())
    encoder.config.is_encoder_decoder = False
    return encoder


def writes(model: PreTrainedModel, *, answers: bool = False) -> bool:
    """Whether the model is one that writes from left to right or, with ``answers``, writes one text for
    another."""
    config = config_to_save(model)
    return is_writer(config) or (answers and is_answerer(config))


def read_next_token(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model as a classifier of the next token, and a tokenizer that keeps the end of a long text (of an
    encoder–decoder, the end that it kept before).

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
    if not model.config.is_encoder_decoder:  # what comes next follows from the end of a text
        own.truncation_side = "left"
    names = vocabulary_names(own, model.config.get_text_config().vocab_size)
    return NextTokenClassifier(isolated_copy(model), names), own
