"""What a tokenizer made of texts is explained as the texts are."""

import pytest

import glasshead
from classifier_families import FAMILIES, word_tokenizer
from glasshead.errors import InputError

TEXTS = ["a warm film", "the film was not good"]


@pytest.mark.parametrize("kind", [None, "pt", "np"])
def test_ids_are_explained_as_their_texts(kind):
    model, tokenizer = FAMILIES["Bert"].build(), word_tokenizer()
    made = tokenizer(TEXTS, return_tensors=kind, padding=True)
    found, expected = (glasshead.explain(model, given, tokenizer=tokenizer) for given in (made, TEXTS))
    assert [one.text for one in found] == TEXTS
    for one, other in zip(found, expected, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-6)


def test_one_text_stands_alone():
    model, tokenizer = FAMILIES["Bert"].build(), word_tokenizer()
    assert [one.text for one in glasshead.explain(model, tokenizer(TEXTS[0]), tokenizer=tokenizer)] == TEXTS[
        :1
    ]


def test_ids_that_are_no_text_of_the_tokenizer_are_refused():
    model, tokenizer = FAMILIES["Bert"].build(), word_tokenizer()
    pair = tokenizer(*TEXTS)
    with pytest.raises(InputError, match="row 1 of the token ids gives other ids"):
        glasshead.explain(model, pair, tokenizer=tokenizer)
