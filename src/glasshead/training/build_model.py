"""Build a new model and its tokenizer from a configuration and data, or take a pretrained one."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase, ViTForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from glasshead.attention import parse_head_combination
from glasshead.data import (
    PAIR,
    Coverage,
    Encoded,
    ImageReader,
    UnitReader,
    as_picture,
    coverage,
    decode_pixels,
    encode,
    has_images,
    has_ratings,
    inputs_of,
)
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import plug
from glasshead.models import (
    MODELS,
    REGRESSION,
    PooledClassifier,
    TextClassifier,
    TransformerClassifier,
    VisionConfig,
    is_regression,
    read_vectors,
)
from glasshead.opening import find_patches
from glasshead.spelling import spell
from glasshead.training.config import TOKENIZERS, TrainingConfig, embedding_field
from glasshead.training.other_run import Objective
from glasshead.training.pretrained import load_pretrained

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


USUAL_SIZE = 32
"""The side to which images are scaled that have several sizes, or none of a small classifier."""
MOST_CLASSES = 64


@dataclass(frozen=True)
class BuiltModel:
    """A model that fits the data, its tokenizer, remarks, and the objective if it is not the loss of
    labels."""

    model: PreTrainedModel
    tokenizer: Any
    notes: list[str] = field(default_factory=list)
    objective: Objective | None = None


def check_kind(config: TrainingConfig, data: "DatasetDict") -> None:
    """Raise InputError if the model reads pairs, or images, and the data have none, or the reverse."""
    images = has_images(data["train"])
    if config.of_images and not images:
        raise InputError(
            f"the model {config.model} reads images, but these data are texts: use "
            f"{spell('model', 'encoder')}"
        )
    if images and not config.of_images:
        raise InputError(
            f"the model {config.model} reads texts, but these data are images: use {spell('model', 'vit')}"
        )
    if not config.pretrained and not images:
        check_texts_per_example(MODELS[config.model], config.model, data)


def check_texts_per_example(family: type[TextClassifier], name: str, data: "DatasetDict") -> None:
    """Raise InputError unless the family reads as many texts per example as there are."""
    pairs = PAIR in data["train"].column_names
    if pairs and family.texts_per_example == 1:
        raise InputError(
            f"the model {name} reads one text per example, but these data have pairs: use "
            f"{spell('model', 'pair-encoder')}"
        )
    if not pairs and family.texts_per_example == 2:
        raise InputError(
            f"the model {name} reads pairs, but these data have one text per example: use "
            f"{spell('model', 'encoder')}"
        )


def encoded_split(tokenizer: PreTrainedTokenizerBase | UnitReader, split: "Dataset") -> Encoded:
    """The texts of a split, its pairs, or its images."""
    return encode(tokenizer, *inputs_of(split))


def split_coverage(
    tokenizer: PreTrainedTokenizerBase | UnitReader, split: "Dataset", encoded: Encoded
) -> Coverage:
    """How much of a split is read."""
    return coverage(tokenizer, *inputs_of(split), encoded)


def label_tensor(split: "Dataset") -> torch.Tensor:
    """Class numbers, or ratings in float32."""
    return torch.tensor(split["label"][:], dtype=torch.float32 if has_ratings(split) else torch.long)


def label_settings(data: "DatasetDict") -> dict[str, Any]:
    """What a configuration has to know about the task."""
    if has_ratings(data["train"]):
        return {"id2label": {0: "rating"}, "label2id": {"rating": 0}, "problem_type": REGRESSION}
    names = data["train"].features["label"].names
    return {
        "id2label": dict(enumerate(names)),
        "label2id": {name: index for index, name in enumerate(names)},
        "problem_type": "single_label_classification",
    }


def build_classifier(config: TrainingConfig, data: "DatasetDict") -> BuiltModel:
    """A model and a tokenizer for these data.

    Raises:
        InputError: if the model does not read such data, or a file of the configuration cannot be used.
    """
    check_kind(config, data)
    if config.of_images:
        return BuiltModel(*build_image_model(config, data, label_settings(data)))
    if config.pretrained:
        built = BuiltModel(*load_pretrained(config, label_settings(data)))
        if isinstance(built.model, TextClassifier):
            check_texts_per_example(type(built.model), config.model, data)
        return built
    return build_new_model(config, data)


def build_new_model(config: TrainingConfig, data: "DatasetDict") -> BuiltModel:
    """A new model, with pretrained word vectors if the configuration names a file."""
    family = MODELS[config.model]
    marks = family.sentence_marks
    tokenizer = TOKENIZERS[config.tokenizer](
        (
            text
            for name in ("text", PAIR)
            if name in data["train"].column_names
            for text in data["train"][name][:]
        ),
        vocab_size=config.vocab_size,
        min_freq=config.min_freq,
        max_length=config.max_length,
        first=family.special_tokens,
        pairs=family.texts_per_example == 2,
        **({} if marks is None else {"marks": marks}),
    )
    ids, vectors, notes = None, None, []
    sizes: dict[str, Any] = {}
    if config.word_vectors is not None:
        ids, vectors = read_vectors(
            Path(config.word_vectors),
            tokenizer.get_vocab(),
            size=config.architecture.get(embedding_field(config.model)),
        )
        size = vectors.shape[1]
        sizes[embedding_field(config.model)] = size
        notes.append(
            f"word vectors of {config.word_vectors}: {len(ids)} of {len(tokenizer)} tokens, size {size}"
        )
    other = None
    if config.other_run is not None and config.other_run_training is not None:
        other = config.other_run_training(config.other_run, tokenizer, config)
        family = other.family or family
        sizes |= other.model_settings
    model_config = config.model_config(
        family.config_class, **family.tokenizer_settings(tokenizer), **label_settings(data), **sizes
    )
    model_config.check()
    try:
        model = family(model_config)
    except RuntimeError as error:  # torch has no error of its own for too little memory
        raise InputError("the model cannot be built with these sizes: choose smaller ones") from error
    if other is not None:
        other.prepare(model)
    if ids is not None and vectors is not None:
        notes += load_embeddings(model, ids, vectors)
    if is_regression(model_config) and model.classifier.bias is not None:
        # From the mean rating on; the way there would cost the first epochs.
        torch.nn.init.constant_(model.classifier.bias, float(label_tensor(data["train"]).mean()))
    return BuiltModel(model, tokenizer, notes, None if other is None else other.objective)


@torch.no_grad()
def load_embeddings(model: PreTrainedModel, ids: np.ndarray, vectors: np.ndarray) -> list[str]:
    """Put word vectors into the embeddings; encoders draw the vectors of other words with the same spread."""
    weight = model.get_input_embeddings().get_parameter("weight")
    notes = []
    if not isinstance(model, PooledClassifier):
        spread = float(vectors.std())
        weight.mul_(spread / model.config.initializer_range)
        model.config.initializer_range = spread
        notes.append(f"words without a vector start normal(0, {spread:.2f}), the spread of the vectors")
    weight[torch.from_numpy(ids)] = torch.from_numpy(vectors)
    return notes


def identifiable_length(model: PreTrainedModel, encoded: Iterable[Encoded]) -> list[str]:
    """A word of warning where summed heads are too narrow for the longest sequence that they read.

    Attention over n tokens can be told from its output if n ≤ d_v (Bhardwaj et al. 2021, section 3.1).
    """
    if not isinstance(model, TransformerClassifier):
        return []
    if parse_head_combination(model.config.head_combination) == "concat":
        return []
    size, longest = model.config.hidden_size, max(longest_sequence(model, split) for split in encoded)
    if longest <= size:
        return []
    return [
        f"attention is identifiable up to {size} tokens, the size d_v of summed heads, from the output of "
        f"each head: the longest sequence here has {longest}"
    ]


def longest_sequence(model: TransformerClassifier, encoded: Encoded) -> int:
    """Tokens of the longest text; of pairs and documents, of the longest text or sentence that is read."""
    segments = model.segments(encoded.ids, encoded.mask, encoded.types)
    if segments is None:
        return int(encoded.mask.sum(dim=1).max())
    return max(segments.mask.shape[1], int(segments.number.max()) + 1)


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
    width, height = decode_pixels(as_picture(data["train"][0]["image"])).size
    return width if width == height and 8 <= width <= MOST_CLASSES else USUAL_SIZE
