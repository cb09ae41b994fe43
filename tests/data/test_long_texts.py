"""A text that is far longer than a model reads is cut before it is tokenised, to the same tokens."""

import string

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from glasshead.data import encode
from glasshead.data.encode import encodings

LIMIT = 8
WORDS = ["".join(np.random.default_rng(seed).choice(list("aeioubdlmnrst"), 5)) for seed in range(80)]


def trained(model, trainer, pre=None, normalizer=None):
    made = Tokenizer(model)
    made.pre_tokenizer, made.normalizer = pre, normalizer or normalizers.NFC()
    made.train_from_iterator([" ".join(WORDS)] * 3 + ["好影片", "é"], trainer)
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1",
        [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )  # fmt: skip
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=LIMIT,
    )  # fmt: skip


SPECIAL = ["[UNK]", "[PAD]", "[CLS]", "[SEP]"]
LETTERS = list(string.ascii_lowercase)
KINDS = {
    "wordpiece": lambda: trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=120, special_tokens=SPECIAL, initial_alphabet=LETTERS),
        pre_tokenizers.BertPreTokenizer(),
    ),
    "byte-level": lambda: trained(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        ),
        pre_tokenizers.ByteLevel(),
    ),
    "unigram": lambda: trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=120, special_tokens=SPECIAL, unk_token="[UNK]"),
        pre_tokenizers.Metaspace(),
    ),
    "bpe of a whole text": lambda: trained(
        models.BPE(unk_token="[UNK]"),
        trainers.BpeTrainer(vocab_size=150, special_tokens=SPECIAL),
        None,
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
    ),
}
LONG = {
    "words": " ".join(WORDS * 12),
    "one word": "".join(WORDS * 12),
    "blanks, then words": " " * 4_000 + " ".join(WORDS * 6),
    "Chinese": "好影片" * 1_000,
    "short": " ".join(WORDS[:3]),
    "empty": "",
}


class Counted:
    """How many letters a tokenizer was given."""

    def __init__(self, tokenizer):
        self.tokenizer, self.letters = tokenizer, 0

    @property
    def __class__(self):
        return type(self.tokenizer)

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)

    def __call__(self, *texts, **options):
        self.letters += sum(len(text) for part in texts for text in part)
        return self.tokenizer(*texts, **options)


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return KINDS[request.param]()


def seen(rows):
    return [(row.ids, row.offsets, row.word_ids, row.type_ids) for row in rows]


def test_the_tokens_are_those_of_the_whole_text(tokenizer):
    texts = list(LONG.values())
    assert seen(encodings(tokenizer, texts)) == seen(tokenizer(texts, truncation=True).encodings)


def test_so_are_those_of_pairs(tokenizer):
    others = [WORDS[1], "", WORDS[2], *WORDS[3:6]]
    firsts = [*LONG.values(), *others]
    seconds = [*others, *LONG.values()]
    expected = tokenizer(firsts, seconds, truncation=True).encodings
    assert seen(encodings(tokenizer, firsts, seconds)) == seen(expected)


def test_hardly_any_of_a_long_text_is_read(tokenizer):
    counted = Counted(tokenizer)
    text = LONG["words"]
    encodings(counted, [text])
    assert counted.letters < len(text) / 5
    counted.letters = 0
    encodings(counted, [text], [WORDS[0]])
    assert counted.letters < len(text) / 5


def test_a_tokenizer_that_keeps_the_end_reads_it(tokenizer):
    tokenizer.truncation_side = "left"
    try:
        text = LONG["words"]
        assert seen(encodings(tokenizer, [text])) == seen(tokenizer([text], truncation=True).encodings)
        assert encode(tokenizer, [text]).ids.shape == (1, LIMIT)
    finally:
        tokenizer.truncation_side = "right"
