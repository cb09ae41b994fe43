"""Somebody's model of images and texts, and its processor → what is asked which caption fits an image."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from transformers import PreTrainedModel, ZeroShotImageClassificationPipeline
from transformers.image_processing_base import ImageProcessingMixin

from glasshead.data import CaptionReader, as_picture, image_size, normalisation_of
from glasshead.errors import InputError
from glasshead.huggingface import PatchClassifier, class_name, isolated_copy
from glasshead.opening.check_copy import CopyError, are_close, check_finite, tolerance_for
from glasshead.opening.open_images import find_grid, reads_patches
from glasshead.spelling import spell
from glasshead.tasks import (
    CAPTION,
    TRIED,
    CaptionModel,
    LabelClassifier,
    compares_otherwise,
    pipeline_of,
    text_inputs,
    text_parts,
)


class ImagesAndTexts(NamedTuple):
    """What reads both before one model."""

    processor: Any
    tokenizer: Any


def parts_of_captions(
    pipeline: ZeroShotImageClassificationPipeline,
) -> tuple[PreTrainedModel, ImagesAndTexts]:
    """The model of a pipeline, and what it reads images and captions with."""
    return pipeline.model, ImagesAndTexts(pipeline.image_processor, pipeline.tokenizer)


def open_caption_model(
    model: PreTrainedModel, read: PreTrainedModel, processor: Any
) -> tuple[CaptionModel, CaptionReader]:
    """A model whose attention can be read (``read``, a copy of ``model``), to be asked about captions, and
    what makes patches of images.

    Raises:
        InputError: if the processor does not read both, its tokens are not patches, it compares differently
            from by cosines, or the copy predicts otherwise.
    """
    readers = readers_of(model, processor)
    height, width = image_size(readers.processor)
    opened = CaptionModel(read, text_parts(read, height, width)).eval()
    classifier = opened.about(readers, TRIED)
    patches = classifier.model if isinstance(classifier, LabelClassifier) else classifier
    assert isinstance(patches, PatchClassifier)
    grid = find_grid(patches, height, width)
    reader = CaptionReader(
        readers.processor, grid, normalisation_of(readers.processor), tokenizer=readers.tokenizer
    )
    opened.reads_patches = reads_patches(patches, reader)
    check_caption_copy(model, patches, reader)
    return opened, reader


def readers_of(model: PreTrainedModel, processor: Any) -> ImagesAndTexts:
    """The image processor and the tokenizer of a processor.

    Raises:
        InputError: if it has not both.
    """
    if isinstance(processor, CaptionReader | ImagesAndTexts):
        return ImagesAndTexts(processor.processor, processor.tokenizer)
    images, texts = (getattr(processor, name, None) for name in ("image_processor", "tokenizer"))
    if not isinstance(images, ImageProcessingMixin) or texts is None:
        raise InputError(
            f"{class_name(model)} compares images with captions, and {type(processor).__name__} does not "
            f"read both: pass its processor (AutoProcessor) as {spell('tokenizer')}"
        )
    return ImagesAndTexts(images, texts)


def check_caption_copy(model: PreTrainedModel, classifier: PatchClassifier, reader: CaptionReader) -> None:
    """Raise InputError unless the logits are those that the whole model gives an image and captions."""
    noise = np.random.default_rng(0).integers(
        0, 256, (reader.grid.height, reader.grid.width, 3), dtype=np.uint8
    )
    inputs = reader.encode([as_picture(Image.fromarray(noise))]).inputs(device=classifier.device)
    original = isolated_copy(model)
    captions = text_inputs(pipeline_of(original, reader), [CAPTION.replace("{}", name) for name in TRIED])
    with torch.no_grad():
        logits = classifier(**inputs).logits[0].float()
        try:
            output = original(**captions, pixel_values=inputs["pixel_values"].to(original.dtype))
            expected = output.logits_per_image[0].float()
        except (AttributeError, TypeError, ValueError, RuntimeError) as error:
            raise compares_otherwise(model) from error
    check_finite(class_name(model), expected)
    if logits.shape != expected.shape or not are_close(logits, expected, tolerance_for(model.dtype)):
        raise CopyError(str(compares_otherwise(model)))
