"""Sentences about texts become sentences about images."""

import pytest

from glasshead.nouns import IMAGES, TEXTS, nouns_of


@pytest.mark.parametrize(
    ("sentence", "reworded"),
    [
        ("Text by text (n = 2).", "Image by image (n = 2)."),
        ("A text has a token or a word; words are tokens of texts.",
         "An image has a patch or a patch; patches are patches of images."),
        ("Special tokens, class tokens and the row of the first token stay; the first tokens do not.",
         "Special tokens, class tokens and the row of the first token stay; the first patches do not."),
        ("erasure-mask-token, --text-column, contexts in words",
         "erasure-mask-token, --text-column, contexts in words"),
    ],
)  # fmt: skip
def test_words_are_replaced_and_names_are_not(sentence, reworded):
    assert IMAGES.reword(sentence) == reworded
    assert TEXTS.reword(sentence) == sentence


def test_several_results_are_about_images_if_all_are():
    assert nouns_of({"inputs": "images"}, {"inputs": "images"}) == IMAGES
    assert nouns_of({"inputs": "images"}, {}) == nouns_of({}) == nouns_of() == TEXTS
    assert (IMAGES.count(1), IMAGES.count(1200)) == ("1 image", "1,200 images")
