"""A model that writes behind images and texts: its language model, and what its images are to that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from glasshead.data import EncodedTextsWithImages, TextImage
from glasshead.errors import InputError
from glasshead.huggingface.next_token import NextTokenClassifier
from glasshead.huggingface.random_twin import new_like
from glasshead.huggingface.task_model import TaskModel, class_name

Vectors = Tensor | tuple[Tensor, ...]
"""What a model makes of one image, as it hands it on: vectors of its tokens, or of each of its parts."""
PIXELS = "pixel_values"
OUTPUTS = "mm_encoder_outputs"
TYPES, IMAGE_TYPES = "token_type_ids", "mm_token_type_ids"
ALIKE = 1e-4
"""Vectors that differ by less than this part of the largest are the same."""


class ReadVectors(nn.Module):
    """The vectors that a language model reads, word vectors and those of image tokens, as if all had been
    looked up: what hooks a look-up is hooked to this."""

    def __init__(self, words: nn.Module) -> None:
        super().__init__()
        self.words = words

    @property
    def weight(self) -> Any:
        """The word vectors."""
        return self.words.weight

    def forward(self, ids: Int[Tensor, "b n"], vectors: Float[Tensor, "b n d"]) -> Float[Tensor, "b n d"]:
        """The vectors as they are."""
        return vectors


class SeeingModel(TaskModel):
    """A ``model`` of images and texts that reads ``images`` by their numbers, the first of ``given``.

    What it makes of an image is computed once. ``reader`` is the name of the language model in it.
    """

    main_input_name = "input_ids"
    pairs = "none"

    def __init__(
        self, model: PreTrainedModel, reader: str, images: Sequence[TextImage], vectors: Sequence[Vectors]
    ) -> None:
        super().__init__(model)
        self.reader, self.images, self.vectors = reader, tuple(images), tuple(vectors)
        self.read_vectors = ReadVectors(model.get_input_embeddings())

    def rebuild(self, config: PreTrainedConfig) -> SeeingModel:
        """The same images before a model of another configuration, with new weights."""
        model = new_like(self.model, config)
        return SeeingModel(model, self.reader, self.images, [see(model, one.pixels) for one in self.images])

    def get_input_embeddings(self) -> nn.Module:
        return self.read_vectors

    def get_output_embeddings(self) -> nn.Module | None:
        head: nn.Module | None = self.model.get_output_embeddings()
        return head

    def forward(
        self,
        input_ids: Int[Tensor, "b n"],
        given: Int[Tensor, "b numbers"],
        attention_mask: Tensor | None = None,
        **options: Any,
    ) -> Any:
        """What the model gives for texts, each with its image."""
        rows = given[:, 0].tolist()
        extras = {
            name: torch.cat([self.images[row].pixels[name] for row in rows]).to(input_ids.device)
            for name in extras_of(self.model, self.images[rows[0]].pixels)
        }
        output = BaseModelOutputWithPooling(
            pooler_output=join([on_device(self.vectors[row], input_ids.device) for row in rows])
        )
        types = types_of(self.model, input_ids, self.images[rows[0]], given[:, 1])
        with reading_hooked(self.model.get_submodule(self.reader), self.read_vectors, input_ids):
            return self.model(
                input_ids=input_ids,
                attention_mask=attention_mask,
                **{OUTPUTS: {"image": output}},
                **extras,
                **types,
                **options,
            )


@contextmanager
def reading_hooked(
    reader: nn.Module, read_vectors: ReadVectors, input_ids: Int[Tensor, "b n"]
) -> Iterator[None]:
    """What a language model is given to read goes through ``read_vectors`` in the block."""

    def hand_on(
        module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, options | {"inputs_embeds": read_vectors(input_ids, options["inputs_embeds"])}

    handle = reader.register_forward_pre_hook(hand_on, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def with_images_of(model: NextTokenClassifier, encoded: EncodedTextsWithImages) -> NextTokenClassifier:
    """A classifier of next tokens that knows the images of texts.

    Raises:
        InputError: if the model does not read images, or in a way of its own.
    """
    seeing = seeing_model(model.model, encoded.images)
    return model.asking(seeing, model.candidates)


def seeing_model(model: PreTrainedModel, images: Sequence[TextImage]) -> SeeingModel:
    """A model that knows some images.

    Raises:
        InputError: if it does not read images, or in a way of its own.
    """
    vectors = [see(model, image.pixels) for image in images]
    return SeeingModel(model, find_reader(model, images[0], vectors[0]), images, vectors).eval()


@torch.no_grad()
def see(model: PreTrainedModel, pixels: Mapping[str, Tensor]) -> Vectors:
    """What a model makes of an image.

    Raises:
        InputError: if it hands on more than vectors of image tokens, or does not say what it makes of one.
    """
    if OUTPUTS not in parameters_of(model):
        raise InputError(
            f"{class_name(model)} does not take the vectors of an image from outside, so its image tokens "
            "cannot be read: explain its texts alone"
        )
    look: Any = model.get_image_features
    named = signature(look).parameters
    weight: Tensor = model.get_input_embeddings().get_parameter("weight")
    own = {
        name: tensor.to(weight.device, weight.dtype if tensor.is_floating_point() else None)
        for name, tensor in pixels.items()
        if name in named
    }
    output = look(**own)
    if getattr(output, "deepstack_features", None) is not None:
        raise InputError(
            f"{class_name(model)} hands its image on to several layers, so no one vector of an image token "
            "says what it knows: explain its texts alone"
        )
    vectors = output.pooler_output
    return tuple(vectors) if isinstance(vectors, list | tuple) else vectors


def parameters_of(model: PreTrainedModel) -> Mapping[str, Any]:
    """What the forward of a model takes by name."""
    return signature(type(model).forward).parameters


def extras_of(model: PreTrainedModel, pixels: Mapping[str, Tensor]) -> list[str]:
    """What a processor says of an image beside its pixels, and the model wants to know."""
    return [name for name in pixels if name != PIXELS and name in parameters_of(model)]


def types_of(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "b n"],
    image: TextImage,
    prompts: Int[Tensor, " b"],
) -> dict[str, Tensor]:
    """What kind each token is, for models that ask: an image token or, where the prompt is read in both
    directions, one behind the prompt."""
    named = parameters_of(model)
    of_image = (input_ids == image.token).long()
    types = {IMAGE_TYPES: of_image} if IMAGE_TYPES in named else {}
    if TYPES in named and image.types is not None:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        types[TYPES] = of_image if image.types == "images" else (places >= prompts[:, None]).long()
    return types


def join(vectors: Sequence[Vectors]) -> Any:
    """What a model made of several images, as it would of all at once."""
    if isinstance(vectors[0], Tensor):
        return torch.cat([one for one in vectors if isinstance(one, Tensor)])
    return [part for one in vectors for part in one]


def on_device(vectors: Vectors, device: torch.device) -> Vectors:
    """Vectors where they are read."""
    return vectors.to(device) if isinstance(vectors, Tensor) else tuple(one.to(device) for one in vectors)


def flat(vectors: Vectors) -> Float[Tensor, "tokens d"]:
    """The vector of each image token, one below the other."""
    parts = [vectors] if isinstance(vectors, Tensor) else list(vectors)
    return torch.cat([part.reshape(-1, part.shape[-1]) for part in parts])


@torch.no_grad()
def find_reader(model: PreTrainedModel, image: TextImage, vectors: Vectors) -> str:
    """The name of the module that reads word vectors with those of image tokens between them: it is found by
    what it is given, since an encoder of images may be of the same shape.

    Raises:
        InputError: if there is none.
    """
    words, own = model.get_input_embeddings(), flat(vectors)
    dtype = words.get_parameter("weight").dtype
    other = 0 if image.token else 1
    ids = torch.full((1, image.count + 2), image.token, device=own.device)
    ids[0, 0] = ids[0, -1] = other
    expected = torch.cat([words(ids[:, :1])[0], own.to(dtype), words(ids[:, -1:])[0]])
    found: list[str] = []

    def watch(name: str) -> Callable[..., None]:
        def look(module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
            read = options.get("inputs_embeds")
            if isinstance(read, Tensor) and read.shape == (1, *expected.shape):
                gap = (read[0] - expected).abs().max()
                if gap <= ALIKE * expected.abs().max():
                    found.append(name)

        return look

    handles = [
        module.register_forward_pre_hook(watch(name), with_kwargs=True)
        for name, module in model.named_modules()
        if name
    ]
    output = BaseModelOutputWithPooling(pooler_output=join([vectors]))
    extras = {name: image.pixels[name].to(own.device) for name in extras_of(model, image.pixels)}
    types = types_of(model, ids, image, torch.tensor([ids.shape[1]], device=ids.device))
    mask = torch.ones_like(ids)
    try:
        model(
            input_ids=ids, attention_mask=mask, use_cache=False, **{OUTPUTS: {"image": output}}, **extras,
            **types,
        )  # fmt: skip
    finally:
        for handle in handles:
            handle.remove()
    if not found:
        raise InputError(
            f"{class_name(model)} does not put the vectors of an image between its word vectors, so no token "
            "that it reads is a part of the image: explain its texts alone"
        )
    return found[0]
