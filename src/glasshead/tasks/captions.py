"""A model that compares images with texts, asked which of some captions fits an image."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch
from jaxtyping import Float, Int
from PIL import Image
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers import (
    AutoModelForZeroShotImageClassification,
    PreTrainedConfig,
    PreTrainedModel,
    ZeroShotImageClassificationPipeline,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded
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
    watch_lookups,
)
from glasshead.tasks.choices import check_choices, in_template
from glasshead.tasks.labels import SINGLE_LABEL, LabelClassifier
from glasshead.trace import eval_mode

CAPTION = "This is a photo of {}."
"""What a caption is in the pipelines of Transformers."""
TRIED = ("cat", "dog")
"""Captions that say whether a model can be read."""
SIZES = ("num_hidden_layers", "num_attention_heads")
SIMILARITY = "similarity"
SAME = 1e-4
"""Cosines that differ by less are one."""


def compares_captions(config: PreTrainedConfig) -> bool:
    """Whether a saved model compares images with texts."""
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

    ``unused`` are its parts that do not read images, and ``reads_patches`` is as in `PatchClassifier`.
    """

    main_input_name = "pixel_values"
    pairs = "none"

    def __init__(
        self, model: PreTrainedModel, unused: Sequence[str] = (), *, reads_patches: bool = False
    ) -> None:
        super().__init__(model)
        self.unused, self.reads_patches = tuple(unused), reads_patches

    def rebuild(self, config: PreTrainedConfig) -> CaptionModel:
        """The same with another configuration and new weights."""
        return CaptionModel(new_like(self.model, config), self.unused, reads_patches=self.reads_patches)

    @property
    def target_names(self) -> list[str]:
        """None: captions are named with the image."""
        return []

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Raise InputError, since there are no classes yet."""
        raise no_captions()

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Raise InputError, as above."""
        raise no_captions()

    def about(
        self, readers: Readers, names: Sequence[str], template: str | None = None
    ) -> PatchClassifier | LabelClassifier:
        """A classifier whose classes are these captions, each put into a ``template``. One of them is
        chosen, or each is judged separately, as in the Transformers pipeline.

        Raises:
            InputError: if they are not captions.
        """
        check_choices(names, "caption", "captions")
        whole = in_template(CAPTION if template is None else template, names, "caption")
        pipeline = pipeline_of(self.model, readers)
        each = judges_each(pipeline)
        if len(names) < 2 and not each:
            raise ParameterError("choices", "has only one caption: give two or more")
        part: Any = self.model
        with torch.no_grad(), eval_mode(part):
            texts = text_inputs(pipeline, whole)
            check_length(part, readers.tokenizer, whole, texts["input_ids"].shape[1])
            vectors = unit_length(part.get_text_features(**texts))
        image_side = ImageSide(without_parts(self.model, self.unused), names, vectors)
        classifier = CaptionClassifier(image_side, self.reads_patches).eval()
        return LabelClassifier(classifier).eval() if each else classifier

    def compare(self, readers: Readers, pixels: Float[Tensor, "1 c h w"], caption: str) -> Sides:
        """How similar an image and a caption are, as a rating of either: the cosine of their vectors.

        Raises:
            InputError: if the model reads the caption differently from the Transformers pipeline.
        """
        part: Any = self.model
        text = text_inputs(pipeline_of(self.model, readers), [caption])
        check_length(part, readers.tokenizer, [caption], text["input_ids"].shape[1], "texts")
        with torch.no_grad(), eval_mode(part):
            own = unit_length(part.get_text_features(**text))
            image = unit_length(part.get_image_features(pixel_values=pixels.to(arithmetic_of(part))))
        image_side = ImageSide(without_parts(self.model, self.unused), [caption], own, rates=True)
        classifier = CaptionRating(image_side, self.reads_patches).eval()
        return Sides(classifier, text_side(self.model, readers.tokenizer, caption, text, image))


class ImageSide(TaskModel):
    """The predictions of a model for an image: logits [b, K] = s · cos(f(x), ``vectors``) + b, of captions
    whose vectors of length 1 stay as they are; if it ``rates`` one caption, the cosine alone."""

    main_input_name = "pixel_values"
    vectors: Tensor

    def __init__(
        self,
        model: PreTrainedModel,
        names: Sequence[str],
        vectors: Float[Tensor, "k d"],
        *,
        rates: bool = False,
    ) -> None:
        super().__init__(model, config_of_side(model, "vision_config", names, rates=rates))
        self.names, self.rates = tuple(names), rates
        self.register_buffer("vectors", vectors)

    def rebuild(self, config: PreTrainedConfig) -> ImageSide:
        """The same captions before a model with new weights."""
        model = new_like(self.model, config)
        kept = {name for name, _ in self.model.named_children()}
        lacks = [name for name, _ in model.named_children() if name not in kept]
        return ImageSide(without_parts(model, lacks), self.names, self.vectors, rates=self.rates)

    def forward(self, pixel_values: Float[Tensor, "b c h w"], **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, K] of the captions."""
        model: Any = self.model
        images = unit_length(model.get_image_features(pixel_values=pixel_values, **inputs))
        cosines = images @ self.vectors.to(images).T
        if self.rates:
            return SequenceClassifierOutput(logits=cosines)
        scale, shift = scale_of(model)
        return SequenceClassifierOutput(logits=cosines * scale + shift)


class CaptionClassifier(PatchClassifier):
    """Which caption fits an image: they have no order, so the predicted one is explained, of two as well."""

    explains_predicted = True


class CaptionRating(PatchClassifier):
    """How similar an image is to one caption."""

    @property
    def rated(self) -> str:
        return SIMILARITY

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """Which of the two it is."""
        return "image"


class TextSide(TaskModel):
    """What a model says of a caption: logits [b, 1] = cos(f(x), ``vector``), of an image whose vector of
    length 1 stays as it is. Captions are padded to a ``length`` where the pipeline pads them, and the model
    ``masks`` padding where it is told of it. ``words`` is the path of its table of word vectors."""

    main_input_name = "input_ids"
    pairs = "none"
    vector: Tensor

    def __init__(
        self,
        model: PreTrainedModel,
        vector: Float[Tensor, "1 d"],
        words: str,
        length: int,
        padding: int,
        masks: bool,
    ) -> None:
        super().__init__(model, config_of_side(model, "text_config", [SIMILARITY], rates=True))
        self.words, self.length, self.padding, self.masks = words, length, padding, masks
        self.register_buffer("vector", vector)

    @property
    def rated(self) -> str:
        return SIMILARITY

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """Which of the two it is."""
        return "caption"

    def rebuild(self, config: PreTrainedConfig) -> TextSide:
        """The same image before a model with new weights."""
        model = new_like(self.model, config)
        kept = {name for name, _ in self.model.named_children()}
        lacks = [name for name, _ in model.named_children() if name not in kept]
        parts = self.vector, self.words, self.length, self.padding, self.masks
        return TextSide(without_parts(model, lacks), *parts)

    def get_input_embeddings(self) -> nn.Module:
        return self.model.get_submodule(self.words)

    def forward(
        self, input_ids: Int[Tensor, "b n"], attention_mask: Tensor | None = None, **inputs: Any
    ) -> SequenceClassifierOutput:
        """The cosine [b, 1]."""
        model: Any = self.model
        missing = max(self.length - input_ids.shape[1], 0)
        input_ids = pad(input_ids, (0, missing), value=self.padding)
        if self.masks and attention_mask is not None:
            inputs["attention_mask"] = pad(attention_mask, (0, missing))
        texts = unit_length(model.get_text_features(input_ids=input_ids, **inputs))
        return SequenceClassifierOutput(logits=texts @ self.vector.to(texts).T)


class Sides(NamedTuple):
    """The two ways in which an image and a caption are asked about, each with the other held as it is."""

    image: CaptionRating
    caption: TextSide


def text_side(
    model: PreTrainedModel,
    tokenizer: Any,
    caption: str,
    text: dict[str, Tensor],
    image: Float[Tensor, "1 d"],
) -> TextSide:
    """The side of the captions of a model, of one that the pipeline reads as ``text``.

    Raises:
        InputError: if Glasshead would read the caption otherwise.
    """
    part: Any = model
    with torch.no_grad(), eval_mode(part), watch_lookups(part, text["input_ids"]) as tables:
        ran = parts_that_run(part, lambda: part.get_text_features(**text))
    if len(tables) != 1:
        raise InputError(
            f"{class_name(model)} has no separate vectors for the words of a caption, so only the image can "
            "be explained: name captions as choices"
        )
    (words,) = tables.values()
    kept = without_parts(model, [name for name, _ in part.named_children() if name not in ran])
    length, padding = text["input_ids"].shape[1], tokenizer.pad_token_id or 0
    own = len(tokenizer(caption)["input_ids"])
    if own < length and tokenizer.padding_side == "left":
        raise InputError(
            "the tokenizer pads captions on the left, so only the image can be explained: name captions as "
            "choices"
        )
    length, masks = length if own < length else 0, "attention_mask" in text
    side = TextSide(kept, image, words, length, padding, masks).eval()
    with torch.no_grad(), eval_mode(part):
        expected = unit_length(part.get_text_features(**text)) @ image.T
        cosine = side(**{name: values[:, :own] for name, values in text.items()}).logits
    if not torch.allclose(cosine, expected, atol=SAME):
        raise InputError(
            f"{class_name(model)} reads a caption differently without its image, so only the image can be "
            "explained: name captions as choices"
        )
    return side


def config_of_side(
    model: PreTrainedModel, side: str, names: Sequence[str], *, rates: bool
) -> PreTrainedConfig:
    """The configuration of one side of a model: the sizes of that side, and what is predicted."""
    config = copy.deepcopy(model.config)
    own = getattr(config, side, config)
    for size in SIZES:
        if hasattr(own, size):
            setattr(config, size, getattr(own, size))
    config.id2label = dict(enumerate(names))
    config.label2id = {name: number for number, name in enumerate(names)}
    config.problem_type = "regression" if rates else SINGLE_LABEL
    return config


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
    """The parts of a model that only texts need: those that do not run when it reads an image.

    Raises:
        InputError: if it gives no vector for an image.
    """
    pixels = torch.zeros(1, 3, height, width, device=model.device, dtype=arithmetic_of(model))
    try:
        with torch.no_grad(), eval_mode(model):
            ran = parts_that_run(model, lambda: unit_length(model.get_image_features(pixel_values=pixels)))
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{class_name(model)} gives no vector for an image from its pixels alone ({brief(error)}), so "
            "it cannot choose captions"
        ) from error
    return tuple(name for name, _ in model.named_children() if name not in ran)


def parts_that_run(model: nn.Module, call: Callable[[], object]) -> set[str]:
    """The parts of a model that run in a call of it."""
    ran: set[str] = set()
    hooks = [
        module.register_forward_hook(lambda *_, name=name: ran.add(name.partition(".")[0]))
        for name, module in model.named_modules()
        if name
    ]
    try:
        call()
    finally:
        for hook in hooks:
            hook.remove()
    return ran


def pipeline_of(model: PreTrainedModel, readers: Readers) -> ZeroShotImageClassificationPipeline:
    """The Transformers pipeline of a model, which defines how captions are tokenised and compared."""
    return ZeroShotImageClassificationPipeline(
        model=model, tokenizer=readers.tokenizer, image_processor=readers.processor, device=model.device
    )


def text_inputs(pipeline: ZeroShotImageClassificationPipeline, texts: list[str]) -> dict[str, Tensor]:
    """Texts as the pipeline passes them to its model.

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


def check_length(
    model: Any, tokenizer: Any, texts: Sequence[str], length: int, parameter: str = "choices"
) -> None:
    """Raise ParameterError for captions, padded to a ``length``, that the model has too few positions for."""
    most = getattr(getattr(model.config, "text_config", None), "max_position_embeddings", None)
    if most is None or length <= most:
        return
    longest = max(texts, key=lambda text: len(tokenizer(text)["input_ids"]))
    raise ParameterError(
        parameter,
        f"has a caption of {length} tokens, {longest[:60]!r}, and the model reads at most {most}: shorten it",
    )


def no_captions() -> ParameterError:
    """What is said where no caption is named."""
    return ParameterError(
        "choices",
        "is empty, but this model chooses between captions: name each, or give the image with its caption",
    )


def compares_otherwise(model: PreTrainedModel) -> InputError:
    """The note about a model whose logits are not cosines."""
    return InputError(
        f"{class_name(model)} does not compare images with captions by the cosine of two vectors, as CLIP "
        "and SigLIP do, so it cannot choose captions"
    )
