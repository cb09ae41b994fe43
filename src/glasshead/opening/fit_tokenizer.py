"""A tokenizer that fits a model: it pads, and cuts texts to what the model reads."""

from __future__ import annotations

import copy
from dataclasses import replace

from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from glasshead.data import keep_lengths_apart
from glasshead.huggingface import (
    ModuleClassifier,
    positions_of,
)
from glasshead.models import TextClassifier
from glasshead.opening.check_copy import reads_padding
from glasshead.trace import Subject


def note_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """Let a tokenizer keep lengths apart if its model reads padding; what a person should know of that."""
    if not reads_padding(model, tokenizer):
        return ()
    keep_lengths_apart(tokenizer)
    return ("padding changes the predictions of this model, so a batch holds texts of one length",)


def with_padding_noted(subject: Subject) -> Subject:
    """A subject whose tokenizer keeps lengths apart, with a note of it, if its model reads padding."""
    tokenizer = copy.deepcopy(subject.tokenizer)
    if not (notes := note_padding(subject.model, tokenizer)):
        return subject
    return replace(subject, tokenizer=tokenizer, notes=tuple(dict.fromkeys((*subject.notes, *notes))))


def fit_tokenizer(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """A copy that pads, truncates texts to the model's maximum, and gives token types to models that use
    them."""
    own = copy.deepcopy(tokenizer)
    positions = positions_of(model)
    if positions is not None and positions > 0:
        own.model_max_length = min(own.model_max_length, positions)
    if not isinstance(model, TextClassifier):
        if not reads_token_types(model):
            own.model_input_names = [name for name in own.model_input_names if name != "token_type_ids"]
        set_padding(model, own)
    return own


def reads_token_types(model: PreTrainedModel) -> bool:
    """Whether the model tells the two texts of a pair apart by types. GPT-2 would take them for words."""
    if isinstance(model, ModuleClassifier) and model.names_types:
        return True
    config = model.config.get_text_config()
    return (getattr(config, "type_vocab_size", None) or 0) > 1 or config.model_type == "xlnet"


def set_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """A padding token for a batch: the model's, else the tokenizer's, else one that ends no text.

    Decoders look for the last token that is not padding, so padding must be a token that texts do not end
    with.
    """
    if tokenizer.pad_token_id is None:
        ends = tokenizer("a", verbose=False)["input_ids"][-1:]
        special = [tokenizer.eos_token, tokenizer.unk_token, tokenizer.bos_token]
        usable = [
            token
            for token in special
            if token is not None and [tokenizer.convert_tokens_to_ids(token)] != ends
        ]
        tokenizer.pad_token = usable[0] if usable else tokenizer.convert_ids_to_tokens(0)
    model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
    model.config.pad_token_id = tokenizer.pad_token_id
