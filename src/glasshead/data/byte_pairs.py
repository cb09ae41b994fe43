"""Byte pair tokenizers: frequent pairs of bytes, then of tokens, become tokens, and no text is unknown."""

from collections.abc import Iterable

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

from glasshead.data.templates import check_template_sizes, set_template
from glasshead.errors import InputError

END = "<|endoftext|>"
PAD = "<|pad|>"
MASK = "<|mask|>"
BYTE_COUNT = 256


def train_byte_pairs(
    texts: Iterable[str],
    *,
    vocab_size: int = 20_000,
    min_freq: int = 2,
    max_length: int = 512,
    first: bool = False,
    pairs: bool = False,
) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer: the most frequent pair of tokens in ``texts`` becomes a token, again and again
    (Sennrich et al. 2016; on bytes as in Radford et al. 2019).

    ``vocab_size`` counts three special tokens, ids 0 to 2 (end of text, pad, mask), the 256 bytes and the
    merged pairs; pairs rarer than ``min_freq`` stay apart, and no pair crosses the border of a word. Ids can
    be decoded to the text as it was. No special token is put around a text, and a text that contains
    ``<|endoftext|>`` is split like any other. With ``first`` every text, also the second of a pair, begins
    with the end-of-text token; otherwise a pair has it between its texts. ``pairs`` makes token types an
    input of the model. As everywhere in transformers, ``max_length`` cuts only calls with
    ``truncation=True``.

    Raises:
        InputError: if a number is too small, or no pair is frequent enough.
    """
    special = [END, PAD, MASK]
    least = BYTE_COUNT + len(special)
    if vocab_size < least:
        raise InputError(f"a vocabulary of {vocab_size} is too small for all bytes: give {least} or more")
    check_template_sizes(min_freq, max_length, first=first, pairs=pairs)
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    trainer = BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_freq,
        special_tokens=special,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if tokenizer.get_vocab_size() == least < vocab_size:
        raise InputError(
            f"no pair of tokens occurs {min_freq} times in the texts: lower the minimum frequency"
        )
    set_template(tokenizer, END, END, first=first)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "attention_mask", *(["token_type_ids"] if pairs else [])],
        model_max_length=max_length,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
        bos_token=END,
        eos_token=END,
        pad_token=PAD,
        mask_token=MASK,
        **({"cls_token": END} if first else {}),
        **({"sep_token": END} if pairs and not first else {}),
    )
