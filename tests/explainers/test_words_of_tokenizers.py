"""The words of an explanation are those of the tokenizer, of any kind, and never begin with a blank."""

import re

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

import glasshead
from classifier_families import FAMILIES
from glasshead.explainers import EXPLAINERS, by_word

CORPUS = ["a warm, funny film", "the plot isn't dull — and not very good!", "naïve café 日本語の映画 😀 👍🏽"]
TEXTS = [
    "a warm, funny film",
    "isn't it   dull?!  Not\tvery\r\ngood …",
    " naïve café — déjà vu 😀👍🏽 good! ",
    "ünïcödé\u3000film",
    "\n\nfilm",
]
CHINESE = "映画は good 日本語。"
SPECIAL = {"special_tokens": ["[PAD]", "[UNK]"], "show_progress": False}


def of_pieces(**options):
    """WordPiece: punctuation and Chinese letters are words."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(**options)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made, trainers.WordPieceTrainer(vocab_size=150, **SPECIAL)


def of_bytes(trim):
    """As GPT-2: a word begins with its blank, and a letter may be several tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.ByteLevel(trim_offsets=trim)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return made, trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, **SPECIAL)


def of_sentences():
    """As XLM-R: SentencePiece, where only blanks divide words."""
    made = Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made, trainers.UnigramTrainer(vocab_size=90, unk_token="[UNK]", **SPECIAL)


def of_whole_texts():
    """As Llama-2: the tokenizer takes a text for one word."""
    made = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return made, trainers.BpeTrainer(vocab_size=90, **SPECIAL)


KINDS = {
    "wordpiece": of_pieces,
    "byte-level": lambda: of_bytes(False),
    "byte-level, trimmed": lambda: of_bytes(True),
    "unigram": of_sentences,
    "one word": of_whole_texts,
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    """The name of a kind of tokenizer, a tokenizer, and a model for it."""
    made, trainer = KINDS[request.param]()
    # One word at a time, so that no token runs over a blank.
    made.train_from_iterator([f" {word}" for text in CORPUS for word in text.split()], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", model_max_length=200
    )
    model = FAMILIES["Bert"].build(vocab_size=len(tokenizer), max_position_embeddings=200)
    return request.param, tokenizer, model


def words_of(attribution):
    return [word for word, number in zip(attribution.tokens, attribution.words, strict=True) if number >= 0]


def words_by_ids(tokenizer, text):
    """The characters of each word of the tokenizer, without white space, and no empty ones."""
    encoding = tokenizer(text).encodings[0]
    numbers = dict.fromkeys(word for word in encoding.word_ids if word is not None)
    spans = [encoding.word_to_chars(word) for word in numbers]
    return [text[start:end].strip() for start, end in spans if text[start:end].strip()]


def test_words_are_those_of_the_tokenizer(kind):
    name, tokenizer, model = kind
    explained = glasshead.explain(model, TEXTS, tokenizer=tokenizer, method="gradient")
    for text, attribution in zip(TEXTS, explained, strict=True):
        expected = words_by_ids(tokenizer, text)
        if name in ("unigram", "one word"):  # of white space these know the blank alone, or nothing
            expected = [word for piece in expected for word in piece.split()]
        assert words_of(attribution) == expected
        assert all(re.search(r"^\s|\s$", word) is None for word in words_of(attribution))
        assert "".join(words_of(attribution)) == "".join(text.split())


def test_blanks_are_counted_once(kind):
    """What tokens of nothing but white space add is in the sum of a word."""
    _, tokenizer, model = kind
    for attribution in EXPLAINERS["gradient"](model, tokenizer, [*TEXTS, CHINESE]):
        words = by_word(attribution)
        assert sum(words.scores) == pytest.approx(sum(attribution.scores), abs=1e-5)
        assert list(words.words) == list(range(len(words.words)))


def test_scripts_without_blanks_are_told_token_by_token(kind):
    """Word numbers of SentencePiece would make one word of a sentence, and an explanation of one number."""
    _, tokenizer, model = kind
    (attribution,) = glasshead.explain(model, CHINESE, tokenizer=tokenizer, method="gradient")
    words = words_of(attribution)
    assert "".join(words) == "".join(CHINESE.split())
    assert "good" in words
    assert len(words) >= 4


def test_pairs_count_on(kind):
    _, tokenizer, model = kind
    (attribution,) = glasshead.explain(
        model, "a warm film ", pairs=" not  good", tokenizer=tokenizer, method="gradient"
    )
    assert words_of(attribution) == ["a", "warm", "film", "not", "good"]


def test_a_text_of_blanks_is_empty(kind):
    _, tokenizer, model = kind
    explained = glasshead.explain(model, [" \n ", "film"], tokenizer=tokenizer, method="gradient")
    assert explained.skipped == ((0, "the text is empty"),)
