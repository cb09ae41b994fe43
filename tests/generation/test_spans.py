"""Where tokens stand in what was written, whatever their bytes."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from glasshead.generation.spans import answer_spans, read_prompt, word_numbers


@pytest.fixture(scope="module")
def tokenizer():
    """A token for every byte, and one of two letters."""
    vocabulary = {letter: place for place, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(vocabulary | {"in": 256}, [("i", "n")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["<end>"])
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>")


@pytest.mark.parametrize("answer", [" in 🙂", "नमस्ते in", "你好", " é\nin "])
def test_the_tokens_of_a_character_share_it_and_together_they_are_the_text(tokenizer, answer):
    before, ids = tokenizer("in")["input_ids"], tokenizer(answer)["input_ids"]
    text, spans = answer_spans(tokenizer, before, ids, 2)
    assert text == answer
    covered = sorted(set(spans))
    assert "".join(answer[a - 2 : b - 2] for a, b in covered) == answer
    assert [b for _, b in covered[:-1]] == [a for a, _ in covered[1:]]
    for letter in set(answer):
        at = answer.index(letter) + 2
        size = len(letter.encode())
        assert sum(a <= at < b for a, b in spans) == (1 if letter in "in" else size)


def test_the_spans_of_an_answer_are_those_that_the_tokenizer_gives_its_text(tokenizer):
    whole = read_prompt(tokenizer, "in 你 in")
    _, spans = answer_spans(tokenizer, whole.ids[:1], whole.ids[1:], 2)
    assert tuple(spans) == whole.offsets[1:]


def test_half_a_character_stays_and_special_tokens_have_no_letters(tokenizer):
    ids = [*tokenizer("a🙂")["input_ids"][:3], tokenizer.eos_token_id]
    text, spans = answer_spans(tokenizer, [], ids, 0)
    assert text == "a�" == tokenizer.decode(ids, skip_special_tokens=True)
    assert (spans[0], spans[-1]) == ((0, 1), (1, 1))
    assert spans[1:3] == [(1, 2), (1, 2)]


def test_words_are_apart_by_blanks_and_tokens_without_letters_are_none():
    text = "the film's end"
    offsets = [(0, 0), (0, 3), (3, 8), (8, 10), (10, 11), (11, 14), (14, 14)]
    assert word_numbers(text, offsets) == (-1, 0, 1, 1, 2, 2, -1)


def test_a_prompt_begins_once(tokenizer):
    """A chat template writes the token that the tokenizer puts before every text."""
    chat = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()), bos_token="<end>"
    )
    chat.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<end> $A", special_tokens=[("<end>", chat.bos_token_id)]
    )
    plain, templated = read_prompt(chat, "in"), read_prompt(chat, "<end>in")
    assert plain.ids == templated.ids == (chat.bos_token_id, 256)
    assert plain.offsets[-1] == (0, 2)
    assert templated.offsets == ((0, 5), (5, 7))
