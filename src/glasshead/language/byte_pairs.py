"""Byte pairs of a corpus."""

from collections.abc import Iterable

from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

END, PAD, MASK = "<|endoftext|>", "<|pad|>", "<|mask|>"


def train_byte_pairs(texts: Iterable[str], *, vocab_size: int) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer: every text has a code, and decoding it gives the text back.

    Starting from the 256 bytes, the most frequent pair of neighbours becomes a token of its own, again and
    again, until there are ``vocab_size``. The first three are the end of a text, padding and a hidden token.

    Source: Sennrich et al., ACL 2016; Radford et al. 2019.
    """
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        texts, vocab_size=vocab_size, special_tokens=[END, PAD, MASK], show_progress=False
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, bos_token=END, eos_token=END, pad_token=PAD, mask_token=MASK
    )
