"""A text that is longer than the model reads is said to be cut, whatever is asked about it."""

import glasshead
from induction import LENGTH, WORDS, induction_model


def test_a_text_that_is_cut_is_said_to_be():
    model, tokenizer = induction_model()
    tokenizer.model_max_length = LENGTH
    words = [WORDS[number % len(WORDS)] for number in range(LENGTH + 5)]
    text, other = " ".join(words), " ".join([*words[:-3], words[0], *words[-2:]])
    found = glasshead.lens(model, text, tokenizer=tokenizer)
    direct = glasshead.logit_attribution(model, text, tokenizer=tokenizer)
    row = {"clean": text, "corrupted": other, "answer": words[0]}
    patched = glasshead.patch(model, [row], tokenizer=tokenizer)
    for notes in (found.notes, direct.notes, patched.remarks):
        assert any("cut to 24 tokens" in note for note in notes), notes
