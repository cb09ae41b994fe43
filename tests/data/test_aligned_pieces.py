"""Pieces of tokenizers that do not say where they are, found in the text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import ByT5Tokenizer, CanineTokenizer

from glasshead.data import encode, has_places, offsets_of
from glasshead.data.aligned_pieces import AHEAD, align, read_pieces
from glasshead.data.token_names import token_names
from glasshead.data.word_places import divide, trim
from slow_cases import slow_but

SENTENCE = (
    "the film was not good but Schöne Grüße aus Köln über straßenbahn don't well-made 😀 👍🏽 café naïve "
    "unbelievable, (really!) 3.5 of 10 stars… ÄRGER „gut“ it's e.g. re-watchable"
)
WORDS = SENTENCE.split()
ORDINARY = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)


def word_pieces():
    """As BERT: small letters without accents, and ## inside of words."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator([SENTENCE] * 3, trainer)
    return tokenizer


def sentence_pieces():
    """As SentencePiece: compatibility forms, and ▁ for a blank."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator([SENTENCE] * 3, trainers.BpeTrainer(vocab_size=140, show_progress=False))
    return tokenizer


FAST = {"word pieces": word_pieces(), "sentence pieces": sentence_pieces()}


@pytest.mark.parametrize("name", FAST)
@given(text=ORDINARY)
def test_pieces_are_found_where_a_tokenizer_that_knows_says(name, text):
    read = FAST[name].encode(text)
    spans = [trim(text, span) for span in align(text, read.tokens)]
    known = [trim(text, span) for span in read.offsets]
    letters = [place for place, token in enumerate(read.tokens) if token != "▁"]  # a blank stands for none
    assert [spans[place] for place in letters] == [known[place] for place in letters]
    one_word = [0] * len(spans)
    assert divide(text, one_word, spans)[0] == divide(text, one_word, list(read.offsets))[0]


def test_words_are_those_of_white_space_as_for_sentence_pieces():
    read = FAST["sentence pieces"].encode(SENTENCE)
    words, _ = divide(SENTENCE, read.word_ids, read.offsets)
    assert divide(SENTENCE, [0] * len(read), align(SENTENCE, read.tokens))[0] == words
    assert max(words) == len(WORDS) - 1


@given(text=st.text(max_size=60), tokens=st.lists(st.text(max_size=8), max_size=20))
def test_places_never_go_back_and_stay_in_the_text(text, tokens):
    spans = align(text, tokens)
    assert len(spans) == len(tokens)
    assert all(0 <= start <= stop <= len(text) for start, stop in spans)
    starts, stops = np.array(spans, dtype=int).reshape(-1, 2).T
    assert (np.diff(starts) >= 0).all()
    assert (np.diff(stops) >= 0).all()


@pytest.mark.parametrize("kind", [ByT5Tokenizer, CanineTokenizer])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_every_character_is_covered_by_bytes_and_by_characters(kind, text):
    tokenizer = TOKENIZERS[kind]
    ids, spans = offsets_of(tokenizer, text)
    assert ids == tokenizer(text)["input_ids"]
    covered = {place for start, stop in spans for place in range(start, stop)}
    special = [token for token in tokenizer.all_special_tokens if token in text]
    assert special or covered == {place for place, letter in enumerate(text) if not letter.isspace()}
    encoded = encode(tokenizer, [text])
    assert (np.diff(encoded.words[encoded.words >= 0]) >= 0).all()


TOKENIZERS = {kind: kind() for kind in (ByT5Tokenizer, CanineTokenizer)}


def parts(text, tokens):
    return [text[start:stop] for start, stop in align(text, tokens)]


def test_what_a_tokenizer_writes_instead_of_a_text_has_its_place():
    text = "Thé cat saw https://x.com/abc @bob wow!"
    tokens = ["the", "c@@", "at", "saw", "HT@@", "TP@@", "URL", "@USER", "wow", "!"]
    address = ["ht", "tp", "s://x.com/abc"]
    assert parts(text, tokens) == ["Thé", "c", "at", "saw", *address, "@bob", "wow", "!"]
    assert parts("see it now", ["see", "x", "y", "z", "now"]) == ["see", "it", "it", "it", "now"]
    assert parts("see @bob now", ["see", "@USER", "now"]) == ["see", "@bob", "now"]
    assert parts("a ☃ ☂ b", ["a", "[UNK]", "[UNK]", "b"]) == ["a", "☃", "☂", "b"]
    assert parts("ab", ["a", "nothing", "b"]) == ["a", "", "b"]
    assert align("", ["a", ""]) == [(0, 0), (0, 0)]


def test_long_texts_that_do_not_fit_are_read_in_time():
    text = "ein ganz anderer text " * 400
    spans = align(text, ["other", "tokens", "than", "those"] * 1000)
    assert len(spans) == 4000
    found = align(text, text.split())
    assert [text[start:stop] for start, stop in found] == text.split()


@pytest.mark.slow
@pytest.mark.parametrize("kind", slow_but(ByT5Tokenizer, of=[ByT5Tokenizer, CanineTokenizer]))
def test_a_long_text_that_is_cut_is_read_as_its_beginning(kind):
    """In time: the rest of it is not looked at for each token."""
    text = "Grüße vom @@ Film ▁ und so weiter, " * 6000
    assert len(text) > 200_000
    tokenizer = kind(model_max_length=512)
    own, beginning = (read_pieces(tokenizer, one) for one in (text, text[:1000]))
    assert own == beginning
    assert len(own) == 512
    tokenizer.truncation_side = "left"
    ends, alone = (read_pieces(tokenizer, one) for one in (text, text[-1050:]))
    assert ends.ids == alone.ids
    behind = len(text) - 1050
    assert [place for place in ends.offsets if place != (0, 0)] == [
        (start + behind, stop + behind) for start, stop in alone.offsets if (start, stop) != (0, 0)
    ]


@given(text=ORDINARY, other=ORDINARY, size=st.integers(0, 40))
def test_pieces_that_are_cut_away_change_no_place(text, other, size):
    for tokenizer in FAST.values():
        tokens = tokenizer.encode(other).tokens + tokenizer.encode(text).tokens
        whole = align(text, tokens)
        assert align(text, tokens[: size + AHEAD])[:size] == whole[:size]


@pytest.mark.slow
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("pair", slow_but("böse", of=[None, "böse", "two words and many more"]))
def test_what_is_cut_is_cut_as_by_the_tokenizer(side, pair):
    for kind in TOKENIZERS:
        tokenizer = kind(model_max_length=14)
        tokenizer.truncation_side = side
        text = "Grüße aus Köln"
        called = tokenizer(text, pair, truncation=True)
        row = read_pieces(tokenizer, text, pair)
        assert list(row.ids) == called["input_ids"]
        assert len(row) <= 14
        if "token_type_ids" in called:
            assert list(row.type_ids) == called["token_type_ids"]
        for number, (start, stop), which in zip(row.ids, row.offsets, row.sequence_ids, strict=True):
            read = (text, pair)[which or 0]
            assert (which is None) == (number in tokenizer.all_special_ids)
            if which is not None and kind is CanineTokenizer and start < stop:
                assert read[start:stop] == chr(number)
        first = [stop for (_, stop), which in zip(row.offsets, row.sequence_ids, strict=True) if which == 0]
        assert (max(first) == len(text)) == (side == "left")


def test_an_end_of_a_text_that_is_written_in_it_does_not_stand_twice():
    tokenizer = TOKENIZERS[ByT5Tokenizer]
    with pytest.warns(UserWarning, match="already has </s>"):
        encoded = encode(tokenizer, ["gut</s>"])
    assert encoded.ids[0].tolist() == [*tokenizer("gut", add_special_tokens=False)["input_ids"], 1]
    assert encoded.words[0].tolist() == [0, 0, 0, -1]


def test_second_texts_count_on():
    encoded = encode(TOKENIZERS[CanineTokenizer], ["so ä"], ["b c"])
    assert encoded.words[0].tolist() == [-1, 0, 0, 1, 1, -1, 2, 3, 3, -1]
    joined = "so ä\nb c"
    assert "".join(joined[start:stop] for start, stop in encoded.offsets[0]) == "soäbc"


def test_names_of_bytes():
    tokenizer = TOKENIZERS[ByT5Tokenizer]
    assert token_names(tokenizer, tokenizer("a ü")["input_ids"]) == ["a", "␣", "<0xC3>", "<0xBC>", "</s>"]
    assert token_names(TOKENIZERS[CanineTokenizer], [ord("ü"), ord(" ")]) == ["ü", "␣"]


def test_a_tokenizer_that_reads_in_its_own_way_is_known():
    class Reversing(ByT5Tokenizer):
        def _encode_plus(self, text, *args, **kwargs):
            return super()._encode_plus(text[::-1], *args, **kwargs)

    assert not has_places(Reversing())
    assert has_places(ByT5Tokenizer())
