"""Classifiers of images: Transformers' ViT, with its usual sizes for small images."""

from typing import Any

from huggingface_hub.dataclasses import strict
from transformers import ViTConfig, ViTForImageClassification

from glasshead.errors import ParameterError
from glasshead.models.convolutional_vit import (
    ConvolutionalViTConfig,
    ConvolutionalViTForImageClassification,
)
from glasshead.registry import Registry, did_you_mean

STEMS = ("linear", "convolution")
GRID, LEAST = 8, 2
"""So many patches in each direction, where no one chooses the size of a patch; it has two pixels or more."""


@strict
class VisionConfig(ViTConfig):
    """Transformers' ViT: patches of an image and a class token, whose vector is classified.

    ``attention`` is the mechanism that is plugged (word or spec), ``image_size`` the side to which images are
    scaled (None: that of the data), ``patch_size`` that of a patch (None: an eighth of it). Vectors of
    patches are one linear map of their pixels, or with ``stem="convolution"`` come from a
    `ConvolutionalStem`, which can be trained on a few thousand images. Initial weights have a larger spread
    than in Transformers, whose default is meant for hundreds of dimensions. All else is
    `transformers.ViTConfig`, with the sizes of small data. With linear patches, the saved model is
    Transformers' own class.

    Source: Dosovitskiy et al. (2021); Hassani et al. (2021), section 3.3 (convolutions).
    """

    attribute_map = {"dropout": "hidden_dropout_prob"}  # noqa: RUF012 (as Transformers declares it)

    hidden_size: int = 64
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    intermediate_size: int = 128
    initializer_range: float = 0.1
    image_size: int | None = None  # type: ignore[assignment]
    patch_size: int | None = None  # type: ignore[assignment]
    attention: str | dict[str, Any] = "softmax"
    stem: str = "linear"

    def check(self) -> None:
        """Raise InputError on values that no model can be built from."""
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"):
            if getattr(self, name) < 1:
                raise ParameterError(name, f"must be at least 1, not {getattr(self, name)}")
        if self.hidden_size % self.num_attention_heads:
            raise ParameterError(
                "num_attention_heads", f"{self.num_attention_heads} heads do not divide {self.hidden_size}"
            )
        if self.stem not in STEMS:
            raise ParameterError("stem", f"{self.stem!r} is unknown: {did_you_mean(self.stem, STEMS)}")
        if not 0 <= self.hidden_dropout_prob < 1:
            raise ParameterError("dropout", f"must be in [0, 1), not {self.hidden_dropout_prob}")
        for name in ("image_size", "patch_size"):
            size = getattr(self, name)
            if size is not None and size < 1:
                raise ParameterError(name, f"must be at least 1, not {size}")
        if self.image_size is not None and self.image_size % self.patch_side(self.image_size):
            raise ParameterError(
                "patch_size", f"{self.patch_size} does not divide images of {self.image_size} pixels"
            )

    def patch_side(self, image_size: int) -> int:
        """The side of a patch in pixels, for images of that size."""
        return max(image_size // GRID, LEAST) if self.patch_size is None else self.patch_size

    def build(self, image_size: int, **about: Any) -> ViTForImageClassification:
        """A new model for images of that size, with its own attention; ``about`` holds its labels.

        Raises:
            InputError: if convolutions cannot halve an image until a patch is one vector.
        """
        side = self.patch_side(image_size)
        own = {name: getattr(self, name) for name in SIZES} | {"image_size": image_size, "patch_size": side}
        if self.stem == "linear":
            return ViTForImageClassification(ViTConfig(**own, **about))
        if side < 2 or side & (side - 1):
            raise ParameterError(
                "patch_size", f"convolutions halve images, so the side must be a power of two, not {side}"
            )
        return ConvolutionalViTForImageClassification(ConvolutionalViTConfig(**own, **about))


SIZES = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "hidden_dropout_prob", "attention_probs_dropout_prob", "initializer_range", "layer_norm_eps", "qkv_bias",
)  # fmt: skip

IMAGE_MODELS: Registry[type[VisionConfig]] = Registry("image model")
IMAGE_MODELS.register("vit")(VisionConfig)
