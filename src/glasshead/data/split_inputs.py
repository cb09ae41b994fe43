"""What a model reads of a loaded split: texts, pairs of texts, or images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshead.data.describe import has_images
from glasshead.data.image_folders import IMAGE
from glasshead.data.image_text_reader import IMAGES
from glasshead.data.pictures import as_picture
from glasshead.data.text_reader import reader_of
from glasshead.data.texts_with_images import TextWithImages

if TYPE_CHECKING:
    from datasets import Dataset

PAIR = "text_pair"


SEEN_IMAGES, TEXT_BEHIND = "images of the text", "behind the text"
"""Columns of the images that a text is about, and of what follows the prompt that is made of it."""
OTHER_TEXT = "other text about the images"
"""The column of another text about the images, which the same follows; empty if there is none."""


def inputs_of(split: Dataset, tokenizer: Any = None) -> tuple[list[Any], list[str] | None]:
    """The texts of a split, or its images, and the second texts of pairs; texts about images become prompts
    by the reader of the ``tokenizer``."""
    if SEEN_IMAGES in split.column_names:
        reader = reader_of(tokenizer)
        sources = [
            {IMAGES: [*map(as_picture, cells)], "text": text}
            for cells, text in zip(split[SEEN_IMAGES][:], split["text"][:], strict=True)
        ]
        prompts = reader.inputs(sources)
        answers = split[TEXT_BEHIND][:]
        texts = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
        for text, other, answer in zip(texts, split[OTHER_TEXT][:], answers, strict=True):
            if other:
                (prompt,) = reader.inputs([{IMAGES: text.images.pictures, "text": other}])
                text.other = TextWithImages.of(prompt, text.images) + answer
        return texts, None
    if has_images(split):
        return [as_picture(cell) for cell in split[IMAGE][:]], None
    return list(split["text"][:]), list(split[PAIR][:]) if PAIR in split.column_names else None
