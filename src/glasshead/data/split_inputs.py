"""What a model reads of a loaded split: texts, pairs of texts, or images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasshead.data.describe import has_images
from glasshead.data.image_folders import IMAGE
from glasshead.data.pictures import as_picture

if TYPE_CHECKING:
    from datasets import Dataset

PAIR = "text_pair"


def inputs_of(split: Dataset) -> tuple[list[Any], list[str] | None]:
    """The texts of a split, or its images, and of pairs the second texts."""
    if has_images(split):
        return [as_picture(cell) for cell in split[IMAGE][:]], None
    return list(split["text"][:]), list(split[PAIR][:]) if PAIR in split.column_names else None
