"""Tokens of bytes drawn at random: the text is what they decode to, and every token stands in it."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshead.data import train_byte_pairs
from glasshead.generation.spans import answer_spans

TOKENIZER = train_byte_pairs(["the lower login of the low", "the the नमस्ते 你好你好 👍 👍"], vocab_size=280)
PROMPT = TOKENIZER("the low")["input_ids"]
LAST = TOKENIZER("👍", add_special_tokens=False)["input_ids"][:-1]


@settings(deadline=None)
@given(answer=st.lists(st.integers(0, len(TOKENIZER) - 1), max_size=12))
@example([*LAST, TOKENIZER.eos_token_id])
@example([*LAST, *LAST])
def test_any_answer(answer):
    text, spans = answer_spans(TOKENIZER, PROMPT, answer, 7)
    assert "the low" + text == TOKENIZER.decode([*PROMPT, *answer], skip_special_tokens=True)
    covered = set()
    for token, (start, stop) in zip(answer, spans, strict=True):
        assert 7 <= start <= stop <= 7 + len(text)
        assert (token in TOKENIZER.all_special_ids) <= (start == stop)
        covered |= set(range(start, stop))
    assert covered == set(range(7, 7 + len(text)))
