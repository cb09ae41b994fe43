"""Two texts in one row of ids: where every token came from, and what is left when both are too long."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
from transformers import TextClassificationPipeline as Pipeline

from glasshead.data import encode, train_tokenizer
from glasshead.data.encode import join_pair
from glasshead.errors import InputError

WORDS = ("a", "longish", "it's", "self-indulgent", "...", "<br />", "3.5", "naïve", "日本", "!")
CLS, SEP = 2, 3
texts = st.lists(st.sampled_from([*WORDS, "unseen", "\n", "  ", "👍"]), max_size=12).map(" ".join)
templates = pytest.mark.parametrize("first", [False, True], ids=["separator", "first"])


def trained(max_length=512, first=False, pairs=True):
    return train_tokenizer([" ".join(WORDS)], min_freq=1, max_length=max_length, first=first, pairs=pairs)


def real(tokenizer, text):
    """Ids of a text without special tokens."""
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@templates
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=4), limit=st.integers(4, 20))
def test_every_token_is_found_again_in_the_two_texts(first, rows, limit):
    tokenizer = trained(limit, first)
    encoded = encode(tokenizer, [a for a, _ in rows], [b for _, b in rows])
    for row, (a, b) in enumerate(rows):
        whole = join_pair(a, b)
        assert whole == f"{a}\n{b}"
        mask, types, words = encoded.mask[row].numpy(), encoded.types[row].numpy(), encoded.words[row]
        n = mask.sum()
        assert mask[:n].all()
        assert (types[:n] == np.sort(types[:n])).all()  # the first text, then the second
        assert (words[~mask] == -1).all()
        assert (types[~mask] == 0).all()
        seen = []
        for index in range(n):
            start, end = encoded.offsets[row, index]
            token = tokenizer.convert_ids_to_tokens(int(encoded.ids[row, index]))
            if token in ("[CLS]", "[SEP]"):
                assert words[index] == -1
                assert (start, end) == (0, 0)
                continue
            piece = whole[start:end]
            assert token in (piece, "[UNK]")
            assert (start > len(a)) == (types[index] == 1)  # on its side of the line between
            assert end <= len(a) or start > len(a)
            seen.append(words[index])
        # One token is one word here, so words just count, and no word belongs to both texts.
        assert seen == list(range(len(seen)))


@templates
@given(a=texts, b=texts)
def test_a_pair_is_its_two_texts_and_what_stands_between(first, a, b):
    tokenizer = trained(first=first)
    encoded = encode(tokenizer, [a], [b])
    one, two = real(tokenizer, a), real(tokenizer, b)
    expected = [CLS, *one, CLS, *two] if first else [*one, SEP, *two]
    assert encoded.ids[0].tolist() == expected
    assert encoded.types[0].tolist() == [0] * (len(one) + 1) + [1] * (len(two) + first)
    apart = [encode(tokenizer, [text]) for text in (a, b)]
    second = (encoded.types[0].numpy() == 1) & (encoded.words[0] >= 0)
    for row, shift, words in ((~second, 0, 0), (second, len(a) + 1, len(one))):
        here = row & (encoded.words[0] >= 0)
        alone = apart[int(shift > 0)]
        there = alone.words[0] >= 0
        np.testing.assert_array_equal(encoded.offsets[0][here] - shift, alone.offsets[0][there])
        np.testing.assert_array_equal(encoded.words[0][here] - words, alone.words[0][there])


@templates
@given(sizes=st.tuples(st.integers(0, 12), st.integers(0, 12)), limit=st.integers(4, 20))
def test_the_longer_text_is_cut_first(first, sizes, limit):
    tokenizer = trained(limit, first)
    encoded = encode(tokenizer, ["a " * sizes[0]], ["! " * sizes[1]])
    room = limit - (2 if first else 1)
    shorter, longer = sorted(sizes)
    kept = min(shorter, room // 2)
    expected = [kept, min(longer, room - kept)]
    left = [int((encoded.ids == tokenizer.convert_tokens_to_ids(word)).sum()) for word in "a!"]
    assert left == (expected if sizes[0] <= sizes[1] else expected[::-1])
    assert encoded.mask.sum() <= limit


@templates
def test_empty_texts(first):
    encoded = encode(trained(first=first), ["", "a", " "], ["a", "", "\n"])
    between = [CLS, CLS] if first else [SEP]
    rows = [ids[mask].tolist() for ids, mask in zip(encoded.ids, encoded.mask, strict=True)]
    assert [[id for id in row if id not in between] for row in rows] == [rows[0][-1:], rows[0][-1:], []]
    assert [row.count(CLS) + row.count(SEP) for row in rows] == [len(between)] * 3
    assert encoded.words.max(axis=1).tolist() == [0, 0, -1]
    assert encoded.offsets[0][encoded.words[0] == 0].tolist() == [[1, 2]]


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_chunks_change_nothing(chunk):
    a, b = ["a", "it's a", "", "a a a"], ["!", "", "3.5 !", "a"]
    one, other = encode(trained(), a, b), encode(trained(), a, b, chunk=chunk)
    for name in ("ids", "mask", "types"):
        assert getattr(one, name).equal(getattr(other, name))
    np.testing.assert_array_equal(one.words, other.words)
    np.testing.assert_array_equal(one.offsets, other.offsets)


def test_as_many_second_texts_as_first_ones():
    with pytest.raises(ValueError, match="2 texts need as many second texts, not 1"):
        encode(trained(), ["a", "b"], ["a"])


@pytest.mark.parametrize(
    ("first", "pairs", "least"), [(False, False, 1), (True, False, 2), (False, True, 3), (True, True, 4)]
)
def test_each_text_has_room_for_a_word(first, pairs, least):
    with pytest.raises(InputError, match=f"give {least} or more" if least > 1 else "start at 1"):
        trained(least - 1, first, pairs)
    encoded = encode(trained(least, first, pairs), ["a a a"], ["! ! !"] if pairs else None)
    assert (encoded.words >= 0).sum() == 1 + pairs


class TestTemplates:
    """What the tokenizer itself writes, without `encode`."""

    @pytest.mark.parametrize(
        ("first", "pairs", "single", "pair", "types"),
        [
            (False, False, "a !", "a [SEP] !", None),
            (False, True, "a !", "a [SEP] !", [0, 0, 1]),
            (True, False, "[CLS] a !", "[CLS] a [CLS] !", None),
            (True, True, "[CLS] a !", "[CLS] a [CLS] !", [0, 0, 1, 1]),
        ],
    )
    def test_single_and_pair_survive_saving(self, tmp_path, first, pairs, single, pair, types):
        tokenizer = trained(9, first, pairs)
        tokenizer.save_pretrained(tmp_path)
        for each in (tokenizer, AutoTokenizer.from_pretrained(tmp_path)):
            alone, both = each("a !"), each("a", "!")
            assert each.convert_ids_to_tokens(alone["input_ids"]) == single.split()
            assert each.convert_ids_to_tokens(both["input_ids"]) == pair.split()
            assert both.get("token_type_ids") == types
            assert alone.get("token_type_ids") == (None if types is None else [0] * len(single.split()))
            names = ["input_ids", "attention_mask", "token_type_ids"]
            assert each.model_input_names == names[: 2 + pairs]
            assert each.model_max_length == 9

    def test_a_pipeline_gives_the_model_token_types(self, tmp_path):
        tokenizer = trained(9, first=True)
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
            intermediate_size=8,
            initializer_range=0.3,
        )
        torch.manual_seed(0)
        pipeline = Pipeline(
            model=BertForSequenceClassification(config).eval(), tokenizer=tokenizer, device="cpu"
        )
        inputs = pipeline.preprocess({"text": "a it's", "text_pair": "!"})
        assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 1, 1]]
        encoded = encode(tokenizer, ["a it's"], ["!"]).inputs()
        assert all(inputs[name].equal(encoded[name].to(inputs[name].dtype)) for name in encoded)
        score = pipeline({"text": "a it's", "text_pair": "!"})["score"]
        assert score != pipeline({"text": "!", "text_pair": "a it's"})["score"]


def test_pieces_of_words_of_another_tokenizer():
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "self", "##ish", "good", "!"]
    kernel = Tokenizer(WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    kernel.pre_tokenizer = BertPreTokenizer()
    kernel.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=kernel,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="[PAD]",
    )
    encoded = encode(tokenizer, ["good selfish"], ["selfish!"])
    assert tokenizer.convert_ids_to_tokens(encoded.ids[0]) == (
        ["[CLS]", "good", "self", "##ish", "[SEP]", "self", "##ish", "!", "[SEP]"]
    )
    assert encoded.words[0].tolist() == [-1, 0, 1, 1, -1, 2, 2, 3, -1]
    assert encoded.types[0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    whole = join_pair("good selfish", "selfish!")
    assert [whole[start:end] for start, end in encoded.offsets[0] if end] == (
        ["good", "self", "ish", "self", "ish", "!"]
    )
