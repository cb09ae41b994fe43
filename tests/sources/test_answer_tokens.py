"""Which tokens of an answer belong to which sentence, where blanks belong to tokens."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from glasshead.sources.answer import AnswerTokens
from glasshead.sources.sentence_spans import sentence_spans

ANSWER = "The ferry leaves. Anna keeps it.\n\nYes."


def byte_level():
    """A tokenizer of words with the blank before them."""
    inner = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
    inner.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]")


def test_every_token_is_in_one_sentence():
    read = byte_level()(ANSWER, return_offsets_mapping=True)
    answer = AnswerTokens(ANSWER, tuple(read["input_ids"]), tuple(read["offset_mapping"]))
    spans = sentence_spans(ANSWER)
    words = [[ANSWER[slice(*answer.offsets[token])] for token in answer.tokens_of(span)] for span in spans]
    assert words[0] == ["The", " ferry", " leaves", "."]
    assert words[1] == [" Anna", " keeps", " it", "."]
    assert words[2][-2:] == ["Yes", "."]
    assert answer.tokens_of((0, len(ANSWER))) == [*range(len(answer.ids))]


def test_special_tokens_inside_belong_to_no_sentence():
    answer = AnswerTokens("Yes. No.", (5, 9, 6), ((0, 4), (4, 4), (4, 8)))
    assert answer.tokens_of((0, 4)) == [0]
    assert answer.tokens_of((5, 8)) == [2]
    assert answer.tokens_of((0, 8)) == [0, 2]
