"""Whether the numbers of a detector mean what is read from them: boxes, classes, and no object."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.image_processing_base import ImageProcessingMixin

from glasshead.data import ImageReader, image_size
from glasshead.errors import InputError, brief
from glasshead.huggingface import PIXELS, PatchClassifier, isolated_copy, parameters_of
from glasshead.tasks import NO_OBJECT

DECODE = "post_process_object_detection"
"""How image processors of Transformers call the function that reads the numbers of a detector."""
EDGE, CLOSE = 1e-3, 0.02
"""Rounding of boxes at an edge, and between two ways to the same numbers."""
FAR, NEARER = 0.1, 0.25
"""What is found moved between places if its own place changed by more than this, and the other is nearer by
this factor."""
UNKNOWN = (
    "this image processor does not say what the boxes mean: they are read as middle, width and height in "
    f"shares of the image, and the last class as {NO_OBJECT!r}"
)
MOVING = (
    "this detector moves what it finds between its boxes when parts of the image are erased, so methods that "
    "erase patches may compare different objects"
)


@torch.no_grad()
def detects(model: PreTrainedModel, processor: object) -> bool:
    """Whether a model of images alone, of any name, gives boxes."""
    processor = processor.processor if isinstance(processor, ImageReader) else processor
    named = parameters_of(model)
    if not isinstance(processor, ImageProcessingMixin) or PIXELS not in named or "input_ids" in named:
        return False
    if any(tensor.is_meta for tensor in model.parameters()):
        return False
    own = isolated_copy(model)
    try:
        pixels = torch.zeros(1, 3, *image_size(processor), device=own.device, dtype=own.dtype)
        output = own(pixel_values=pixels)
    except (InputError, TypeError, ValueError, RuntimeError):
        return False  # what is wrong is said where a model is opened
    return getattr(output, "pred_boxes", None) is not None


def notes_on_boxes(
    classifier: PatchClassifier, pixels: Float[Tensor, "1 c h w"], processor: ImageProcessingMixin
) -> tuple[str, ...]:
    """What a reader of explanations should know of a detector."""
    moving = (MOVING,) if moves_boxes(classifier, pixels) else ()
    return moving if hasattr(processor, DECODE) else (*moving, UNKNOWN)


def check_boxes(
    kind: str, output: Any, classes: int, processor: ImageProcessingMixin, size: tuple[int, int]
) -> None:
    """Raise InputError unless a model gives boxes as middle, width and height in shares of the image, each
    with the numbers of its classes and a last one of no object, and its processor reads them in this way."""
    if getattr(output, "pred_boxes", None) is None:
        raise InputError(f"{kind} gives no box with its classes")
    logits, boxes = output.logits[0].float(), output.pred_boxes[0].float()
    if boxes.shape != (len(logits), 4):
        raise InputError(f"{kind} gives no box with its classes")
    if logits.shape[1] != classes + 1:
        raise InputError(
            f"{kind} gives each box {logits.shape[1]} numbers for {classes} classes, and so none for "
            f"{NO_OBJECT!r}: such detectors are not supported"
        )
    if bool(((boxes < -EDGE) | (boxes > 1 + EDGE)).any()):
        raise InputError(
            f"{kind} gives boxes that are not shares of the image from 0 to 1: only detectors with the "
            "middle, width and height of a box in such shares are supported"
        )
    decode = getattr(processor, DECODE, None)
    if decode is not None and not reads_alike(kind, decode, output, logits, boxes, size):
        raise InputError(
            f"{type(processor).__name__} reads other classes or boxes from {kind} than a softmax with "
            f"{NO_OBJECT!r} last and the middle, width and height of a box: such detectors are not supported"
        )


def reads_alike(
    kind: str,
    decode: Any,
    output: Any,
    logits: Float[Tensor, "boxes k"],
    boxes: Float[Tensor, "boxes 4"],
    size: tuple[int, int],
) -> bool:
    """Whether each class, score and box that a processor reads is one of a detector's, read as here."""
    height, width = size
    try:
        (read,) = decode(output, threshold=0.0, target_sizes=torch.tensor([size]))
        labels, scores, corners = (read[name].cpu() for name in ("labels", "scores", "boxes"))
    except Exception as error:  # code of others fails in every way there is
        raise InputError(f"the image processor cannot read the boxes of {kind} ({brief(error)})") from error
    if not len(labels) or bool((labels >= logits.shape[1] - 1).any()):
        return False
    middle, half = boxes[:, :2].cpu(), boxes[:, 2:].cpu() / 2
    own = torch.cat([middle - half, middle + half], dim=1)
    corners = corners.float() / torch.tensor([width, height, width, height])
    same_box = (corners[:, None] - own).abs().amax(dim=-1) <= CLOSE  # [read, boxes]
    probabilities = logits.softmax(dim=-1).cpu().T[labels]
    same_score = (scores.float()[:, None] - probabilities).abs() <= CLOSE
    return bool((same_box & same_score).any(dim=1).all())


@torch.no_grad()
def moves_boxes(classifier: PatchClassifier, pixels: Float[Tensor, "1 c h w"]) -> bool:
    """Whether what a detector finds goes to another place among its boxes when a part of an image is erased,
    as in models that sort their boxes."""
    height, width = pixels.shape[2] // 2, pixels.shape[3] // 2
    whole = slice(None)
    rows, columns = (slice(height), slice(height, None)), (slice(width), slice(width, None))
    parts = [*product(rows, columns), *product(rows, [whole]), *product([whole], columns)]
    before = features_of(classifier, pixels)
    for part in parts:
        changed = pixels.clone()
        changed[:, :, *part] = 0
        after = features_of(classifier, changed)
        distances = torch.cdist(after, before, p=1)
        _, other = linear_sum_assignment(distances.numpy())
        stayed, moved = distances.diagonal(), distances[torch.arange(len(other)), torch.from_numpy(other)]
        if bool(((stayed > FAR) & (moved < NEARER * stayed)).any()):
            return True
    return False


def features_of(model: nn.Module, pixels: Float[Tensor, "1 c h w"]) -> Float[Tensor, "boxes k+4"]:
    """The box and the probabilities at each place."""
    output = model(pixels)
    parts = [output.pred_boxes[0].float(), output.logits[0].float().softmax(dim=-1)]
    return torch.cat(parts, dim=-1).cpu()
