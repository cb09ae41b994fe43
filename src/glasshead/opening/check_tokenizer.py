"""Which tokenizers cannot be read, and why."""

from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import has_places
from glasshead.errors import InputError
from glasshead.spelling import spell


def check_tokenizer(name: str, model: PreTrainedModel, tokenizer: object) -> None:
    """Raise InputError for a tokenizer that is none, that knows more tokens than the model, or whose tokens
    cannot be found in a text."""
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise InputError(
            f"{spell('tokenizer')} is a {type(tokenizer).__name__}, not a tokenizer: load one with "
            "AutoTokenizer.from_pretrained and pass that"
        )
    check_length(name, tokenizer)
    check_vocabulary(name, model, tokenizer)
    if not has_places(tokenizer):
        raise InputError(
            f"the tokenizer of {name} ({type(tokenizer).__name__}) reads texts in its own way, so its tokens "
            "cannot be found in a text: give a tokenizer of plain texts"
        )


def check_length(name: str, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise InputError for a tokenizer that cuts texts to what is not a length."""
    length: object = tokenizer.model_max_length
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise InputError(
            f"the tokenizer of {name} has model_max_length={length!r}, which is not a number of tokens: set "
            "it to the model's maximum"
        )


def check_vocabulary(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise InputError if the tokenizer has ids that the model has no vector for."""
    try:
        embeddings: Any = model.get_input_embeddings()
        words = getattr(embeddings, "num_embeddings", None)
        if words is None:
            words = embeddings.get_parameter("weight").shape[0]
    except (NotImplementedError, AttributeError):
        raise InputError(
            f"{type(model).__name__} has no single table of word vectors: "
            "give a model that looks up one vector "
            "for each token of a text"
        ) from None
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if len(tokenizer) > words:
        raise InputError(
            f"the tokenizer of {name} knows {len(tokenizer)} tokens, the model knows {words}: save the "
            "tokenizer that the model was trained with"
        )
    if highest >= words:
        token = tokenizer.convert_ids_to_tokens(highest)
        raise InputError(
            f"the tokenizer of {name} numbers its token {token!r} {highest}, and the model has only "
            f"{words} word vectors: save the tokenizer that the model was trained with"
        )
