"""glasshead explain on a saved model of images and texts: a photo, a question, an answer."""

import json

import pytest

from image_text_families import build, photo
from typed import glasshead, refusal

QUESTION = "what is the cat doing ?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "llava"
    model, processor = build("llava")
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    photo().save(folder.parent / "photo.png")
    return folder


def test_a_photo_with_its_question_is_explained_and_drawn(folder, tmp_path):
    asked = ("explain", folder, folder.parent / "photo.png", QUESTION, "--answer", " sleeping")
    assert "row 4, column 4" in glasshead(*asked).stdout
    own = json.loads(glasshead(*asked, "--format", "json").stdout)[0]
    assert own["text"] == f"{QUESTION} sleeping"  # without placeholders of image tokens
    assert own["image"].startswith("data:image/png;base64,")
    assert own["boxes"][0] == [16, 0, 32, 16]
    assert own["boxes"][-1] is None  # a word
    page = tmp_path / "page.html"
    glasshead(*asked, "--out", page)
    assert page.read_text().count("<rect") >= 16
    assert "sleeping" in page.read_text()
    glasshead(*asked, "--out", tmp_path / "drawn.svg")


def test_texts_alone_are_still_explained(folder):
    assert "row 1, column 1" not in glasshead("explain", folder, QUESTION, "--next").stdout


def test_an_image_without_its_text_is_refused(folder):
    image = folder.parent / "photo.png"
    assert "has no text" in refusal(folder, "explain", folder, image)
    assert "has no text" in refusal(folder, "explain", folder, image, image, QUESTION)
