"""The served page of images: one is chosen, and the page of `glasshead explain` says which parts mattered."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from fastapi import Request
from pydantic import Base64Bytes, Field
from starlette.responses import HTMLResponse, Response

from glasshead.data import Picture, as_picture, as_sources, decode_pixels, reader_of
from glasshead.drawable import renderer_of
from glasshead.errors import InputError
from glasshead.explainers import check_method, explain_texts
from glasshead.opening import OpenOptions, open_subject
from glasshead.requests import MethodRequest
from glasshead.results import Attributions
from glasshead.serve.asking import ask
from glasshead.serve.derive import asks, request_of
from glasshead.serve.fields import Text, Word
from glasshead.serve.guard import MOST_IMAGE_BYTES
from glasshead.serve.opened_model import OpenedModel
from glasshead.serve.pages import PAGE, PAGES, Host, Page, as_page
from glasshead.serve.python_line import call, chosen_options
from glasshead.serve.questions import Answer, Strict

MOST_KEPT = 64 * 1024 * 1024
"""Characters of pages that are kept, of all who ask: one holds its image."""
MOST_PIXELS, LONGEST_SIDE = 32_000_000, 2048
"""Larger images are refused, and those with a longer side made smaller: painting over parts of them takes
seconds for each part."""
MOST_CHOICES = 100


class ImageQuestion(asks(MethodRequest, Strict, without=("template", "segments", "choices"))):  # type: ignore[misc]
    """An image with what it is asked: ``text`` is a question about it or a caption, ``choices`` are captions
    of which one is chosen. ``name`` is that of its file."""

    model: Word
    image: Base64Bytes = Field(max_length=MOST_IMAGE_BYTES)
    name: Word = "image"
    text: Text = ""
    choices: list[Word] = Field([], max_length=MOST_CHOICES)


class ImageAnswer(Answer):
    """Where the page of the explanation is, what to know of it, and the line of Python that computes it."""

    page: str
    remarks: list[str]
    python: str


def explain_image(opened: OpenedModel, question: ImageQuestion) -> Attributions:
    """The explanation of an image, with its text or the captions to choose from.

    Raises:
        InputError: as `glasshead.explain`, and if the model reads no images, or needs a text with them.
    """
    if not opened.reads_images:
        raise InputError(f"{opened.source} reads no images: choose a model that does")
    if opened.reads_images == "with text" and not question.text.strip():
        raise InputError("this model reads an image together with a text: type a question about it")
    request = request_of(MethodRequest, question)
    request = request.replace(choices=tuple(question.choices) or None, answer=question.answer or None)
    check_method(request)
    options = OpenOptions(answers=request.answer is not None, images=True)
    subject = open_subject(opened.subject, options=options)
    image, remark = fitting_image(question)
    asked = {"image": image, "text": question.text} if question.text.strip() else image
    found = explain_texts(subject, reader_of(subject.tokenizer).inputs(as_sources([asked])), None, request)
    return replace(found, notes=(*found.notes, *remark))


def fitting_image(question: ImageQuestion) -> tuple[Picture, tuple[str, ...]]:
    """The image that was sent, or a smaller one, and a remark on that.

    Raises:
        InputError: if it is none that can be read, or has too many pixels.
    """
    picture = as_picture({"bytes": question.image, "path": question.name})
    pixels = decode_pixels(picture, MOST_PIXELS)
    if max(pixels.size) <= LONGEST_SIDE:
        return picture, ()
    size = " × ".join(f"{side:,}" for side in pixels.size)
    pixels.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    pixels.filename = picture.name  # type: ignore[attr-defined]  # as Pillow calls what it opens
    return as_picture(pixels), (
        f"this page made the image of {size} pixels smaller, to {pixels.width:,} × {pixels.height:,}",
    )


def image_line(source: str, question: ImageQuestion) -> str:
    """``glasshead.explain(…)`` of an image, called as its file is."""
    asked: Any = {"image": question.name, "text": question.text} if question.text.strip() else question.name
    options = chosen_options(question) | ({"choices": question.choices} if question.choices else {})
    return call("explain", [source, asked], options)


class KeptPages:
    """The last pages, each by an address that nobody can guess."""

    def __init__(self) -> None:
        self.pages: OrderedDict[str, str] = OrderedDict()

    def keep(self, page: str) -> str:
        """The address of a page."""
        name = secrets.token_urlsafe(12)
        self.pages[name] = page
        while len(self.pages) > 1 and sum(map(len, self.pages.values())) > MOST_KEPT:
            self.pages.popitem(last=False)
        return f"/view/image?page={name}"


def add_routes(host: Host) -> None:
    """An explanation, and its page."""
    kept = KeptPages()

    @host.app.post("/api/image")
    async def image(request: Request, question: ImageQuestion) -> ImageAnswer:
        """Which parts of an image mattered."""
        model = host.catalogue.model(question.model)

        def work(opened: OpenedModel) -> tuple[str, list[str]]:
            found = explain_image(opened, question)
            renderer = renderer_of(found)
            assert renderer is not None
            return renderer.page(found), found.remarks

        page, remarks = await ask(request, model.submit(work), host.seconds)
        return ImageAnswer(page=kept.keep(page), remarks=remarks, python=image_line(model.source, question))

    @host.app.get("/view/image", response_class=HTMLResponse)
    async def image_page(page: str) -> Response:
        """The page of an explanation, as long as it is kept."""
        if page not in kept.pages:
            raise InputError("this page is not kept any more: explain the image again")
        return as_page(kept.pages[page])


PAGES.register("image")(Page("Images", PAGE / "image", add_routes))
