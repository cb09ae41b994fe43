"""The tokenizer of a language model: byte pairs or words of the corpus, or one that exists."""

from collections.abc import Iterable

from transformers import PreTrainedTokenizerBase

from glasshead.data import train_byte_pairs, train_tokenizer
from glasshead.errors import InputError
from glasshead.language.config import LanguageModelConfig
from glasshead.opening import read_tokenizer


def tokenizer_for(config: LanguageModelConfig, texts: Iterable[str]) -> PreTrainedTokenizerBase:
    """A tokenizer with an end-of-text token, and a mask token if tokens are hidden.

    Raises:
        InputError: if there is no such tokenizer, or it lacks one of those tokens.
    """
    if config.tokenizer == "bpe":
        tokenizer: PreTrainedTokenizerBase = train_byte_pairs(texts, vocab_size=config.vocab_size)
        tokenizer.split_special_tokens = not config.masked  # people write the hidden token into a text
    elif config.tokenizer == "word":
        tokenizer = train_tokenizer(texts, vocab_size=config.vocab_size, min_freq=1, lowercase=False)
        tokenizer.eos_token = tokenizer.sep_token
    else:
        tokenizer = read_tokenizer(config.tokenizer, {})
    tokenizer.model_max_length = config.block_size
    if config.masked and tokenizer.mask_token_id is None:
        raise InputError("the tokenizer has no token to hide others (mask_token): choose another one")
    return tokenizer
