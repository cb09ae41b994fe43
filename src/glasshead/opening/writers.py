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
from glasshead.tasks import task_of_config


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
    if task_of_config(config) is not None and sees_ahead(model):
        return False
    return is_writer(config) or (answers and is_answerer(config))


@torch.no_grad()
def sees_ahead(model: PreTrainedModel) -> bool:
    """Whether what a model says at a token depends on the next one: XLM and FlauBERT have one class for
    models that write and for those that guess hidden words."""
    padding = getattr(model.config.get_text_config(), "pad_token_id", None)
    some = [number for number in range(1, 5) if number != padding][:3]  # 0 is padding, too
    ids = torch.tensor([some[:2], some[::2]], device=model.device)  # two texts that begin alike
    try:
        first, second = isolated_copy(model)(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, 0]
    except Exception:  # what is wrong with it is said where it is opened
        return False
    return not torch.allclose(first, second, rtol=1e-3, atol=1e-5, equal_nan=True)


def read_next_token(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, *, ahead: bool = False
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model as a classifier of the next token, and a tokenizer that keeps the end of a long text (of an
    encoder–decoder, the end that it kept before). It may see ``ahead`` in texts alone if it is asked about
    texts with images.

    Raises:
        InputError: if the tokenizer closes every text, so that nothing comes next, or the model predicts no
            next token.
    """
    kind = type(model).__name__
    if model.get_output_embeddings() is None:
        raise InputError(f"{kind} has no map onto its vocabulary: give a language model")
    if not ahead and not model.config.is_encoder_decoder and sees_ahead(model):
        remedy = (
            "set is_decoder=True in its configuration if it was trained to write; if it guesses hidden "
            "words, open it as a …ForMaskedLM"
            if hasattr(model.config, "is_decoder")
            else "give a model that writes from left to right"
        )
        raise InputError(
            f"{kind} reads texts in both directions, so its next token cannot be explained: {remedy}"
        )
    closed = {tokenizer.eos_token_id, tokenizer.sep_token_id}
    ids = tokenizer("a", verbose=False)["input_ids"]
    plain = tokenizer("a", add_special_tokens=False, verbose=False)["input_ids"]
    if not model.config.is_encoder_decoder and ids and ids[-1] in closed and ids[-1:] != plain[-1:]:
        raise InputError(
            f"the tokenizer of {kind} ends every text with "
            f"{tokenizer.convert_ids_to_tokens(ids[-1])}, behind which nothing is written: give one that "
            "leaves texts open"
        )
    own = copy.deepcopy(tokenizer)
    if not model.config.is_encoder_decoder:  # what comes next follows from the end of a text
        own.truncation_side = "left"
    names = vocabulary_names(own, model.config.get_text_config().vocab_size)
    return NextTokenClassifier(isolated_copy(model), names), own
