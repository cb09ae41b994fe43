"""A classifier of images read as one of sequences: its tokens are patches, next to those that it adds."""

from __future__ import annotations

from typing import Any, TypeAlias

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.errors import InputError
from glasshead.huggingface.half_weights import arithmetic_of
from glasshead.huggingface.random_twin import new_like
from glasshead.huggingface.task_model import TaskModel

IMAGE_HEADS = ("ForImageClassification", "ForSemanticSegmentation", "ForObjectDetection")
"""How Transformers calls the classes of models that classify images, each of their pixels, or boxes."""


class NoPatchesError(InputError):
    """No token of a model is a patch of an image."""


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


class PixelVectors(nn.Module):
    """The pixels of each rectangle of an image [b, rectangles, c · h · w], row by row."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.rows, self.columns = rows, columns

    def forward(self, pixel_values: Float[Tensor, "b c h w"]) -> Float[Tensor, "b patches d"]:
        parts = pixel_values.unflatten(3, (self.columns, -1)).unflatten(2, (self.rows, -1))
        return parts.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)


class PixelLookup(nn.Module):
    """Stands before a model whose tokens are not patches, and passes on the image, cut and put together."""

    hides_attention = True
    """No weight of the model belongs to one of these rectangles."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.vectors = PixelVectors(rows, columns)

    def forward(self, pixel_values: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        channels, height, width = pixel_values.shape[1:]
        rows, columns = self.vectors.rows, self.vectors.columns
        parts = self.vectors(pixel_values).unflatten(1, (rows, columns))
        parts = parts.unflatten(3, (channels, height // rows, width // columns))
        return parts.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of rectangles."""
        return self.vectors.rows, self.vectors.columns


class PatchClassifier(TaskModel):
    """The logits of a model that classifies images, called with pixels and the number of tokens that it
    makes of them.

    ``reads_patches`` says whether its classifier reads vectors of patches, also if there is a class token.

    The patches of the model are looked up by `PatchVectors`: give a copy. If ``cuts`` gives rows and
    columns to divide images into, `PixelVectors` are looked up, and attention is not used.

    Raises:
        NoPatchesError: if the model does not read an image by patches that do not overlap.
    """

    main_input_name = "pixel_values"

    def __init__(
        self, model: PreTrainedModel, reads_patches: bool = False, cuts: tuple[int, int] | None = None
    ) -> None:
        super().__init__(model)
        self.reads_patches, self.cuts = reads_patches, cuts
        self.lookup = replace_convolution(model) if cuts is None else PixelLookup(*cuts)

    def rebuild(self, config: PreTrainedConfig) -> PatchClassifier:
        """A model of another configuration, with new weights, read in the same way."""
        return type(self)(new_like(self.model, config), self.reads_patches, self.cuts)

    def get_input_embeddings(self) -> nn.Module:
        return self.lookup.vectors

    def forward(
        self,
        pixel_values: Float[Tensor, "b c h w"],
        attention_mask: Tensor | None = None,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """Logits [b, K]; all images have one size, so no token is padding and the mask is left out."""
        pixel_values = pixel_values.to(arithmetic_of(self))
        if isinstance(self.lookup, PixelLookup):
            pixel_values = self.lookup(pixel_values)
        output = self.model(pixel_values=pixel_values, **kwargs)
        read = SequenceClassifierOutput(logits=logits_in(output))
        read.pred_boxes = getattr(output, "pred_boxes", None)
        return read


def logits_in(output: Any) -> Tensor:
    """The logits of the classes, also if a model returns them under another name."""
    logits = getattr(output, "logits", None)
    found: Tensor = output[0] if logits is None else logits
    return found


def replace_convolution(model: PreTrainedModel) -> PatchLookup:
    """Put a `PatchLookup` where the model makes patches of an image.

    Raises:
        NoPatchesError: if it does not, or patches overlap.
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
    raise NoPatchesError(f"{type(model).__name__} does not read an image by patches that do not overlap")


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
    return classifies_images((config.architectures or [""])[0])


def classifies_images(name: str) -> bool:
    """Whether the name of a Transformers class is that of an image classifier."""
    return any(head in name for head in IMAGE_HEADS)
