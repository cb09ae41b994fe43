"""A processor of images and texts, and the text that it lets its tokenizer read."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from PIL import Image

from glasshead.errors import InputError, brief
from glasshead.quiet import without_warnings
from glasshead.spelling import spell


def run_processor(processor: Any, images: Sequence[Image.Image], prompt: str) -> tuple[Any, list[str]]:
    """What a processor gives for images and a prompt with their marks, and the whole text that it lets its
    tokenizer read, or what this may be: some put image tokens before the token that begins a text.

    Raises:
        InputError: if it fails, or reads the text by parts.
    """
    name, several = type(processor).__name__, len(images) > 1
    spy = TokenizerSpy(processor.tokenizer)
    watched = copy.copy(processor)
    watched.tokenizer = spy
    try:
        with without_warnings():  # about what nobody here can change
            nested: Any = [list(images)] if several else list(images)
            output = watched(images=nested, text=[prompt], return_tensors="pt")
    except Exception as error:  # processors break in every way there is
        these = f"these {len(images)} images with their" if several else "this image with its"
        raise InputError(f"{name} does not read {these} text: {brief(error)}") from error
    texts, mark = [*map(str, spy.texts)], mark_of_image(processor)
    if len(texts) == 1:
        return output, texts
    if len(texts) == 2 and texts[1] and not texts[1].replace(mark, ""):  # it needs no mark in the text
        if mark in texts[0]:
            return run_processor(processor, images, prompt.replace(mark, ""))
        begin = processor.tokenizer.bos_token or ""
        return output, [texts[1] + texts[0], texts[1] + begin + texts[0]]
    raise InputError(f"{name} divides a text in a way of its own, so its images cannot be read")


class TokenizerSpy:
    """A tokenizer that keeps the texts which it is given."""

    def __init__(self, tokenizer: Any) -> None:
        self.own = tokenizer
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def __call__(self, text: Any, *args: Any, **options: Any) -> Any:
        self.texts += [text] if isinstance(text, str) else list(text)
        return self.own(text, *args, **options)


def mark_of_image(processor: Any) -> str:
    """What stands for an image in a prompt."""
    named = ((processor, "image_placeholder_token"), (processor, "image_token"))
    marks = [getattr(*one, None) for one in (*named, (processor.tokenizer, "image_token"))]
    mark = next(filter(None, marks), None)
    mark = getattr(mark, "content", mark)
    if not isinstance(mark, str):
        raise InputError(
            f"{type(processor).__name__} does not say how a prompt marks an image: pass another processor as "
            f"{spell('tokenizer')}"
        )
    return mark
