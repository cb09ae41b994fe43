"""Sentences name inputs and units by the nouns that they are given, and nothing that was put in."""

import re

import pytest

from glasshead.explainers import EXPLAINERS
from glasshead.nouns import IMAGE_NOUNS, TEXTS, nouns_of


@pytest.mark.parametrize(
    ("template", "of_texts", "of_images"),
    [
        ("{Text} by {text} (n = 2).", "Text by text (n = 2).", "Image by image (n = 2)."),
        ("{a_text} has {a_token} or {a_word}", "a text has a token or a word",
         "an image has a patch or a patch"),
        ("{A_text} of {words}: {tokens} of {texts}", "A text of words: tokens of texts",
         "An image of patches: patches of images"),
    ],
)  # fmt: skip
def test_a_template_is_filled_with_nouns(template, of_texts, of_images):
    assert TEXTS.fill(template) == of_texts
    assert IMAGE_NOUNS.fill(template) == of_images


def test_what_is_put_in_stays_as_it_is():
    name = "{tokens} of a text"
    assert IMAGE_NOUNS.fill("{tokens} of {name}", name=name) == "patches of {tokens} of a text"


def test_several_results_are_about_images_if_all_are():
    assert nouns_of({"inputs": "images"}, {"inputs": "images"}) == IMAGE_NOUNS
    assert nouns_of({"inputs": "images"}, {}) == nouns_of({}) == nouns_of() == TEXTS
    assert (IMAGE_NOUNS.count(1), IMAGE_NOUNS.count(1200)) == ("1 image", "1,200 images")


@pytest.mark.parametrize("name", list(EXPLAINERS))
def test_what_an_explainer_does_is_said_of_any_input(name):
    explainer = EXPLAINERS[name]
    assert explainer.describe(TEXTS) == explainer.description
    of_images = explainer.describe(IMAGE_NOUNS)
    if "token" in explainer.description and not name.startswith("captum:"):  # those put in tokens
        assert "patch" in of_images
    assert not re.search(r"[{}]", explainer.description + of_images)
