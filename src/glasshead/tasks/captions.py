"""A model that compares images with texts, asked which of some captions fits an image."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor
from transformers import (
    AutoModelForZeroShotImageClassification,
    PreTrainedConfig,
    PreTrainedModel,
    ZeroShotImageClassificationPipeline,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.errors import InputError, ParameterError, brief
from glasshead.huggingface import (
    At,
    Inputs,
    PatchClassifier,
    Target,
    TaskModel,
    arithmetic_of,
    class_name,
    isolated_copy,
    new_like,
)
from glasshead.tasks.choices import check_choices, in_template
from glasshead.tasks.labels import SINGLE_LABEL, LabelClassifier
from glasshead.trace import eval_mode

CAPTION = "This is a photo of {}."
"""What a caption is in the pipelines of Transformers."""
TRIED = ("cat", "dog")
"""Captions that say whether a model can be read."""
VISION_SIZES = ("num_hidden_layers", "num_attention_heads")


def compares_captions(config: PreTrainedConfig) -> bool:
    """Whether a model was saved that compares images with texts."""
    known: Any = AutoModelForZeroShotImageClassification._model_mapping
    return type(config) in known and known[type(config)].__name__ in (config.architectures or ())


class Readers(Protocol):
    """What reads images and texts before a model of both."""

    @property
    def processor(self) -> Any:
        """The image processor."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of captions."""


class CaptionModel(TaskModel):
    """A model of images and texts: it classifies images once captions are named (`about`).

    ``unused`` are its parts that read no image, and ``reads_patches`` is as of `PatchClassifier`.
    """

    main_input_name = "pixel_values"
    pairs = "none"

    def __init__(
        self, model: PreTrainedModel, unused: Sequence[str] = (), *, reads_patches: bool = False
    ) -> None:
        super().__init__(model)
        self.unused, self.reads_patches = tuple(unused), reads_patches

    def rebuild(self, config: PreTrainedConfig) -> CaptionModel:
        """The same of another configuration, with new weights."""
        return CaptionModel(new_like(self.model, config), self.unused, reads_patches=self.reads_patches)

    @property
    def target_names(self) -> list[str]:
        """None: captions are named with the image."""
        return []

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Refuse: there are no classes yet."""
        raise no_captions()

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Refuse, as above."""
        raise no_captions()

    def about(
        self, readers: Readers, names: Sequence[str], template: str | None = None
    ) -> PatchClassifier | LabelClassifier:
        """A classifier whose classes are these captions, each put into a ``template``: of one of them, or of
        each by itself, as the pipeline of Transformers does.

        Raises:
            InputError: if they are no captions.
        """
        check_choices(names, "caption", "captions")
        whole = in_template(CAPTION if template is None else template, names, "caption")
        pipeline = pipeline_of(self.model, readers)
        each = judges_each(pipeline)
        if len(names) < 2 and not each:
            raise ParameterError("choices", "names one caption, which leaves no choice: give two or more")
        part: Any = self.model
        with torch.no_grad(), eval_mode(part):
            texts = text_inputs(pipeline, whole)
            check_length(part, readers.tokenizer, whole, texts["input_ids"].shape[1])
            vectors = unit_length(part.get_text_features(**texts))
        image_side = ImageSide(without_parts(self.model, self.unused), names, vectors)
        classifier = CaptionClassifier(image_side, self.reads_patches).eval()
        return LabelClassifier(classifier).eval() if each else classifier


class ImageSide(TaskModel):
    """What a model says of an image: logits [b, K] = s · cos(f(x), ``vectors``) + b, of captions whose
    vectors of length 1 stay as they are."""

    main_input_name = "pixel_values"
    vectors: Tensor

    def __init__(self, model: PreTrainedModel, names: Sequence[str], vectors: Float[Tensor, "k d"]) -> None:
        config = copy.deepcopy(model.config)
        vision = getattr(config, "vision_config", config)
        for size in VISION_SIZES:
            if hasattr(vision, size):
                setattr(config, size, getattr(vision, size))
        config.id2label = dict(enumerate(names))
        config.label2id = {name: number for number, name in enumerate(names)}
        config.problem_type = SINGLE_LABEL
        super().__init__(model, config)
        self.names = tuple(names)
        self.register_buffer("vectors", vectors)

    def rebuild(self, config: PreTrainedConfig) -> ImageSide:
        """The same captions before a model with new weights."""
        model = new_like(self.model, config)
        kept = {name for name, _ in self.model.named_children()}
        lacks = [name for name, _ in model.named_children() if name not in kept]
        return ImageSide(without_parts(model, lacks), self.names, self.vectors)

    def forward(self, pixel_values: Float[Tensor, "b c h w"], **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] of the captions."""
        model: Any = self.model
        images = unit_length(model.get_image_features(pixel_values=pixel_values, **inputs))
        scale, shift = scale_of(model)
        return SequenceClassifierOutput(logits=images @ self.vectors.to(images).T * scale + shift)


class CaptionClassifier(PatchClassifier):
    """Which caption fits an image: they have no order, so the predicted one is explained, of two as well."""

    explains_predicted = True


def unit_length(output: Any) -> Float[Tensor, "b d"]:
    """Vectors that a part of a model gives, divided by their length."""
    vectors: Tensor = getattr(output, "pooler_output", output)
    return vectors / vectors.norm(p=2, dim=-1, keepdim=True)


def scale_of(model: Any) -> tuple[Tensor, Tensor | float]:
    """What cosines are multiplied with, and what is added to them.

    Raises:
        InputError: if the model does not say it as CLIP, ALIGN and SigLIP do.
    """
    dtype = arithmetic_of(model)
    if hasattr(model, "logit_scale"):
        shift = getattr(model, "logit_bias", None)
        return model.logit_scale.to(dtype).exp(), 0.0 if shift is None else shift.to(dtype)
    if hasattr(model, "temperature"):
        return 1 / model.temperature.to(dtype), 0.0
    raise compares_otherwise(model)


def without_parts(model: PreTrainedModel, names: Sequence[str]) -> PreTrainedModel:
    """A copy without some of its parts."""
    copied = isolated_copy(model)
    for name in names:
        delattr(copied, name)
    return copied


def text_parts(model: Any, height: int, width: int) -> tuple[str, ...]:
    """The parts of a model that only texts need: those that have not run when an image has been read.

    Raises:
        InputError: if it gives no vector of an image.
    """
    ran: set[str] = set()
    hooks = [
        module.register_forward_hook(lambda *_, name=name: ran.add(name.partition(".")[0]))
        for name, module in model.named_modules()
        if name
    ]
    pixels = torch.zeros(1, 3, height, width, device=model.device, dtype=arithmetic_of(model))
    try:
        with torch.no_grad(), eval_mode(model):
            unit_length(model.get_image_features(pixel_values=pixels))
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{class_name(model)} gives no vector of an image by its pixels alone "
            f"({brief(error)}), so it cannot be asked which caption fits"
        ) from error
    finally:
        for hook in hooks:
            hook.remove()
    return tuple(name for name, _ in model.named_children() if name not in ran)


def pipeline_of(model: PreTrainedModel, readers: Readers) -> ZeroShotImageClassificationPipeline:
    """The pipeline that Transformers makes of a model, which says how captions are read and compared."""
    return ZeroShotImageClassificationPipeline(
        model=model, tokenizer=readers.tokenizer, image_processor=readers.processor, device=model.device
    )


def text_inputs(pipeline: ZeroShotImageClassificationPipeline, texts: list[str]) -> dict[str, Tensor]:
    """Texts as the pipeline hands them to its model.

    Raises:
        InputError: if its tokenizer fails.
    """
    try:
        read = pipeline.preprocess(Image.new("RGB", (8, 8)), texts, "{}")["text_inputs"][0]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"the tokenizer does not read captions ({brief(error)}): give that of the model"
        ) from error
    return {name: tensor.to(pipeline.model.device) for name, tensor in read.items()}


def judges_each(pipeline: ZeroShotImageClassificationPipeline) -> bool:
    """Whether the pipeline gives each caption a probability of its own, and does not share 1 between them."""
    scores = pipeline.postprocess({"candidate_labels": [*TRIED], "logits": torch.tensor([[9.0, 9.0]])})
    return sum(row["score"] for row in scores) > 1.5


def check_length(model: Any, tokenizer: Any, texts: Sequence[str], length: int) -> None:
    """Raise ParameterError for captions, padded to a ``length``, that the model has too few positions for."""
    most = getattr(getattr(model.config, "text_config", None), "max_position_embeddings", None)
    if most is None or length <= most:
        return
    longest = max(texts, key=lambda text: len(tokenizer(text)["input_ids"]))
    raise ParameterError(
        "choices",
        f"has a caption of {length} tokens, {longest[:60]!r}, and the model reads at most {most}: shorten it",
    )


def no_captions() -> ParameterError:
    """What is said where no caption is named."""
    return ParameterError("choices", "names the captions between which this model chooses: give each")


def compares_otherwise(model: PreTrainedModel) -> InputError:
    """What is said of a model that makes no logits of cosines."""
    return InputError(
        f"{class_name(model)} does not compare images with captions by the cosine of two vectors, as CLIP "
        "and SigLIP do, so it cannot be asked which caption fits"
    )
