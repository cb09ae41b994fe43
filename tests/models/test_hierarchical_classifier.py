"""Documents: the sentence rule against a slow loop, and what the two levels see."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import train_tokenizer
from glasshead.errors import InputError
from glasshead.models import HierarchicalClassifier
from glasshead.models.hierarchical_classifier import HierarchicalConfig, close_sentences, number_sentences
from glasshead.training.build_model import build_classifier
from kinds import data, recipe
from small_encoders import STOP, batch, small


def by_loop(ends, longest):
    """Token by token: a new sentence after a run of ends, or when the sentence is full."""
    numbers, number, size = [], 0, 0
    for place, end in enumerate(ends):
        after_the_end = place > 0 and ends[place - 1] and not end
        if after_the_end or size == longest:
            number, size = number + 1, 0
        numbers.append(number)
        size += 1
    return numbers


@given(st.lists(st.lists(st.booleans(), min_size=9, max_size=9), min_size=1, max_size=4), st.integers(1, 10))
@settings(max_examples=150, deadline=None)
def test_sentences_by_loop(ends, longest):
    found = number_sentences(torch.tensor(ends), longest)
    assert found.tolist() == [by_loop(each, longest) for each in ends]


def test_a_rule_in_words():
    """Ends that follow each other belong to one sentence; a full sentence is cut."""
    ends = torch.tensor([[False, False, True, True, False, False, False, False, True]])
    assert number_sentences(ends, 3).tolist() == [[0, 0, 0, 1, 2, 2, 2, 3, 3]]
    assert number_sentences(ends, 64).tolist() == [[0, 0, 0, 0, 1, 1, 1, 1, 1]]


@given(st.lists(st.sampled_from(["word", "end", "closer"]), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None)
def test_closers_by_loop(kinds):
    """A closer goes on with the end before it, and is a word like others elsewhere."""
    expected = []
    for kind in kinds:
        expected.append(kind == "end" or (kind == "closer" and expected[-1:] == [True]))
    ends, closers = (torch.tensor([[each == kind for each in kinds]]) for kind in ("end", "closer"))
    assert close_sentences(ends, closers).tolist() == [expected]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("What???? No.", ["What????", "No."]),
        ("A good one!!!!!!! It ends", ["A good one!!!!!!!", "It ends"]),
        ('He said "go!" Then "no." (It ends.) So.', ['He said "go!"', 'Then "no."', "(It ends.)", "So."]),
        ('It ends. "No," he said.', ["It ends.", '"No," he said.']),
        (
            "He said ``go .'' So it -lrb- ends . -rrb- So",
            ["He said ``go .''", "So it -lrb- ends . -rrb-", "So"],
        ),
        ("It ends<br /><br />So (it) ends", ["It ends<br /><br />", "So (it) ends"]),
        ("好。“不！”来？！去…", ["好。", "“不！”", "来？！", "去…"]),
        ("It's 3.5, so", ["It's 3.5, so"]),
    ],
)
def test_sentences_of_texts_of_which_no_mark_was_in_the_training(text, sentences):
    built = build_classifier(recipe("hierarchical"), data("hierarchical"))
    encoded = built.tokenizer(text, return_offsets_mapping=True)
    ids = torch.tensor([encoded["input_ids"]])
    rows = built.model.segments(ids, torch.ones_like(ids, dtype=torch.bool), None)
    ends = rows.mask.sum(dim=1).cumsum(dim=0).tolist()
    spans = [encoded["offset_mapping"][start:end] for start, end in pairwise([0, *ends])]
    assert [text[span[0][0] : span[-1][1]] for span in spans] == sentences


def test_a_model_from_before_the_closers_splits_as_it_did():
    tokenizer = train_tokenizer(["a . b ! ) c"], min_freq=1)
    ends = sorted(tokenizer.convert_tokens_to_ids([".", "!"]))
    model = small("hierarchical", sentence_ends=ends)
    assert model.config.sentence_closers is None
    ids = torch.tensor([tokenizer("a . b ! ) c")["input_ids"]])
    rows = model.segments(ids, torch.ones_like(ids, dtype=torch.bool), None)
    assert rows.mask.sum(dim=1).tolist() == [2, 2, 2]


def test_what_ends_a_sentence():
    tokenizer = train_tokenizer(["a . b ! c ? d … e ... f ?! g , h ' 1.5"], min_freq=1)
    told = HierarchicalClassifier.tokenizer_settings(tokenizer)
    assert set(tokenizer.convert_ids_to_tokens(told["sentence_ends"])) == {".", "!", "?", "…", "..."}
    assert told["vocab_size"] == len(tokenizer)


def test_a_sentence_reads_only_itself():
    model = small("hierarchical", sentence_length=64)
    ids = torch.tensor([[11, 12, STOP, 13, 14, 15, STOP]])
    weights = model(input_ids=ids, output_attentions=True).attentions
    within, pooled, among, last = weights
    assert within.shape == (2, 3, 4, 4)
    assert pooled.shape == (2, 1, 1, 4)
    assert among.shape == (1, 3, 2, 2)
    assert last.shape == (1, 1, 1, 2)
    assert within[0, :, :, 3].count_nonzero() == 0

    vectors, _ = model.words(model.embedding(ids[:, :3]), torch.ones(1, 3, dtype=torch.bool))
    again, _ = model.words(model.embedding(ids[:, 3:]), torch.ones(1, 4, dtype=torch.bool))
    lined = torch.stack([vectors[0], again[0]])[None]
    document, _ = model.sentences(lined, torch.ones(1, 2, dtype=torch.bool))
    torch.testing.assert_close(model(input_ids=ids).logits, model.classifier(document))


def test_a_document_needs_its_ids():
    model = small("hierarchical")
    with pytest.raises(ValueError, match="embeddings do not show where sentences end"):
        model(inputs_embeds=torch.zeros(1, 3, 12), attention_mask=torch.ones(1, 3))


def test_a_document_may_bring_other_vectors():
    model, given_batch = small("hierarchical"), batch("hierarchical")
    expected = model(**given_batch).logits
    embeds = model.embedding(given_batch["input_ids"])
    torch.testing.assert_close(model(**given_batch, inputs_embeds=embeds).logits, expected)
    assert not torch.allclose(model(**given_batch, inputs_embeds=embeds.flip(0)).logits, expected)


def test_a_sentence_has_a_length():
    with pytest.raises(InputError, match="`sentence_length` must be at least 1, not 0"):
        HierarchicalConfig(sentence_length=0).check()
