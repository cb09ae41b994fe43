"""A classifier of images read as one of sequences: its tokens are patches, beside those that it adds."""

from __future__ import annotations

from typing import Any, TypeAlias

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.errors import InputError
from glasshead.huggingface.half_weights import arithmetic_of
from glasshead.huggingface.task_model import TaskModel

IMAGE_CLASSIFIERS = "ForImageClassification"
"""How Transformers calls the classes of models that classify images."""


PatchMaker: TypeAlias = Any
"""A convolution whose patches do not overlap, or a module that says it ``makes_patches``, with the side of
one as its ``stride`` and the ``weight`` that pixels meet first."""


class PatchVectors(nn.Module):
    """One vector for each patch [b, patches, d], row by row: what a look-up of words is to a text."""

    def __init__(self, convolution: PatchMaker) -> None:
        super().__init__()
        self.convolution = convolution

    def forward(self, pixel_values: Float[Tensor, "b c h w"]) -> Float[Tensor, "b patches d"]:
        vectors: Tensor = self.convolution(pixel_values)
        return vectors.flatten(2).transpose(1, 2)


class PatchLookup(nn.Module):
    """Stands where the convolution of a model stood, and says the same by way of `PatchVectors`."""

    def __init__(self, convolution: PatchMaker) -> None:
        super().__init__()
        self.vectors = PatchVectors(convolution)

    @property
    def weight(self) -> Tensor:
        """That of the convolution, by whose type models cast their pixels."""
        return self.vectors.convolution.weight

    def forward(self, pixel_values: Float[Tensor, "b c h w"]) -> Float[Tensor, "b d rows columns"]:
        vectors = self.vectors(pixel_values)
        return vectors.transpose(1, 2).unflatten(2, self.grid(pixel_values.shape[2], pixel_values.shape[3]))

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of patches of an image."""
        steps = self.vectors.convolution.stride
        return height // int(steps[0]), width // int(steps[1])


class PatchClassifier(TaskModel):
    """The logits of a model that classifies images, called with pixels and how many tokens it makes of them.

    ``reads_patches`` says whether its classifier reads vectors of patches, also beside that of a class token.

    The patches of the model are looked up by `PatchVectors`: give a copy.

    Raises:
        InputError: if the model does not read an image by patches that do not overlap.
    """

    main_input_name = "pixel_values"

    def __init__(self, model: PreTrainedModel, reads_patches: bool = False) -> None:
        super().__init__(model)
        self.reads_patches = reads_patches
        self.lookup = replace_convolution(model)

    def rebuild(self, config: PreTrainedConfig) -> PatchClassifier:
        """A model of another configuration, with new weights, read in the same way."""
        return PatchClassifier(type(self.model)(config), self.reads_patches)

    def get_input_embeddings(self) -> nn.Module:
        return self.lookup.vectors

    def forward(
        self,
        pixel_values: Float[Tensor, "b c h w"],
        attention_mask: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """Logits [b, K]; all images have one size, so no token is padding and the mask is left out."""
        output = self.model(pixel_values=pixel_values.to(arithmetic_of(self)), **kwargs)
        return SequenceClassifierOutput(logits=output.logits)


def replace_convolution(model: PreTrainedModel) -> PatchLookup:
    """Put a `PatchLookup` where the model makes patches of an image.

    Raises:
        InputError: if it does not, or patches overlap.
    """
    for name, module in model.named_modules():
        if isinstance(module, PatchLookup):
            return module
        makes_patches = getattr(module, "makes_patches", False)
        if makes_patches or isinstance(module, nn.Conv2d):
            if not makes_patches and overlap(module):
                break
            lookup = PatchLookup(module)
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, lookup)
            return lookup
    raise InputError(
        f"{type(model).__name__} does not read an image by patches that do not overlap: give a ViT, DeiT, "
        "BEiT, DINOv2 or CLIP that classifies images"
    )


def overlap(convolution: nn.Conv2d) -> bool:
    """Whether a pixel is part of several patches."""
    sides = tuple(convolution.kernel_size), tuple(convolution.stride)
    return sides[0] != sides[1] or any(map(bool, padding_of(convolution)))


def padding_of(convolution: nn.Conv2d) -> tuple[int, ...]:
    """Pixels that are added at the edges; "valid" adds none."""
    padding = convolution.padding
    return (0,) if padding == "valid" else (1,) if isinstance(padding, str) else padding


def reads_images(config: PreTrainedConfig) -> bool:
    """Whether a classifier of images was saved."""
    return IMAGE_CLASSIFIERS in (config.architectures or [""])[0]
