"""Somebody's model that writes behind images and texts, and its processor → what reads both.

Nothing of it runs before an image is there: who explains texts alone waits for none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase, ProcessorMixin

from glasshead.data import (
    IMAGE_READER,
    EncodedTextsWithImages,
    ImageTextReader,
    Processed,
    as_picture,
    encode,
)
from glasshead.errors import InputError, brief, pluralise
from glasshead.huggingface import (
    NextTokenClassifier,
    check_takes_vectors,
    class_name,
    image_inputs,
    isolated_copy,
    needed_inputs,
    own_model,
    parameters_of,
    see,
    with_images_of,
)
from glasshead.opening.check_copy import CopyError, are_close, check_finite, tolerance_for
from glasshead.opening.writers import sees_ahead

SIZE = (96, 64)
"""Width and height of an image that is tried."""
FAILURES = (AttributeError, TypeError, ValueError, RuntimeError, LookupError)
"""How models fail on what they do not read."""
TOKEN_IDS = ("image_token_id", "image_token_index")


def divide_processor(model: PreTrainedModel, tokenizer: Any) -> tuple[Any, Any]:
    """The processor of images and texts, where one stands in place of the tokenizer, and its tokenizer."""
    if (reader := getattr(tokenizer, IMAGE_READER, None)) is not None:
        return reader.processor, tokenizer  # what `open` gives may be opened again
    if not isinstance(tokenizer, ProcessorMixin):
        return None, tokenizer
    own = getattr(tokenizer, "tokenizer", None)
    if not isinstance(own, PreTrainedTokenizerBase) or not hasattr(tokenizer, "image_processor"):
        return None, tokenizer
    if token_of_images(model) is None:
        return None, own if hasattr(model, "get_output_embeddings") else tokenizer
    return tokenizer, own


def token_of_images(model: PreTrainedModel) -> int | None:
    """The token that stands for a part of an image, by the configuration of a model; None: it has none."""
    ids = (getattr(model.config, name, None) for name in TOKEN_IDS)
    return next((number for number in ids if isinstance(number, int)), None)


def read_images_too(
    model: PreTrainedModel, read: NextTokenClassifier, tokenizer: Any, processor: ProcessorMixin
) -> None:
    """Let a tokenizer read texts with images, too, for a model and the copy of it that is ``read``."""
    token = token_of_images(model)
    assert token is not None
    look, check = partial(look_at, read.model), partial(check_reading, model, read)
    alone = not sees_ahead(own_model(model)) and not needed_inputs(own_model(model))
    reader = ImageTextReader(tokenizer, processor, token, look, check, needs_images=not alone)
    setattr(tokenizer, IMAGE_READER, reader)


def look_at(model: PreTrainedModel, pixels: Mapping[str, Tensor]) -> Tensor:
    """What the model makes of each image token of a text."""
    return see(model, pixels).of_all_layers


@torch.no_grad()
def check_reading(
    model: PreTrainedModel, read: NextTokenClassifier, reader: ImageTextReader, question: Any, count: int
) -> None:
    """Raise InputError unless the copy, which is given what the model makes of some images, says of these and
    a text what the model says that is given the images."""
    check_takes_vectors(own_model(model))
    noise = np.random.default_rng(0).integers(0, 256, (count, SIZE[1], SIZE[0], 3), dtype=np.uint8)
    images = [*map(Image.fromarray, noise)]
    processed = reader.process(images, reader.prompt_of(question, count))
    check_kinds(model, processed)
    text = reader.read([*map(as_picture, images)], question)
    encoded = encode(reader.tokenizer, [text])
    assert isinstance(encoded, EncodedTextsWithImages)
    inputs = encoded.inputs(device=read.device)
    original = isolated_copy(own_model(model))
    ids = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}
    kinds = {name: value.to(original.device) for name, value in processed.kinds.items()}
    # Some processors leave out the kinds that their model needs (Cosmos 3 Edge).
    others = image_inputs(original, inputs["input_ids"], text.images) | kinds
    try:
        expected = original(**ids, **others, use_cache=False).logits[0, -1].float()
    except FAILURES as error:
        remedy = "check that both belong together" if count == 1 else "put words between the images"
        raise InputError(
            f"{class_name(model)} fails on {pluralise(count, 'image')} from its processor ({brief(error)}): "
            f"{remedy}"
        ) from error
    try:
        own = with_images_of(read, encoded)(**inputs).logits[0].float()
    except InputError:
        raise
    except FAILURES as error:
        raise InputError(
            f"{class_name(model)} cannot run with only the vectors of its images ({brief(error)}), which is "
            "necessary: explain only its texts"
        ) from error
    check_finite(class_name(model), own, expected)
    if own.shape != expected.shape or not are_close(own, expected, tolerance_for(model.dtype)):
        raise CopyError(
            f"{class_name(model)} predicts differently when its image vectors are computed before its "
            "language model runs, which is necessary: explain only its texts"
        )


def check_kinds(model: PreTrainedModel, processed: Processed) -> None:
    """Raise InputError if a model is given a number of each token that is not known here: an answer has
    none."""
    shape, read = (1, len(processed.ids)), parameters_of(own_model(model))
    names = [name for name, value in processed.pixels.items() if value.shape == shape and name in read]
    if names:
        raise InputError(
            f"{class_name(model)} reads an unknown number of each token ({', '.join(names)}), which is not "
            "supported: explain only its texts"
        )
