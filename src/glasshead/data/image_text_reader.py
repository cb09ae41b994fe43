"""A tokenizer with the processor of a model that reads images and texts together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from glasshead.data.chats import is_chat
from glasshead.data.encode import begins_twice, encode
from glasshead.data.encoded_images import Normalisation
from glasshead.data.image_places import Size, find_places, find_places_of_all
from glasshead.data.image_reader import normalisation_of
from glasshead.data.pictures import as_picture, decode_pixels
from glasshead.data.text_reader import TextReader
from glasshead.data.texts_with_images import ImagePlaces, TextImages, TextWithImages
from glasshead.data.watched_processor import mark_of_image, run_processor
from glasshead.errors import InputError, brief, pluralise

IMAGE, IMAGES, TEXT = "image", "images", "text"
KINDS = ("token_type_ids", "mm_token_type_ids")
"""What processors call the kinds of tokens."""
OF_TOKENS = ("input_ids", "attention_mask", "labels", *KINDS)
"""What they say of tokens."""
SAMPLE = "What is in the image?"
ALONE, APART, SIDE_BY_SIDE = "one image", "images with text between them", "images side by side"
"""How images are in a text."""
BEGIN, END = "\ue000", "\ue001"
"""Characters of no text, put around the marks of images to see what a processor makes of each."""
Places = tuple[Any, tuple[ImagePlaces | None, ...]]
"""The number of the image of each image token, and where the tokens of each are in it."""


class Processed(NamedTuple):
    """A prompt with placeholders for image tokens, the ids of its tokens, what became of the images, and what
    else the processor says of each token, such as its kind."""

    prompt: str
    ids: list[int]
    pixels: dict[str, Tensor]
    kinds: dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class ImageTextReader(TextReader):
    """Texts with images in each become what the model reads; texts alone stay as they are.

    ``token`` is the id of image tokens, and ``look`` gives the vectors that the model makes of the images of
    a text, by what the processor makes of them. ``check`` raises InputError for a model that cannot be read
    so; it is called with a text and how many images it has when the first one is there, and the first several
    with text between them, or without. ``needs_images``: texts alone are not read.
    """

    processor: Any
    token: int
    look: Callable[[Mapping[str, Tensor]], Tensor]
    check: Callable[[Self, Any, int], None]
    needs_images: bool = False
    places: dict[tuple[Size, ...], Places] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # what it holds is of the model, and is not changed

    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """Texts, chats and token ids without images; for texts with images, given as ``{"image": …, "text":
        …}``, ``{"images": [… , …], "text": …}`` or as a chat, what the model reads.

        Raises:
            InputError: if one is of another kind, or the processor does not read it.
        """
        read = list[Any]()
        for source in sources:
            if isinstance(source, TextWithImages):
                read.append(source)
                continue
            own = images_and_text(source)
            if own is None and self.needs_images:
                raise InputError(
                    "this model reads a text without an image in both directions, so its next token cannot "
                    "be explained: give the text with its image"
                )
            if own is not None and (layout := self.layout_of(*own)) not in self.passed:
                self.check(self, SAMPLE if layout == ALONE else own[1], len(own[0]))
                self.passed.add(layout)
            read += super().inputs([source]) if own is None else [self.read(*own)]
        return read

    def layout_of(self, images: Sequence[Any], text: Any) -> str:
        """How many images there are, and whether some are side by side, which some models do not read."""
        if len(images) == 1:
            return ALONE
        mark = re.escape(mark_of_image(self.processor))
        touching = re.search(rf"{mark}\s*{mark}", self.prompt_of(text, len(images)))
        return SIDE_BY_SIDE if touching else APART

    def read(self, images: Sequence[Any], text: Any) -> TextWithImages:
        """A text, or a chat, with its images.

        Raises:
            InputError: if the processor does not read them.
        """
        pictures = tuple(map(as_picture, images))
        pixels = [*map(decode_pixels, pictures)]
        prompt = self.prompt_of(text, len(pictures))
        processed = self.process(pixels, prompt)
        owners, places = self.find_places(tuple(own.size for own in pixels))
        self.check_tokens(processed, pixels, owners)
        spans = self.spans_of_images(pixels, prompt, processed.prompt)
        kind = kind_of_types(processed, self.token)
        own = TextImages(pictures, spans, processed.pixels, self.token, owners, places, kind)
        return TextWithImages.of(processed.prompt, own)

    def check_tokens(self, processed: Processed, images: Sequence[Image.Image], owners: Any) -> None:
        """Raise InputError unless a prompt has an image token for each vector, and each image has some."""
        count, name = processed.ids.count(self.token), type(self.processor).__name__
        several = len(images) > 1
        if several and (count == self.tokens_of_first(images) or not set(range(len(images))) <= set(owners)):
            raise InputError(
                f"{name} reads one image with a text, and these are {len(images)}: explain them one by one"
            )
        if count != len(owners):
            raise InputError(
                f"{name} makes {count} image tokens of {pluralise(len(images), 'image')}, and the model "
                f"{len(owners)} vectors: save the processor that belongs to the model"
            )

    def tokens_of_first(self, images: Sequence[Image.Image]) -> int:
        """How many image tokens the first image has alone."""
        return self.process(images[:1], self.prompt_of(SAMPLE, 1)).ids.count(self.token)

    def prompt_of(self, text: Any, count: int) -> str:
        """The prompt about some images, as the processor wants it: in its chat template, or else after the
        marks of the images.

        Raises:
            InputError: if the text has marks, and not one for each image, or the template does not take it.
        """
        mark = mark_of_image(self.processor)
        if isinstance(text, str) and mark in text:
            if (marks := text.count(mark)) != count:
                raise InputError(
                    f"{mark} marks an image, and the text has it {marks} times for "
                    f"{pluralise(count, 'image')}: give an image for each {mark}, or leave {mark} out"
                )
            return text
        if getattr(self.processor, "chat_template", None) is None:
            if not isinstance(text, str):
                raise InputError(
                    "the processor has no chat template, so it cannot read a list of messages: give the text"
                )
            return f"{mark * count}{text}"
        chat = (
            [{"role": "user", "content": [*[{"type": IMAGE}] * count, {"type": TEXT, TEXT: text}]}]
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

    def process(self, images: Sequence[Image.Image], prompt: str) -> Processed:
        """What the processor makes of images and a prompt.

        Raises:
            InputError: if it fails, or divides the prompt differently from the tokenizer.
        """
        name = type(self.processor).__name__
        output, texts = run_processor(self.processor, images, prompt)
        ids = output["input_ids"][0].tolist()
        first = int(begins_twice(self.tokenizer, ids))
        read = ids[first:]
        whole = next((text for text in texts if self.ids_of(text) == read), None)
        if whole is None:
            raise InputError(
                f"{name} divides this text differently from its tokenizer, so its words cannot be found: "
                "give a shorter text"
            )
        pixels = {
            key: torch.as_tensor(value)
            for key, value in output.items()
            if key not in OF_TOKENS and isinstance(value, Tensor | np.ndarray)
        }
        kinds = {key: output[key][:, first:] for key in KINDS if key in output}
        return Processed(whole, read, pixels, kinds)

    def ids_of(self, text: str) -> list[int]:
        """The tokens of a text, as its tokenizer divides it."""
        encoded = encode(self.tokenizer, [text])
        ids: list[int] = encoded.ids[0][encoded.mask[0]].tolist()
        return ids

    def spans_of_images(
        self, images: Sequence[Image.Image], prompt: str, whole: str
    ) -> tuple[tuple[int, int], ...]:
        """Where each image is in the whole text that the processor makes of a prompt with their marks.

        Raises:
            InputError: if it is not seen what became of a mark.
        """
        mark = mark_of_image(self.processor)
        if len(images) == 1:
            return (span_of_image(prompt, whole, mark),)
        _, (divided, *_) = run_processor(self.processor, images, prompt.replace(mark, f"{BEGIN}{mark}{END}"))
        between, here, spans = prompt.split(mark), 0, list[tuple[int, int]]()
        for number, own in enumerate(re.findall(f"{BEGIN}(.*?){END}", divided, re.DOTALL)):
            place = here + len(between[number]) if spans else whole.find(own)
            # Two images side by side may share the mark between them.
            place = next((at for at in range(place, here - len(own), -1) if whole.startswith(own, at)), -1)
            spans.append((max(place, here), place + len(own)))
            here = place + len(own)
        if len(spans) != len(images) or any(start < 0 for start, _ in spans):
            raise InputError(
                f"{type(self.processor).__name__} does not put {len(images)} images where the text marks "
                "them, so their tokens cannot be found: explain them one by one"
            )
        return tuple(spans)

    def pixels_of(self, images: Sequence[Image.Image]) -> dict[str, Tensor]:
        """The pixels that the processor makes of images, with any text."""
        return self.process(images, self.prompt_of(SAMPLE, len(images))).pixels

    @property
    def normalise(self) -> Normalisation:
        """What the image processor does to pixels after resizing."""
        return normalisation_of(self.processor.image_processor)

    def find_places(self, sizes: tuple[Size, ...]) -> Places:
        """The image on which each image token depends, and where the tokens of each are in it; measured once
        for images of the same widths and heights.

        Raises:
            InputError: if a token depends on several images.
        """
        if sizes not in self.places:

            def look(images: Sequence[Image.Image]) -> Any:
                return self.look(self.pixels_of(images)).double().cpu().numpy()

            if len(sizes) == 1:
                seen, places = find_places(lambda image: look([image]), sizes[0])
                self.places[sizes] = np.where(seen, 0, -1), (places,)
            else:
                self.places[sizes] = find_places_of_all(look, sizes, self.places_alone)
        return self.places[sizes]

    def places_alone(self, size: Size) -> tuple[Any, ImagePlaces | None]:
        """Which tokens of one image in a text depend on it, and where they are."""
        owners, (places,) = self.find_places((size,))
        return owners >= 0, places


def images_and_text(source: Any) -> tuple[list[Any], Any] | None:
    """The images and the text, or the chat, of what somebody gives; None: there is no image in it.

    Raises:
        InputError: if there is no text, or an empty list of images.
    """
    if is_chat(source):
        images = [part for message in source for part in images_in(message)]
        return (images, source) if images else None
    if not isinstance(source, Mapping) or not {IMAGE, IMAGES} & set(source):
        return None
    if unknown := set(source) - {IMAGE, IMAGES, TEXT}:
        raise InputError(
            f"an image with a text must be image and text, not {', '.join(sorted(map(str, unknown)))}"
        )
    if not (isinstance(source.get(TEXT), str) or is_chat(source.get(TEXT))):
        raise InputError('an image needs a text: give {"image": …, "text": "What is …?"}')
    if IMAGE in source and IMAGES in source:
        raise InputError("an input has image or images, not both: give a list of all of them as images")
    given = source[IMAGE] if IMAGE in source else source[IMAGES]
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        raise InputError('there is no image in the list: give {"images": [one, another], "text": …}')
    return listed, source[TEXT]


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
