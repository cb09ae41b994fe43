"""What a model makes of the images of a text before its language model reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from glasshead.errors import InputError
from glasshead.huggingface.half_weights import arithmetic_of, in_arithmetic
from glasshead.huggingface.task_model import class_name

Parts = Tensor | tuple[Tensor, ...]
"""Vectors of the tokens of images, or of each part, as a model hands them on."""
PIXELS = "pixel_values"
LOOK = "get_image_features"
OUTPUTS = "mm_encoder_outputs"
DEEPER = "deepstack_features"
"""Where a model has what it adds to image tokens in later layers."""


@dataclass(frozen=True)
class ImageVectors:
    """``first`` are the vectors that are read between word vectors, ``deeper`` those that are added to them
    in later layers (DeepStack, Meng et al. 2024). ``kind`` is the class in which a model hands them on."""

    first: Parts
    deeper: tuple[Parts, ...] = ()
    kind: type = BaseModelOutputWithPooling

    def change(self, change: Callable[[Tensor], Tensor]) -> ImageVectors:
        """The same with each tensor changed."""
        return ImageVectors(change_parts(self.first, change), self.change_deeper(change), self.kind)

    def change_deeper(self, change: Callable[[Tensor], Tensor]) -> tuple[Parts, ...]:
        """What is added in later layers, each tensor changed."""
        return tuple(change_parts(one, change) for one in self.deeper)

    def to(self, device: torch.device) -> ImageVectors:
        """The same on a device."""
        return self.change(lambda tensor: tensor.to(device))

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return flat(self.first).device

    @property
    def of_all_layers(self) -> Float[Tensor, "tokens d"]:
        """All that a model makes of each image token."""
        return torch.cat([flat(self.first), *map(flat, self.deeper)], dim=-1)


def change_parts(parts: Parts, change: Callable[[Tensor], Tensor]) -> Parts:
    """Vectors with each tensor changed."""
    return change(parts) if isinstance(parts, Tensor) else tuple(map(change, parts))


def flat(parts: Parts) -> Float[Tensor, "tokens d"]:
    """The vector of each image token, one below the other."""
    listed = [parts] if isinstance(parts, Tensor) else list(parts)
    return torch.cat([part.reshape(-1, part.shape[-1]) for part in listed])


def join(parts: Sequence[Parts]) -> Any:
    """What a model made of the images of several texts, as it would of all at once."""
    if isinstance(parts[0], Tensor):
        return torch.cat([one for one in parts if isinstance(one, Tensor)])
    return [part for one in parts for part in one]


def join_all(vectors: Sequence[ImageVectors]) -> Any:
    """The same as the output from which a model takes them."""
    fields: dict[str, Any] = {"pooler_output": join([one.first for one in vectors])}
    if vectors[0].deeper:
        fields[DEEPER] = [join(layers) for layers in zip(*(one.deeper for one in vectors), strict=True)]
    return vectors[0].kind(**fields)


def check_takes_vectors(model: PreTrainedModel) -> None:
    """Raise InputError if a model takes no vectors of images from outside."""
    if OUTPUTS not in parameters_of(model):
        raise InputError(
            f"{class_name(model)} does not take the vectors of an image from outside, so its image tokens "
            "cannot be read: explain its texts alone"
        )


@torch.no_grad()
def see(model: PreTrainedModel, pixels: Mapping[str, Tensor]) -> ImageVectors:
    """What a model makes of the images of a text.

    Raises:
        InputError: if it takes no vectors of images from outside, or does not say what it makes of one.
    """
    check_takes_vectors(model)
    looks: list[Any] = [getattr(one, LOOK) for one in (model, model.base_model) if hasattr(one, LOOK)]
    if not looks:
        raise InputError(
            f"{class_name(model)} does not say what it makes of an image ({LOOK}), so its image tokens "
            "cannot be read: explain its texts alone"
        )
    named = {name for look in looks for name in signature(look).parameters}  # one may hand on to the other
    weight: Tensor = model.get_input_embeddings().get_parameter("weight")
    own = {
        name: tensor.to(weight.device, arithmetic_of(model) if tensor.is_floating_point() else None)
        for name, tensor in pixels.items()
        if name in named
    }
    if texts := [name for name in own if name.endswith("input_ids")]:
        raise InputError(
            f"{class_name(model)} lets its image encoder read the text, too ({', '.join(texts)}), so no "
            "image token is of the image alone, which is not supported: give another model"
        )
    with in_arithmetic(model):
        output = looks[0](**own)
    deeper = tuple(map(as_parts, getattr(output, DEEPER, None) or ()))
    return ImageVectors(as_parts(output.pooler_output), deeper, type(output))


def as_parts(vectors: Any) -> Parts:
    """Vectors of parts as a tuple."""
    return tuple(vectors) if isinstance(vectors, list | tuple) else vectors


def parameters_of(model: PreTrainedModel | type[PreTrainedModel]) -> Mapping[str, Any]:
    """What the forward of a model, or of its class, takes by name."""
    return signature((model if isinstance(model, type) else type(model)).forward).parameters


def writes_behind_images(cls: type[PreTrainedModel], config: PreTrainedConfig) -> bool:
    """Whether models of a class, as BLIP-2, write behind a text if it has an image, and only then."""
    decodes = not getattr(config, "is_encoder_decoder", False)
    return decodes and bool(needed_inputs(cls)) and {"input_ids", OUTPUTS} <= set(parameters_of(cls))


def needed_inputs(model: PreTrainedModel | type[PreTrainedModel]) -> list[str]:
    """What the forward of a model cannot do without, but for tokens: a model with such an input reads no text
    alone."""
    named = parameters_of(model).values()
    ones = [one for one in named if one.kind is one.POSITIONAL_OR_KEYWORD and one.default is one.empty]
    return [one.name for one in ones if one.name not in ("self", "input_ids")]


def share_left(
    read: Float[Tensor, "b n d"], before: Float[Tensor, "b n d"], of_image: Bool[Tensor, "b n"]
) -> Float[Tensor, "tokens 1"]:
    r"""How much of an image token is left when ``read`` takes the place of its vector ``before``:
    :math:`1 + \langle r - v, v \rangle / \langle v, v \rangle` while both are the same, so that a gradient
    along the vector scales all that the token adds, also in later layers; 0 for one that is replaced."""
    v, r = before[of_image].detach(), read[of_image]
    along = ((r - v) * v).sum(dim=-1, keepdim=True) / (v * v).sum(dim=-1, keepdim=True).clamp_min(1e-30)
    return (1 + along) * (r.detach() == v).all(dim=-1, keepdim=True)


def deeper_inputs(options: Mapping[str, Any], count: int) -> dict[str, list[Tensor]]:
    """The inputs of a language model that are lists with a vector of each of its image tokens."""
    return {
        name: list(given)
        for name, given in options.items()
        if isinstance(given, list | tuple)
        and given
        and all(isinstance(one, Tensor) and one.ndim == 2 and len(one) == count for one in given)
    }
