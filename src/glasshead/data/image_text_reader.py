"""A tokenizer with the processor of a model that reads images and texts together."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from glasshead.data.chats import is_chat
from glasshead.data.encode import begins_twice, encode
from glasshead.data.image_places import find_places
from glasshead.data.pictures import as_picture, decode_pixels
from glasshead.data.text_reader import TextReader
from glasshead.data.texts_with_images import ImagePlaces, TextImage, TextWithImage
from glasshead.errors import InputError, brief
from glasshead.spelling import spell

IMAGE, IMAGES, TEXT = "image", "images", "text"
KINDS = ("token_type_ids", "mm_token_type_ids")
"""How processors call the kinds of tokens."""
OF_TOKENS = ("input_ids", "attention_mask", "labels", *KINDS)
"""What they say of tokens."""
SAMPLE = "What is in the image?"


class Processed(NamedTuple):
    """A prompt with placeholders for image tokens, the ids of its tokens, what became of the image, and what
    else the processor says of each token, such as its kind."""

    prompt: str
    ids: list[int]
    pixels: dict[str, Tensor]
    kinds: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class ImageTextReader(TextReader):
    """Texts with an image in each become what the model reads; texts alone stay as they are.

    ``token`` is the id of image tokens, and ``look`` gives the vectors that the model makes of an image, by
    what the processor makes of it. ``check`` raises InputError for a model that cannot be read so; it is
    called when the first image is there. ``needs_images``: texts alone are not read.
    """

    processor: Any
    token: int
    look: Callable[[Mapping[str, Tensor]], Tensor]
    check: Callable[[Self], None]
    needs_images: bool = False
    places: dict[tuple[int, int], tuple[Any, ImagePlaces | None]] = field(default_factory=dict)
    passed: list[bool] = field(default_factory=list)

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # what it holds is of the model, and is not changed

    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """Texts, chats and token ids as they are read without images; of texts with an image, given as
        ``{"image": …, "text": …}`` or as a chat, what the model reads.

        Raises:
            InputError: if one is of another kind, or the processor does not read it.
        """
        read = list[Any]()
        for source in sources:
            own = image_and_text(source)
            if own is None and self.needs_images:
                raise InputError(
                    "this model reads a text without an image in both directions, so no next token of it can "
                    "be explained: give the text with its image"
                )
            if own is not None and not self.passed:
                self.check(self)
                self.passed.append(True)
            read += super().inputs([source]) if own is None else [self.read(*own)]
        return read

    def read(self, image: Any, text: Any) -> TextWithImage:
        """A text, or a chat, with its image.

        Raises:
            InputError: if the processor does not read it.
        """
        picture = as_picture(image)
        pixels = decode_pixels(picture)
        prompt = self.prompt_of(text)
        processed = self.process(pixels, prompt)
        seen, places = self.find_places(pixels.size)
        count = processed.ids.count(self.token)
        if count != len(seen):
            raise InputError(
                f"{type(self.processor).__name__} makes {count} image tokens of {picture}, and the model "
                f"{len(seen)} vectors: save the processor that belongs to the model"
            )
        span = span_of_image(prompt, processed.prompt, mark_of_image(self.processor))
        kind = kind_of_types(processed, self.token)
        own = TextImage(picture, span, processed.pixels, self.token, seen, places, kind)
        return TextWithImage.of(processed.prompt, own)

    def prompt_of(self, text: Any) -> str:
        """What a person asks about an image, as the processor wants it: in its chat template if it has one,
        else behind the mark of an image."""
        mark = mark_of_image(self.processor)
        if isinstance(text, str) and mark in text:
            return text
        if getattr(self.processor, "chat_template", None) is None:
            if not isinstance(text, str):
                raise InputError(
                    "the processor has no chat template, so it cannot read a list of messages: give the text"
                )
            return f"{mark}{text}"
        chat = (
            [{"role": "user", "content": [{"type": IMAGE}, {"type": TEXT, TEXT: text}]}]
            if isinstance(text, str)
            else [without_image(message) for message in text]
        )
        begun = chat[-1]["role"] == "assistant"
        try:
            prompt = self.processor.apply_chat_template(
                chat, tokenize=False, add_generation_prompt=not begun, continue_final_message=begun
            )
        except Exception as error:  # templates break in every way there is
            raise InputError(
                f"the chat template of the processor does not take these messages ({brief(error)}): give the "
                "text that the model reads"
            ) from error
        return str(prompt)

    def process(self, image: Image.Image, prompt: str) -> Processed:
        """What the processor makes of an image and a prompt.

        Raises:
            InputError: if it fails, or divides the prompt otherwise than the tokenizer.
        """
        name = type(self.processor).__name__
        spy = TokenizerSpy(self.processor.tokenizer)
        watched = copy.copy(self.processor)
        watched.tokenizer = spy
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of other libraries, about what nobody here can change
                output = watched(images=[image], text=[prompt], return_tensors="pt")
        except Exception as error:  # processors break in every way there is
            raise InputError(f"{name} does not read this image with its text: {brief(error)}") from error
        if len(spy.texts) != 1:
            raise InputError(f"{name} divides a text in a way of its own, so its images cannot be read")
        ids = output["input_ids"][0].tolist()
        own = encode(self.tokenizer, [str(spy.texts[0])])
        if ids[int(begins_twice(self.tokenizer, ids)) :] != own.ids[0][own.mask[0]].tolist():
            raise InputError(
                f"{name} divides this text otherwise than its tokenizer does alone, so its words cannot be "
                "found: give a shorter text"
            )
        pixels = {
            key: torch.as_tensor(value)
            for key, value in output.items()
            if key not in OF_TOKENS and isinstance(value, Tensor | np.ndarray)
        }
        first = int(begins_twice(self.tokenizer, ids))
        kinds = {key: output[key][:, first:] for key in KINDS if key in output}
        return Processed(str(spy.texts[0]), ids[first:], pixels, kinds)

    def find_places(self, size: tuple[int, int]) -> tuple[Any, ImagePlaces | None]:
        """Which image tokens depend on an image of some width and height, and where they are in it; asked
        once of each size."""
        if size not in self.places:
            prompt = self.prompt_of(SAMPLE)

            def look(image: Image.Image) -> Any:
                return self.look(self.process(image, prompt).pixels).double().cpu().numpy()

            self.places[size] = find_places(look, size)
        return self.places[size]


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


def image_and_text(source: Any) -> tuple[Any, Any] | None:
    """The image and the text, or the chat, of what somebody gives; None: there is no image in it.

    Raises:
        InputError: if there is no text, or there are several images.
    """
    if is_chat(source):
        images = [part for message in source for part in images_in(message)]
        if not images:
            return None
        return one_image(images), source
    if not isinstance(source, Mapping) or not {IMAGE, IMAGES} & set(source):
        return None
    if unknown := set(source) - {IMAGE, IMAGES, TEXT}:
        raise InputError(
            f"an image with a text is image and text, not {', '.join(sorted(map(str, unknown)))}"
        )
    if not (isinstance(source.get(TEXT), str) or is_chat(source.get(TEXT))):
        raise InputError('an image needs a text: give {"image": …, "text": "What is …?"}')
    return (source[IMAGE] if IMAGE in source else one_image(source[IMAGES])), source[TEXT]


def images_in(message: Mapping[str, Any]) -> list[Any]:
    """The images of a message."""
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else []
    found = list[Any]()
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == IMAGE:
            own = next((part[name] for name in (IMAGE, "path", "url") if part.get(name) is not None), None)
            if own is None:
                raise InputError('a part of a chat has no image: give {"type": "image", "image": …}')
            found.append(own)
        elif not isinstance(part, Mapping) or part.get("type", TEXT) != TEXT:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            raise InputError(
                f"a part of a chat is {kind!r}: give {{'type': 'image', 'image': …}} or "
                "{'type': 'text', 'text': …}"
            )
    return found


def without_image(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message whose images are marks alone, as a chat template wants them."""
    content = message.get("content")
    if not isinstance(content, list | tuple):
        return dict(message)
    parts = [{"type": IMAGE} if part.get("type") == IMAGE else dict(part) for part in content]
    return {**message, "content": parts}


def one_image(images: Any) -> Any:
    """The one image that there is.

    Raises:
        InputError: if there are several.
    """
    listed = list(images) if isinstance(images, list | tuple) else [images]
    if len(listed) != 1:
        raise InputError(
            f"these are {len(listed)} images, and one image with its text is explained: give one"
        )
    return listed[0]


def mark_of_image(processor: Any) -> str:
    """What stands for an image in a prompt."""
    mark = getattr(processor, "image_token", None) or getattr(processor.tokenizer, "image_token", None)
    if not isinstance(mark, str):
        raise InputError(
            f"{type(processor).__name__} does not say how a prompt marks an image: pass another processor as "
            f"{spell('tokenizer')}"
        )
    return mark


def span_of_image(prompt: str, whole: str, mark: str) -> tuple[int, int]:
    """Where the image stands in the whole text that a processor makes of a prompt with its mark."""
    before, _, behind = prompt.partition(mark)
    start = len(before) if whole.startswith(before) else 0
    end = whole.rfind(behind) if behind else len(whole)
    return start, max(end, start)


def kind_of_types(processed: Processed, token: int) -> str | None:
    """What the types of tokens tell apart: image tokens, or what is behind the prompt; None: nothing."""
    if KINDS[0] not in processed.kinds:
        return None
    marked = [int(number == token) for number in processed.ids]
    return "images" if processed.kinds[KINDS[0]][0].tolist() == marked else "answers"
