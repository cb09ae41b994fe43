"""A model that writes behind images and texts: its language model, and what its images are to that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.data import Encoded, EncodedTextsWithImages, TextImages
from glasshead.errors import InputError
from glasshead.huggingface.half_weights import arithmetic_of
from glasshead.huggingface.image_vectors import (
    OUTPUTS,
    PIXELS,
    ImageVectors,
    deeper_inputs,
    flat,
    join_all,
    needed_inputs,
    parameters_of,
    see,
    share_left,
)
from glasshead.huggingface.next_token import NextTokenClassifier
from glasshead.huggingface.random_twin import new_like
from glasshead.huggingface.task_model import TaskModel, class_name

Asked = TypeVar("Asked", bound=PreTrainedModel)
TYPES, IMAGE_TYPES = "token_type_ids", "mm_token_type_ids"
ALIKE = 1e-4
"""Vectors that differ by less than this part of the largest are the same."""


class SharedVectors(tuple[ImageVectors, ...]):
    """The vectors of the images of several texts, which copies of a model share."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


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
    """A ``model`` of images and texts that reads the ``images`` of texts by their numbers, the first of
    ``given``.

    What it makes of images is computed once. ``reader`` is the name of the language model in it. ``prompt``
    is how many tokens come before the answers of texts of which no numbers are given: all have the same
    images. ``unneeded`` is what a processor says of images and the model does not need.
    """

    main_input_name = "input_ids"
    pairs = "none"
    prompt = 0
    unneeded: frozenset[str] = frozenset()
    instead: Sequence[ImageVectors] | None = None

    def __init__(
        self,
        model: PreTrainedModel,
        reader: str,
        images: Sequence[TextImages],
        vectors: Sequence[ImageVectors],
    ) -> None:
        super().__init__(model)
        self.reader, self.images, self.vectors = reader, tuple(images), SharedVectors(vectors)
        self.read_vectors = ReadVectors(model.get_input_embeddings())

    def rebuild(self, config: PreTrainedConfig) -> SeeingModel:
        """The same images for a model of another configuration, with new weights."""
        model = new_like(self.model, config)
        return SeeingModel(model, self.reader, self.images, [see(model, one.pixels) for one in self.images])

    def get_input_embeddings(self) -> nn.Module:
        return self.read_vectors

    def get_output_embeddings(self) -> nn.Module | None:
        head: nn.Module | None = self.model.get_output_embeddings()
        return head

    @contextmanager
    def looking_at(self, vectors: Sequence[ImageVectors]) -> Iterator[None]:
        """In the block the texts of a batch have images of which the model has made these."""
        self.instead = vectors
        try:
            yield
        finally:
            self.instead = None

    def forward(
        self,
        input_ids: Int[Tensor, "b n"],
        given: Int[Tensor, "b numbers"] | None = None,
        attention_mask: Tensor | None = None,
        **options: Any,
    ) -> Any:
        """What the model gives for texts, each with its images."""
        if given is None:
            given = torch.tensor([[0, self.prompt]], device=input_ids.device).expand(len(input_ids), -1)
        rows = given[:, 0].tolist()
        extras = {
            name: torch.cat([self.images[row].pixels[name] for row in rows]).to(input_ids.device)
            for name in extras_of(self.model, self.images[rows[0]].pixels)
            if name not in self.unneeded
        }
        vectors = [self.vectors[row] for row in rows] if self.instead is None else self.instead
        # Audits read their texts again in another type, and some models (Emu3) mix none.
        device, dtype = input_ids.device, arithmetic_of(self.model)
        output = join_all([own.change(lambda tensor: tensor.to(device, dtype)) for own in vectors])
        types = types_of(self.model, input_ids, self.images[rows[0]], given[:, 1])
        reader, token = self.model.get_submodule(self.reader), self.images[rows[0]].token
        of_image = input_ids == token if vectors[0].deeper else None
        with reading_hooked(reader, self.read_vectors, input_ids, of_image):
            return self.model(
                input_ids=input_ids,
                attention_mask=attention_mask,
                **instead_of_pixels(self.model, output),
                **extras,
                **types,
                **options,
            )


@contextmanager
def reading_hooked(
    reader: nn.Module,
    read_vectors: ReadVectors,
    input_ids: Int[Tensor, "b n"],
    of_image: Bool[Tensor, "b n"] | None,
) -> Iterator[None]:
    """What a language model is given to read goes through ``read_vectors`` in the block. If later layers add
    something to image tokens, this goes with their vectors."""

    def hand_on(
        module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        before = options["inputs_embeds"]
        read = read_vectors(input_ids, before)
        changed: dict[str, Any] = {"inputs_embeds": read}
        if of_image is not None:
            left = share_left(read, before, of_image)
            for name, layers in deeper_inputs(options, len(left)).items():
                changed[name] = [layer * left.to(layer) for layer in layers]
        return args, options | changed

    handle = reader.register_forward_pre_hook(hand_on, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def with_images_of(model: Asked, encoded: Encoded) -> Asked:
    """A task model that knows the images of its texts, if there are any.

    Raises:
        InputError: if the model does not read images, or reads them in an unsupported way.
    """
    if not isinstance(encoded, EncodedTextsWithImages):
        return model
    assert isinstance(model, TaskModel)
    asked: Any = model.put_to(seeing_model(model.model, encoded.images))
    result: Asked = asked
    return result


def with_same_images(model: NextTokenClassifier, images: TextImages, prompt: int) -> NextTokenClassifier:
    """A classifier of next tokens that knows the images of all its texts, whose first ``prompt`` tokens are
    the same.

    Raises:
        InputError: as `with_images_of`.
    """
    seeing = seeing_model(model.model, [images])
    seeing.prompt = prompt
    return model.put_to(seeing)


def image_inputs(model: PreTrainedModel, ids: Int[Tensor, "b n"], images: TextImages) -> dict[str, Tensor]:
    """The other inputs of a model, for prompts with the same images."""
    dtype = arithmetic_of(model)
    pixels = {
        name: tensor.to(model.device, dtype if tensor.is_floating_point() else None)
        for name, tensor in images.pixels.items()
    }
    prompts = torch.full((len(ids),), ids.shape[1], device=ids.device)
    return pixels | types_of(model, ids, images, prompts)


def seeing_model(model: PreTrainedModel, images: Sequence[TextImages]) -> SeeingModel:
    """A model that knows the images of some texts.

    Raises:
        InputError: if it does not read images, or in a way of its own.
    """
    vectors = [see(model, own.pixels) for own in images]
    seeing = SeeingModel(model, find_reader(model, images[0], vectors[0]), images, vectors)
    seeing.unneeded = unneeded_extras(model, images, vectors)
    return seeing.eval()


@torch.no_grad()
def unneeded_extras(
    model: PreTrainedModel, images: Sequence[TextImages], vectors: Sequence[ImageVectors]
) -> frozenset[str]:
    """What a processor says of the images of some texts in tensors that do not go together, as masks of
    images of other sizes, if the model gives the same without it for a text of each shape.

    Raises:
        InputError: if it does not.
    """
    shapes: dict[str, set[torch.Size]] = {}
    texts: dict[tuple[torch.Size, ...], int] = {}
    for number, own in enumerate(images):
        extras = extras_of(model, own.pixels)
        for name in extras:
            shapes.setdefault(name, set()).add(own.pixels[name].shape[1:])
        texts.setdefault(tuple(own.pixels[name].shape[1:] for name in extras), number)
    apart = frozenset(name for name, different in shapes.items() if len(different) > 1)
    for number in texts.values() if apart else ():
        with_all, without = (
            pass_placeholders(model, images[number], vectors[number], left) for left in (frozenset(), apart)
        )
        if (with_all - without).abs().max() > ALIKE * with_all.abs().max():
            raise InputError(
                f"{class_name(model)} does not read these images together, since they differ in size or "
                "number: explain them one by one"
            )
    return apart


def extras_of(model: PreTrainedModel, pixels: Mapping[str, Tensor]) -> list[str]:
    """What a processor says of an image next to its pixels, and the model wants to know."""
    return [name for name in pixels if name != PIXELS and name in parameters_of(model)]


def types_of(
    model: PreTrainedModel,
    input_ids: Int[Tensor, "b n"],
    images: TextImages,
    prompts: Int[Tensor, " b"],
) -> dict[str, Tensor]:
    """What kind each token is, for models that ask: an image token or, where the prompt is read in both
    directions, one behind the prompt."""
    named = parameters_of(model)
    of_image = (input_ids == images.token).long()
    types = {IMAGE_TYPES: of_image} if IMAGE_TYPES in named else {}
    if TYPES in named and images.types is not None:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        types[TYPES] = of_image if images.types == "images" else (places >= prompts[:, None]).long()
    return types


def instead_of_pixels(model: PreTrainedModel, output: Any) -> dict[str, Any]:
    """What a model is given in place of pixels: what it made of them."""
    return dict.fromkeys(needed_inputs(model)) | {OUTPUTS: {"image": output}}


def pass_placeholders(
    model: PreTrainedModel, images: TextImages, vectors: ImageVectors, left_out: frozenset[str] = frozenset()
) -> Float[Tensor, "1 n v"]:
    """The logits of a model for image tokens with hardly a word between them, without some of what a
    processor says of the images."""
    device = vectors.device
    ids = placeholders(images).to(device)
    extras = {
        name: images.pixels[name].to(device)
        for name in extras_of(model, images.pixels)
        if name not in left_out
    }
    types = types_of(model, ids, images, torch.tensor([ids.shape[1]], device=device))
    logits: Tensor = model(
        input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False,
        **instead_of_pixels(model, join_all([vectors])), **extras, **types,
    ).logits  # fmt: skip
    return logits


def placeholders(images: TextImages) -> Int[Tensor, "1 n"]:
    """Ids of image tokens, with one of another token before the first, between images and behind the last."""
    other, owners = 0 if images.token else 1, torch.from_numpy(images.owners)
    last = owners.clone()  # marks of new lines go with what is before them
    for place in range(1, len(last)):
        last[place] = last[place - 1] if last[place] < 0 else last[place]
    begins = (torch.nn.functional.pad(last[1:] != last[:-1], (1, 0))).nonzero()[:, 0].tolist()
    parts = torch.full((len(owners),), images.token).tensor_split(begins)
    between = torch.tensor([other])
    return torch.cat([between, *(both for part in parts for both in (part, between))])[None]


@torch.no_grad()
def find_reader(model: PreTrainedModel, images: TextImages, vectors: ImageVectors) -> str:
    """The name of the module that reads word vectors with those of image tokens between them: it is found by
    what it is given, since an encoder of images may be of the same shape.

    Raises:
        InputError: if there is none.
    """
    words, own = model.get_input_embeddings(), flat(vectors.first)
    ids = placeholders(images).to(own.device)
    read = words(ids)[0]  # of halves that are kept in the finer type in which the model computes
    expected = read.masked_scatter((ids == images.token).T, own.to(read.dtype))
    found: list[str] = []
    reached = not vectors.deeper

    def watch(name: str) -> Callable[..., None]:
        def look(module: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
            nonlocal reached
            read = options.get("inputs_embeds")
            if isinstance(read, Tensor) and read.shape == (1, *expected.shape) and alike(read[0], expected):
                found.append(name)
                given = deeper_inputs(options, len(own)).values()
                reached |= any(
                    len(layers) == len(vectors.deeper)
                    and all(alike(a, flat(b).to(a)) for a, b in zip(layers, vectors.deeper, strict=True))
                    for layers in given
                )

        return look

    handles = [
        module.register_forward_pre_hook(watch(name), with_kwargs=True)
        for name, module in model.named_modules()
        if name
    ]
    try:
        pass_placeholders(model, images, vectors)
    finally:
        for handle in handles:
            handle.remove()
    if not found:
        raise InputError(
            f"{class_name(model)} does not place image vectors between its word vectors, so no token is a "
            "part of the image: explain only its texts"
        )
    if not reached:
        raise InputError(
            f"{class_name(model)} passes its image to several layers in an unknown way, so image tokens have "
            "no single vector: explain only its texts"
        )
    return found[0]


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same, up to rounding."""
    return one.shape == other.shape and bool((one - other).abs().max() <= ALIKE * other.abs().max())
