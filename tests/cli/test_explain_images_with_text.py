"""glasshead explain and generate on a saved model of images and texts: a photo, a question, an answer."""

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


@pytest.mark.slow
def test_a_photo_with_its_question_is_explained_and_drawn(folder, tmp_path):
    asked = ("explain", folder, folder.parent / "photo.png", QUESTION, "--answer", " sleeping")
    assert "row 4, column 4" in glasshead(*asked).stdout
    own = json.loads(glasshead(*asked, "--format", "json").stdout)[0]
    assert own["text"] == f"{QUESTION} sleeping"  # without placeholders of image tokens
    assert own["images"][0].startswith("data:image/png;base64,")
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
    assert "has no text" in refusal(folder, "explain", folder, image, QUESTION, image)


@pytest.mark.slow
def test_what_is_written_about_a_photo_is_drawn_over_it(folder, tmp_path):
    asked = ("generate", folder, folder.parent / "photo.png", QUESTION, "--tokens", "2")
    assert f"{QUESTION} at at" in glasshead(*asked).stdout
    page = tmp_path / "written.html"
    glasshead(*asked, "--out", page)
    assert page.read_text().count("<rect") == 16
    own = json.loads(glasshead(*asked, "--method", "gradient", "--format", "json").stdout)[0]
    assert own["boxes"][0] == [16, 0, 32, 16]
    assert own["prompt"] == QUESTION
    assert "has no text" in refusal(folder, "generate", folder, folder.parent / "photo.png")


def test_several_images_before_a_text_are_of_one_input(folder, tmp_path):
    photo(64, 96, 1).save(folder.parent / "other.png")
    images = folder.parent / "photo.png", folder.parent / "other.png"
    asked = ("explain", folder, *images, QUESTION, "--answer", " sleeping")
    assert "image 2" in glasshead(*asked).stdout
    own = json.loads(glasshead(*asked, "--format", "json").stdout)
    assert len(own) == 1
    assert own[0]["image_numbers"].count(2) == 16
    assert len(own[0]["images"]) == 2
    both = glasshead("explain", folder, *images, QUESTION, images[0], "what ?", "--next", "--format", "json")
    assert [len(one["images"]) for one in json.loads(both.stdout)] == [2, 1]
    glasshead("generate", folder, *images, QUESTION, "--tokens", "1", "--out", tmp_path / "w.html")
    assert (tmp_path / "w.html").read_text().count("<rect") == 32
