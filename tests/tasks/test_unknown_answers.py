"""Answers with words that the model does not know: what is explained is its unknown token, and it says so."""

import pytest
import torch
import transformers as hf

from classifier_families import FAMILIES, word_tokenizer
from glasshead import explain
from glasshead.tasks.unknown_words import unknown_labels

PROMPT = "the plot is"
CLASSES = {"GPT2": hf.AutoModelForCausalLM, "T5": hf.AutoModelForSeq2SeqLM}
every = pytest.mark.parametrize("name", CLASSES)


def notes(name, tokenizer=None, **asked):
    torch.manual_seed(0)
    family = FAMILIES[name]
    model = CLASSES[name].from_config(family.config(**family.options)).eval()
    tokenizer = tokenizer or family.tokenizer()
    found = explain(model, PROMPT, tokenizer=tokenizer, method="gradient", **asked)
    return [note for note in found.notes if "[" in note]


@every
@pytest.mark.parametrize("answer", [" zzz", " not zzz good", " zzz zzz"])
def test_an_unknown_word_of_an_answer_is_named(name, answer):
    (note,) = notes(name, answer=answer)
    assert note == (
        "the model does not know “zzz” and reads it as [UNK]: the scores explain the probability of [UNK] "
        "there, not of “zzz”"
    )


@every
@pytest.mark.parametrize("side", ["answer", "against"])
def test_an_unknown_word_of_a_contrast_is_named(name, side):
    (note,) = notes(name, **{"answer": " good", "against": " bad", side: " not zzz"})
    assert "does not know “zzz” and reads it as [UNK]" in note


@every
def test_many_unknown_words_are_counted(name):
    words = [letter * 60 for letter in "bcdefg"]
    (note,) = notes(name, answer=" " + " ".join(words))
    assert f"“{'b' * 40}”, “{'c' * 40}”, “{'d' * 40}”, 3 more and reads each as [UNK]" in note
    assert len(note) <= 300


@every
@pytest.mark.parametrize("answer", [" not good", " [UNK]"])
def test_what_the_model_knows_has_no_note(name, answer):
    assert notes(name, answer=answer) == []
    assert notes(name, answer=answer, against=" bad") == []


def test_where_the_end_of_texts_is_the_unknown_token_it_is_not_part_of_an_answer():
    tokenizer = word_tokenizer("end", pad_token="[PAD]")
    tokenizer.unk_token = "[EOS]"
    assert notes("T5", tokenizer, answer="not good") == []


@pytest.mark.parametrize("asked", [{}, {"against": " funny"}])
def test_a_word_that_is_unknown_behind_its_prompt_is_named_as_it_is_there(asked):
    note = notes("GPT2", answer="good", **asked)[-1]
    assert "does not know “isgood” and reads it as [UNK]" in note


def test_an_answer_that_is_read_otherwise_than_a_source_is_named_whole():
    tokenizer = FAMILIES["T5"].tokenizer()
    known = tokenizer("not good")["input_ids"]
    unknown = [known[0], tokenizer.unk_token_id, known[-1]]
    assert unknown_labels(tokenizer, "not good", unknown) == ["not good"]
    assert unknown_labels(tokenizer, "not good", known) == []
    assert unknown_labels(tokenizer, "not zzz", unknown) == ["zzz"]
