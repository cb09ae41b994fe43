"""From a configuration and images to a new classifier of patches, and what reads images for it."""

from typing import TYPE_CHECKING, Any

from transformers import ViTForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from glasshead.data import ImageReader, as_picture, decode
from glasshead.errors import ParameterError
from glasshead.huggingface import plug
from glasshead.models import VisionConfig
from glasshead.opening import find_patches
from glasshead.training.config import TrainingConfig

if TYPE_CHECKING:
    from datasets import DatasetDict

USUAL_SIZE = 32
"""The side to which images are scaled that have several sizes, or none of a small classifier."""
LARGEST = 64


def build_image_model(
    config: TrainingConfig, data: "DatasetDict", about: dict[str, Any]
) -> tuple[ViTForImageClassification, ImageReader]:
    """A new model with its mechanism, and what scales images for it; ``about`` says which labels.

    Raises:
        InputError: if the size of a patch does not divide that of an image.
    """
    settings: VisionConfig = config.model_config()
    size = settings.image_size or usual_size(data)
    if size % settings.patch_side(size):
        raise ParameterError(
            "patch_size", f"{settings.patch_side(size)} does not divide images of {size} pixels"
        )
    model = plug(settings.build(size, **about), settings.attention)
    processor = ViTImageProcessorPil(size={"height": size, "width": size})
    return model, find_patches(model, processor)


def usual_size(data: "DatasetDict") -> int:
    """The side of the first image where it is a small square, else 32."""
    width, height = decode(as_picture(data["train"][0]["image"])).size
    return width if width == height and 8 <= width <= LARGEST else USUAL_SIZE
