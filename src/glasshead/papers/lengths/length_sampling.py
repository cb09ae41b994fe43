"""Texts cut to one length exactly, drawn at random from those that are long enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import NO_MAXIMUM, Encoded, LoadOptions, UnitReader, encode, load, select_split
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import class_name
from glasshead.models import TransformerClassifier
from glasshead.spelling import spell

CHUNK = 256


@dataclass(frozen=True)
class LengthSample:
    """How texts are drawn: ``texts`` of each of the ``lengths`` d_s, special tokens counted. Without
    lengths, the defaults are used.

    Source: Bhardwaj et al. (2021), section 6.
    """

    lengths: tuple[int, ...]
    texts: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.lengths and min(self.lengths) < 1:
            raise InputError("give lengths of at least 1 token")
        if self.texts < 1:
            raise ParameterError("texts", f"must be at least 1, not {self.texts}")


def read_job_texts(data: str, split: str, text_column: str | None = None) -> list[str]:
    """The texts of a split, or of all of them.

    Raises:
        InputError: as `glasshead.data.load`, if there is no such split, or it holds pairs of texts.
    """
    rows = select_split(load(data, LoadOptions(text_column=text_column)), split, data)
    if "text_pair" in rows.column_names:
        raise InputError(f"{data} holds pairs of texts: give data with one text per row")
    return list(rows["text"])


def require_whole_text(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | UnitReader) -> None:
    """Raise InputError if a key of the model is not a token of the text as it stands, or all inputs have one
    length."""
    if isinstance(tokenizer, UnitReader):
        raise InputError(
            f"this model reads {tokenizer.nouns.texts}, which all have the same length, but this draws over "
            f"lengths: measure how far weights are determined with {spell('audits', ['identifiability'])}"
        )
    if isinstance(model, TransformerClassifier) and model.packs_segments:
        raise InputError(
            f"{class_name(model)} reads a text in parts, so its length means nothing: give a model that "
            "reads a text as a whole"
        )


def max_length(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """How many tokens a text can have; None: as many as it likes."""
    return tokenizer.model_max_length if tokenizer.model_max_length <= NO_MAXIMUM else None


def check_lengths(tokenizer: PreTrainedTokenizerBase, lengths: Sequence[int]) -> None:
    """Raise InputError for lengths at which a text has no word, or that the model does not read."""
    least, most = tokenizer.num_special_tokens_to_add() + 1, max_length(tokenizer)
    if min(lengths) < least:
        raise InputError(
            f"a length of {min(lengths)} leaves no room for words between special tokens: start at {least}"
        )
    if most is not None and max(lengths) > most:
        raise InputError(
            f"the model reads at most {most} tokens, not {max(lengths)}: give shorter {spell('lengths')}"
        )


def sample_texts(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], sample: LengthSample
) -> Iterator[tuple[int, NDArray[np.int64], Encoded]]:
    """Draw texts for each length: their numbers, and the texts cut to that length, none padded.

    Special tokens at the end of a text are kept. If fewer texts are long enough, all of them are used.

    Raises:
        InputError: as `check_lengths`, or if no text is as long as one of the lengths.
    """
    check_lengths(tokenizer, sample.lengths)
    indices, lengths = sample_long_texts(tokenizer, texts, sample)
    for length in sample.lengths:
        enough = indices[lengths >= length]
        if not len(enough):
            raise InputError(
                f"no text has {length} tokens; the longest has {max(lengths, default=0)}: use shorter lengths"
            )
        rng = np.random.default_rng([sample.seed, length])
        some = np.sort(rng.permutation(enough)[: sample.texts])
        yield length, some, truncate(tokenizer, [texts[index] for index in some], length)


def sample_long_texts(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], sample: LengthSample
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of texts in a random order and how many tokens each has (no more than the greatest length),
    until enough of them have that one."""
    longest = max(sample.lengths)
    order = np.random.default_rng(sample.seed).permutation(len(texts))
    lengths: list[int] = []
    for start in range(0, len(order), CHUNK):
        some = truncate(tokenizer, [texts[index] for index in order[start : start + CHUNK]], longest)
        lengths += some.mask.sum(dim=1).tolist()
        if sum(length >= longest for length in lengths) >= sample.texts:
            break
    return order[: len(lengths)], np.array(lengths, dtype=int)


def longest_of(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], most: int, sample: LengthSample
) -> int:
    """The longest text in tokens, as far as it is sampled and up to ``most``."""
    return int(sample_long_texts(tokenizer, texts, replace(sample, lengths=(most,)))[1].max(initial=0))


def truncate(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], length: int) -> Encoded:
    """The texts with no more tokens than that."""
    own = tokenizer.model_max_length
    tokenizer.model_max_length = length
    try:
        return encode(tokenizer, texts)
    finally:
        tokenizer.model_max_length = own
