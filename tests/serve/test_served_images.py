"""The page of images: what it asks is what the library answers, drawn as a page."""

import base64
import io
import re

import numpy as np
import pytest
import transformers as hf
from playwright.sync_api import expect
from processes import serving
from served_models import served
from watched_pages import link, watched

import caption_models
import glasshead
import image_text_families
from glasshead.drawable import renderer_of
from glasshead.serve import images
from image_families import image_model, processor
from segmenters import segmenter, segmenting_processor

QUESTION = "what colour is the square"
PICTURE = image_text_families.photo()


def as_png(image):
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue()


PHOTO = as_png(PICTURE)


NAMES = ("vit", "beit", "clip", "llava")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The models, saved."""
    folder = tmp_path_factory.mktemp("images")
    clip, tokenizer = caption_models.build("clip")
    models = {
        "vit": (image_model(), processor()),
        "beit": (segmenter("beit"), segmenting_processor()),
        "clip": (
            clip,
            hf.CLIPProcessor(caption_models.clip_processor(), tokenizer),
        ),
        "llava": image_text_families.build("llava"),
    }
    for name, (model, reads) in models.items():
        model.save_pretrained(folder / name)
        reads.save_pretrained(folder / name)
    return folder


@pytest.fixture(scope="module")
def client(folder):
    with served([folder / name for name in NAMES]) as client:
        yield client


def asking(**others):
    return {"image": base64.b64encode(PHOTO).decode(), "name": "photo.png"} | others


def test_each_model_says_which_images_it_reads(client):
    facts = {one["name"]: one for one in client.get("/api/models").json()}
    assert {name: one["reads_images"] for name, one in facts.items()} == {
        "vit": "alone", "beit": "by place", "clip": "with captions", "llava": "with text",
    }  # fmt: skip
    assert facts["llava"]["kind"] == "language model"
    assert facts["vit"]["kind"] == "image classifier"
    offered = {one["name"] for one in facts["vit"]["methods"]}
    assert {"attention", "gradient", "grad-cam", "erasure-neutral-colour"} <= offered
    assert not {"erasure-delete", "captum:lime"} & offered


@pytest.mark.parametrize(
    ("model", "asked", "options"),
    [
        ("vit", {}, {"method": "gradient", "target": 1}),
        ("beit", {}, {"method": "erasure-neutral-colour", "at": "2,3"}),
        ("clip", {"choices": ["a warm film", "a dull film"]}, {"method": "erasure-neutral-colour"}),
        ("clip", {"text": "a warm film"}, {"method": "erasure-neutral-colour", "target": "image"}),
        ("llava", {"text": QUESTION}, {"method": "attention"}),
        ("llava", {"text": QUESTION, "answer": " red"}, {"method": "erasure-mean-embedding"}),
    ],
)
def test_the_page_is_that_of_the_library(client, folder, model, asked, options):
    found = client.post("/api/image", json=asking(model=model, **asked, **options))
    assert found.status_code == 200, found.text
    found = found.json()
    shown = client.get(found["page"])
    assert shown.status_code == 200
    assert "'self'" not in shown.headers["content-security-policy"].split("script-src")[-1].split(";")[0]
    text = asked.get("text")
    image = {"image": PICTURE, "text": text} if text else PICTURE
    own = {name: value for name, value in asked.items() if name != "text"} | options
    expected = glasshead.explain(str(folder / model), image, **own)
    numbers = [line for line in renderer_of(expected).page(expected).splitlines() if 'class="num"' in line]
    assert numbers
    assert [line for line in shown.text.splitlines() if 'class="num"' in line] == numbers
    assert found["remarks"] == expected.remarks
    assert found["python"].startswith(f"glasshead.explain({str(folder / model)!r}, ")
    assert "photo.png" in found["python"]


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"model": "llava"}, "this model reads an image together with a text: type a question about it"),
        ({"model": "vit", "method": "grad-camm"}, "did you mean 'grad-cam'"),
        ({"model": "vit", "target": "no such"}, "the model has no class 'no such'"),
        ({"model": "vit", "image": base64.b64encode(b"no image").decode()}, "image"),
        ({"model": "vit", "image": "%%%"}, "image"),
        ({"model": "vit", "colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(client, question, says):
    found = client.post("/api/image", json=asking() | question)
    assert found.status_code in (400, 422)
    assert says in found.json()["error"]
    assert len(found.json()["error"]) < 400


def test_an_image_may_be_larger_than_other_questions(client):
    noise = np.random.default_rng(0).integers(0, 255, (300, 300, 3), dtype=np.uint8)
    large = base64.b64encode(as_png(hf.image_transforms.to_pil_image(noise))).decode()
    assert len(large) > 2 * 64 * 1024
    assert client.post("/api/image", json=asking(model="vit") | {"image": large}).status_code == 200
    assert client.post("/api/explain", json={"model": "vit", "text": large}).status_code == 413
    assert client.post("/api/image", content=b"x" * (13 * 1024 * 1024)).status_code == 413


def test_the_last_pages_are_kept(client, monkeypatch):
    def explained():
        return client.post("/api/image", json=asking(model="vit", method="gradient")).json()["page"]

    size = len(client.get(explained()).text)
    monkeypatch.setattr(images, "MOST_KEPT", 3 * size)
    addresses = [explained() for _ in range(4)]
    assert len({*addresses}) == 4
    assert [client.get(address).status_code for address in addresses] == [422, 200, 200, 200]


def test_a_large_image_is_made_smaller_and_a_huge_one_is_refused(client, monkeypatch):
    large = base64.b64encode(as_png(PICTURE.resize((2400, 1200)))).decode()
    found = client.post("/api/image", json=asking(model="vit", method="gradient") | {"image": large})
    assert found.status_code == 200
    made = "this page made the image of 2,400 × 1,200 pixels smaller, to 2,048 × 1,024"
    assert made in found.json()["remarks"]
    assert "photo.png" in client.get(found.json()["page"]).text
    monkeypatch.setattr(images, "MOST_PIXELS", 1_000_000)
    found = client.post("/api/image", json=asking(model="vit") | {"image": large})
    assert found.status_code == 422
    assert "photo.png has more than 1,000,000 pixels" in found.json()["error"]


def test_formats_that_run_programs_are_no_images(client):
    script = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n%%EOF\n"
    found = client.post("/api/image", json=asking(model="vit") | {"image": base64.b64encode(script).decode()})
    assert found.status_code == 422
    assert "photo.png is not an image that can be read" in found.json()["error"]


def test_a_model_of_texts_reads_no_image(client):
    found = client.post("/api/explain", json={"model": "vit", "text": "a film"})
    assert found.status_code in (400, 422)
    assert "image" in found.json()["error"]


@pytest.mark.slow
def test_an_image_is_chosen_and_explained(browser, folder):
    with serving(*(folder / name for name in NAMES)) as server:
        server.wait_until_open()
        with watched(browser, server.address, link("image", model="llava")) as page:
            view = page.locator("section[data-view=image]")
            expect(view.locator("select[name=model]")).to_have_value("llava")
            photo = {"name": "photo.png", "mimeType": "image/png", "buffer": PHOTO}
            view.locator("input[name=file]").set_input_files(photo)
            expect(view.locator(".problem")).to_have_text("Type a question about the image.")
            view.locator("textarea[name=text]").fill(QUESTION)
            view.get_by_role("button", name="Explain").click()
            drawn = view.frame_locator("iframe").locator("svg, img").first
            expect(drawn).to_be_visible()
            expect(view.locator("pre.python")).to_contain_text("photo.png")
            view.locator("select[name=model]").select_option("vit")
            expect(view.locator("[data-text]")).to_be_hidden()
            view.locator("select[name=method]").select_option("grad-cam")
            expect(view.frame_locator("iframe").get_by_text("grad-cam", exact=True).first).to_be_visible()
            broken = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no image"}
            view.locator("input[name=file]").set_input_files(broken)
            expect(view.locator(".problem")).to_have_text(re.compile("^notes.txt is not an image"))


@pytest.mark.slow
def test_where_no_model_reads_images_that_is_said(browser, models):
    with serving(models / "planted") as server:
        server.wait_until_open()
        with watched(browser, server.address, link("image")) as page:
            expect(page.locator("section[data-view=image] [data-none]")).to_be_visible()
