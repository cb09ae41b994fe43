"""Somebody's classifier of images and its processor → what can be explained and audited."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor
from transformers import PreTrainedModel
from transformers.image_processing_base import ImageProcessingMixin

from glasshead.data import (
    ImageReader,
    PatchGrid,
    as_picture,
    image_size,
    length_of,
    normalisation_of,
)
from glasshead.errors import InputError, brief
from glasshead.huggingface import (
    PIXELS,
    NoPatchesError,
    PatchClassifier,
    class_name,
    class_names,
    isolated_copy,
    keep_halves,
    kept_arithmetic,
    lacks_attention,
    logits_in,
    parameters_of,
)
from glasshead.opening.check_boxes import check_boxes, notes_on_boxes
from glasshead.opening.check_copy import CopyError, are_close, check_finite, tolerance_for
from glasshead.tasks import BoxClassifier, RegionClassifier
from glasshead.trace import AttentionSelector, eval_mode, find_read_attention, record

MOST_CUTS = 14
"""Rows, and columns, of patches where the model has none of its own."""
MOST_SPECIAL = 32
"""Tokens next to the patches; more of them are not a class token and registers."""
GREY = 128
CLASSES, BOXES, REGIONS = 1, 2, 3
"""Axes of the logits of one image: for each class, for each class of every box, or of every pixel."""


def find_patches(model: PreTrainedModel, processor: ImageProcessingMixin) -> ImageReader:
    """The reader that divides images into patches for a model; the model does not change.

    Raises:
        InputError: if its tokens are not patches.
    """
    return reader_for(PatchClassifier(isolated_copy(model)).eval(), processor)


def reader_for(classifier: PatchClassifier, processor: ImageProcessingMixin) -> ImageReader:
    """What makes the patches that a classifier reads of images of the size of its processor.

    Raises:
        InputError: if its tokens are not patches.
    """
    grid = find_grid(classifier, *image_size(processor))
    return ImageReader(processor, grid, normalisation_of(processor))


def open_image_classifier(
    model: PreTrainedModel, read: PreTrainedModel, processor: object
) -> tuple[PatchClassifier | RegionClassifier | BoxClassifier, ImageReader]:
    """A model whose attention can be read (``read``, a copy of ``model``) as a classifier of patches, of
    regions, or of boxes, and what makes patches of images; the ``processor`` may be such a maker already.

    Raises:
        InputError: if it has no image processor, its tokens are not patches, or the copy predicts otherwise.
    """
    if isinstance(processor, ImageReader):
        processor = processor.processor
    if not isinstance(processor, ImageProcessingMixin):
        raise InputError(
            f"{type(model).__name__} reads images, and {type(processor).__name__} is not an image processor: "
            "give that of the model"
        )
    if PIXELS not in parameters_of(model):
        raise InputError(f"{class_name(model)} does not read images as pixels, so it has no patches")
    try:
        classifier = PatchClassifier(read).eval()
        reader = reader_for(classifier, processor)
        if lacks_attention(classifier) and max(reader.grid.rows, reader.grid.columns) > MOST_CUTS:
            raise NoPatchesError(f"{class_name(model)} has small patches that no attention uses")
        noise, logits = pass_noise(classifier, reader)
        if logits.ndim == BOXES:
            raise NoPatchesError(f"{class_name(model)} has tokens of boxes, next to patches")
    except NoPatchesError:
        size = image_size(processor)
        classifier = PatchClassifier(as_it_is(model, read), cuts=cuts_of(*size)).eval()
        reader = reader_for(classifier, processor)
        noise, logits = pass_noise(classifier, reader)
    check_image_copy(model, classifier, reader, noise, logits)
    if logits.ndim == REGIONS:
        return RegionClassifier(classifier, reader.grid.rows, reader.grid.columns).eval(), reader
    if logits.ndim == BOXES:
        boxes = BoxClassifier(classifier, reader.grid.rows, reader.grid.columns)
        boxes.notes = notes_on_boxes(classifier, noise, reader.processor)
        return boxes.eval(), reader
    classifier.reads_patches = reads_patches(classifier, reader)
    return classifier, reader


def as_it_is(model: PreTrainedModel, read: PreTrainedModel) -> PreTrainedModel:
    """A copy that computes in the precision of ``read``, with the attention of the model itself."""
    kept = kept_arithmetic(read)
    copied = isolated_copy(model, read.dtype if kept is None else None)
    if kept is not None:
        keep_halves(copied, kept)
    return copied


def cuts_of(height: int, width: int) -> tuple[int, int]:
    """Into how many rows and columns an image is cut for a model whose tokens are not patches: as many as
    divide it, and no more than a ViT has.

    Raises:
        InputError: if nothing divides a side.
    """
    rows, columns = (
        max(count for count in range(1, MOST_CUTS + 1) if side % count == 0) for side in (height, width)
    )
    if min(rows, columns) < 2:
        raise InputError(
            f"an image of {width} × {height} pixels cannot be cut into equal patches: set another size in "
            "the image processor"
        )
    return rows, columns


def find_grid(classifier: PatchClassifier, height: int, width: int) -> PatchGrid:
    """Where the patches of images of one size stand among the tokens of a model; one without attention has no
    others.

    Raises:
        InputError: if its layers read something else than all patches at once, behind a few special tokens.
    """
    kind = class_name(classifier)
    rows, columns = classifier.lookup.grid(height, width)
    without = lacks_attention(classifier)
    try:
        with (
            torch.no_grad(),
            eval_mode(classifier),
            nullcontext() if without else record(classifier) as trace,
        ):
            classifier(torch.zeros(1, 3, height, width, device=classifier.device))
    except InputError as error:  # attention over anything but all patches, as in windows
        raise NoPatchesError(no_patches(kind)) from error
    except (ValueError, RuntimeError) as error:
        raise CopyError(
            f"{kind} fails on the pixels of an image of {width} × {height}, "
            "without other inputs "
            f"({brief(error)})"
        ) from error
    if trace is None:
        return PatchGrid(rows, columns, height, width, special=0)
    shapes = {(layer.call.k.shape[0], layer.call.q.shape[2], layer.call.k.shape[2]) for layer in trace.only}
    special = max(length for _, _, length in shapes) - rows * columns
    if (
        len(shapes) > 1
        or any(q != k or batch != 1 for batch, q, k in shapes)
        or not 0 <= special <= MOST_SPECIAL
    ):
        raise NoPatchesError(no_patches(kind))
    return PatchGrid(rows, columns, height, width, special)


def no_patches(kind: str) -> str:
    """Why a model cannot be read by its patches."""
    return (
        f"the layers of {kind} do not read all patches of an image at once (windows, merged or dropped "
        "patches), so no token of it is a patch"
    )


def reads_patches(classifier: PatchClassifier, reader: ImageReader) -> bool:
    """Whether the prediction reads rows of patches in the last layer that it uses, alone or next to a class
    token."""
    if lacks_attention(classifier):
        return False
    grid = reader.grid
    grey = Image.new("RGB", (grid.width, grid.height), (GREY,) * 3)
    attention = find_read_attention(classifier, reader.encode([as_picture(grey)]), AttentionSelector())
    assert attention is not None
    used = attention.used
    return used.change_prediction and used.shares is not None and bool(used.shares[:, grid.special :].any())


@torch.no_grad()
def pass_noise(
    classifier: PatchClassifier, reader: ImageReader
) -> tuple[Float[Tensor, "1 c h w"], Float[Tensor, ...]]:
    """The pixels of an image of noise and its logits, [K] or, for every place, [K, h, w]; of a detector those
    of its boxes [boxes, K + 1]."""
    inputs = noise_for(classifier, reader)
    assert length_of(inputs) == reader.grid.length
    return inputs[PIXELS], classifier(**inputs).logits[0]


@torch.no_grad()
def check_image_copy(
    model: PreTrainedModel,
    classifier: PatchClassifier,
    reader: ImageReader,
    noise: Float[Tensor, "1 c h w"],
    logits: Float[Tensor, ...],
) -> None:
    """Raise InputError if the copy, whose ``logits`` of noise these are, predicts differently from the
    model."""
    kind, original = type(model).__name__, isolated_copy(model)
    output = original(pixel_values=noise.to(original.dtype))
    expected, names = logits_in(output)[0].float(), class_names(classifier)
    if logits.ndim == BOXES:
        check_boxes(kind, output, len(names), reader.processor, (reader.grid.height, reader.grid.width))
    elif len(names) != len(logits):
        raise InputError(
            f"{kind} gives {len(logits)} numbers but has names for {len(names)} classes: name them all in "
            "its configuration (id2label)"
        )
    if logits.ndim not in (CLASSES, BOXES, REGIONS) or len(logits) < 2:
        raise InputError(f"{kind} does not give a number for each of several classes of an image")
    check_finite(kind, logits, expected)
    if not are_close(logits.float(), expected, tolerance_for(model.dtype)):
        raise CopyError(
            f"{kind} predicts differently when its attention is computed step by step, which is necessary "
            "to read it"
        )


def noise_for(classifier: PatchClassifier, reader: ImageReader) -> dict[str, Tensor]:
    """What a classifier is given of an image of noise."""
    shape = (reader.grid.height, reader.grid.width, 3)
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    return reader.encode([as_picture(Image.fromarray(pixels))]).inputs(device=classifier.device)
