"""Word-level tokenizers."""

import re
from collections.abc import Collection, Iterable, Iterator

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase, Normalizer, Replace, Sequence
from tokenizers.pre_tokenizers import Split
from tokenizers.trainers import WordLevelTrainer
from transformers import PreTrainedTokenizerFast

from glasshead.data.templates import check_template_sizes, set_template
from glasshead.errors import InputError

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}

# A token is the first of these that matches; white space and control characters are no tokens.
# The order of the alternatives is part of the rule.
_LETTERS = r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*"
RULE = "|".join(
    (
        r"-[lrLR][rscRSC][bB]-",  # a bracket of the treebanks: -LRB-
        r"</?[A-Za-z]+\s*/?>",  # a bare tag, above all <br />
        r"['’](?i:s|re|ve|ll|d|m|t|em)\b",  # an ending that stands alone in tokenised text: it 's
        # A word or number, with inner apostrophes, hyphens and points: don't, n't, self-indulgent, 3.5, 1,000
        rf"{_LETTERS}(?:(?:['’-]|(?<=\p{{N}})[.,:](?=\p{{N}})){_LETTERS})*",
        r"([^\s\p{L}\p{N}_\p{Cc}\p{Cf}])\1*",  # one punctuation mark or symbol, repeated: `` ... !!!
    )
)
LONGEST_RUN = 3
"""Marks of one kind in one token where sentences matter: longer runs cannot all be in a vocabulary."""


def train_tokenizer(
    texts: Iterable[str],
    *,
    vocab_size: int = 20_000,
    min_freq: int = 2,
    max_length: int = 512,
    lowercase: bool = True,
    first: bool = False,
    pairs: bool = False,
    marks: tuple[Collection[str], Collection[str]] | None = None,
) -> PreTrainedTokenizerFast:
    """A word-level tokenizer with the most frequent words of ``texts``, split by `RULE`.

    ``vocab_size`` counts the five special tokens, ids 0 to 4 (pad, unk, cls, sep, mask); words follow by
    frequency, equally frequent ones by code point. Words rarer than ``min_freq`` become [UNK].
    Single texts get no special tokens, because the pooled classifiers attend to words only; a pair gets one
    [SEP] between its texts. With ``first`` every text, also the second of a pair, begins with [CLS]; then a
    pair needs no [SEP]. ``pairs`` makes token types an input of the model. Offsets refer to the text as
    given. A text that contains ``[MASK]`` or the like is split as any other text. As everywhere in
    transformers, ``max_length`` cuts only calls with ``truncation=True``.

    ``marks`` are what ends a sentence and what may close it after its end. They are always tokens, in
    addition to ``vocab_size``, so that no sentence loses its end to [UNK]. Repeated marks are cut into
    tokens of at most three, and a straight quote at an end counts as a closing one.

    Raises:
        InputError: if a number is too small, or no word is left.
    """
    if vocab_size <= len(SPECIAL_TOKENS):
        raise InputError(f"a vocabulary of {vocab_size} has no words: five places are for special tokens")
    check_template_sizes(min_freq, max_length, first=first, pairs=pairs)
    tokenizer = Tokenizer(WordLevel(unk_token=SPECIAL_TOKENS["unk_token"]))
    normalizers: list[Normalizer] = [Lowercase()] if lowercase else []
    rule = RULE
    if marks is not None:
        normalizers += closing_quotes(*marks)
        rule = RULE.removesuffix("*") + f"{{0,{LONGEST_RUN - 1}}}"
    if normalizers:
        tokenizer.normalizer = Sequence(normalizers) if len(normalizers) > 1 else normalizers[0]
    # Inverted: the matches are what stays.
    tokenizer.pre_tokenizer = Split(Regex(rule), behavior="removed", invert=True)
    trainer = WordLevelTrainer(
        vocab_size=vocab_size,
        min_frequency=min_freq,
        special_tokens=list(SPECIAL_TOKENS.values()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if tokenizer.get_vocab_size() == len(SPECIAL_TOKENS):
        raise InputError(f"no word occurs {min_freq} times in the texts: lower the minimum frequency")
    if marks is not None:
        known = tokenizer.get_vocab()
        new = [token for token in tokens_of(*marks) if token not in known]
        numbered = {token: len(known) + place for place, token in enumerate(new)}
        tokenizer.model = WordLevel(known | numbered, unk_token=SPECIAL_TOKENS["unk_token"])
    set_template(tokenizer, SPECIAL_TOKENS["cls_token"], SPECIAL_TOKENS["sep_token"], first=first)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_input_names=["input_ids", "attention_mask", *(["token_type_ids"] if pairs else [])],
        model_max_length=max_length,
        split_special_tokens=True,
        **SPECIAL_TOKENS,
    )


def tokens_of(ends: Collection[str], closers: Collection[str]) -> Iterator[str]:
    """Every token that marks can become: single characters repeated, tags and the like as they are."""
    for mark in sorted({*ends, *closers}):
        yield from (mark * times for times in range(1, LONGEST_RUN + 1 if len(mark) == 1 else 2))


def closing_quotes(ends: Collection[str], closers: Collection[str]) -> Iterator[Normalizer]:
    """Straight quotes right after an end or a closer, and before no word, become closing ones."""
    before = re.escape("".join(mark for mark in sorted({*ends, *closers}) if len(mark) == 1))
    for straight, closing in (("'", "’"), ('"', "”")):
        yield Replace(Regex(rf"(?<=[{before}\"]){straight}(?!{straight}|\w)"), closing)
