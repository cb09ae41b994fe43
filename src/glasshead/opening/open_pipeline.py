"""A pipeline's model and tokenizer, and the settings by which it predicts: followed, or refused by name."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import interpolate
from transformers import (
    ImageClassificationPipeline,
    ImageSegmentationPipeline,
    Pipeline,
    PreTrainedModel,
    TextClassificationPipeline,
    TextGenerationPipeline,
    ZeroShotImageClassificationPipeline,
)

from glasshead.data import as_picture, encode
from glasshead.errors import InputError
from glasshead.huggingface import TaskModel, class_names, position_limit
from glasshead.models import REGRESSION
from glasshead.opening.check_copy import SAMPLE_TEXTS, tolerance_for
from glasshead.opening.open_captions import parts_of_captions
from glasshead.spelling import spell
from glasshead.tasks import (
    LABELS,
    TRIED,
    CaptionModel,
    LabelClassifier,
    OutputModel,
    RegionClassifier,
    Task,
    predicts_labels,
    predicts_ratings,
    task_of_pipeline,
)
from glasshead.trace import Subject, eval_mode, logits_of

NO_LIMIT = 10**30
"""The length to which a tokenizer cuts texts that it does not cut."""
LONGEST_SAMPLE = 1_024
"""A longer text than this is not classified to see where a pipeline cuts it."""
TRUNCATIONS = {True: True, "longest_first": True, False: False, None: False, "do_not_truncate": False}
"""Values of `truncation` that can be followed, and whether they cut a text."""
FOLLOWED = ("truncation", "max_length")
WITHOUT_EFFECT = ("padding", "pad_to_multiple_of", "padding_side", "verbose", "timeout")
"""Settings that leave a prediction as it is, unless padding is read, which is measured."""
FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "softmax": partial(torch.softmax, dim=-1),
    "sigmoid": torch.sigmoid,
    "none": lambda logits: logits,
}
PRINT_OPTIONS = ("top_k", "_legacy", "function_to_apply", "aggregation_strategy", "ignore_labels")
SINGLE = ("is_split_into_words", False)
"""What pipelines of taggers say of texts that are texts."""


KNOWN = (
    TextClassificationPipeline
    | ImageClassificationPipeline
    | ImageSegmentationPipeline
    | ZeroShotImageClassificationPipeline
)
SHARE_OF_PIXELS = 0.99
"""As many pixels have the class that a pipeline prints; those on a border may be rounded otherwise."""


def parts_of(pipeline: Pipeline) -> tuple[PreTrainedModel, Any]:
    """The model of a pipeline, and its tokenizer or image processor.

    Raises:
        InputError: if it classifies neither texts nor images, or has a setting that cannot be followed.
    """
    if isinstance(pipeline, TextGenerationPipeline):
        raise InputError(
            f"a pipeline for {pipeline.task!r} is not supported: pass its model, and its tokenizer as "
            f"{spell('tokenizer')}"
        )
    asks = task_of_pipeline(pipeline)
    if asks is None and not isinstance(pipeline, KNOWN):
        raise InputError(
            f"a pipeline for {pipeline.task!r} is not supported: pass its model, and its tokenizer or image "
            f"processor as {spell('tokenizer')}"
        )
    for name, value in pipeline_settings(pipeline).items():
        if name not in (*FOLLOWED, *WITHOUT_EFFECT, *PRINT_OPTIONS) and (name, value) != SINGLE:
            refuse(name, value)
    if isinstance(pipeline, ZeroShotImageClassificationPipeline):
        return parts_of_captions(pipeline)
    if asks is not None:
        return pipeline.model, pipeline.tokenizer
    if isinstance(pipeline, ImageSegmentationPipeline):
        return pipeline.model, pipeline.image_processor
    check_function(pipeline)
    if isinstance(pipeline, ImageClassificationPipeline):
        return pipeline.model, pipeline.image_processor
    text_limit(pipeline)
    return pipeline.model, pipeline.tokenizer


def pipeline_settings(pipeline: Pipeline) -> Mapping[str, Any]:
    """What was said when the pipeline was built."""
    return pipeline._preprocess_params | pipeline._forward_params | pipeline._postprocess_params


def refuse(name: str, value: object) -> None:
    """Raise InputError for a setting that cannot be followed."""
    raise InputError(
        f"the pipeline has the setting {name}={repr(value)[:60]}, which Glasshead does not follow and which "
        "may change the prediction: build the pipeline without it"
    )


def check_function(pipeline: Pipeline) -> None:
    """Raise InputError if the pipeline does not print what is explained: softmax over classes, the sigmoid of
    each label, or one number as it is."""
    one, function = pipeline.model.config.num_labels == 1, function_of(pipeline)
    if one and function == "softmax":
        raise InputError("the pipeline prints the softmax of one number, which is always 1")
    if not one and function == "none" and not predicts_ratings(pipeline.model.config):
        raise InputError(
            f"the pipeline has the setting function_to_apply={function!r}, but Glasshead explains "
            f"probabilities: build it without that setting (for logits add {spell('target_fn', 'logit')} and "
            f"{spell('method', 'gradient')}, or an erasure)"
        )


def function_of(pipeline: Pipeline) -> str:
    """What the pipeline makes of logits: softmax, sigmoid or none."""
    config: Any = pipeline.model.config
    chosen = pipeline_settings(pipeline).get("function_to_apply")
    if chosen is not None:
        return str(getattr(chosen, "value", chosen))
    if config.problem_type == REGRESSION:
        return "none"
    return "sigmoid" if predicts_labels(config) or config.num_labels == 1 else "softmax"


def task_asked(pipeline: Pipeline) -> str | None:
    """What is asked of the model of a pipeline; None: what its class says."""
    if isinstance(pipeline, ZeroShotImageClassificationPipeline | ImageSegmentationPipeline):
        return None
    if (task := task_of_pipeline(pipeline)) is not None:
        return task.asked
    tasks = {"sigmoid": LABELS, "none": REGRESSION, "softmax": "classification"}
    return tasks[function_of(pipeline)]


def text_limit(pipeline: Pipeline) -> int:
    """The number of tokens to which the pipeline cuts a text.

    Raises:
        InputError: if it cuts in a way that cannot be followed.
    """
    settings, task = pipeline_settings(pipeline), task_of_pipeline(pipeline)
    if task is not None and task.cuts:
        return int(pipeline.tokenizer.model_max_length)  # type: ignore[union-attr]
    length, cut = settings.get("max_length"), settings.get("truncation")
    if cut is None and length is not None and not settings.get("padding"):
        cut = True  # as tokenizers do
    if getattr(cut, "value", cut) not in TRUNCATIONS:
        refuse("truncation", getattr(cut, "value", cut))
    if not TRUNCATIONS[getattr(cut, "value", cut)]:
        return NO_LIMIT
    tokenizer: Any = pipeline.tokenizer
    if length is None:
        return int(tokenizer.model_max_length)
    if isinstance(length, bool) or not isinstance(length, int) or length < 1:
        raise InputError(
            f"the pipeline cuts texts to {length!r} tokens, which leaves "
            "none: build it with the model's "
            "maximum"
        )
    return length


def follow_pipeline(pipeline: Pipeline, subject: Subject) -> Subject:
    """The subject, which cuts texts as the pipeline does, and no others.

    Raises:
        InputError: if it predicts differently from the pipeline, by some setting or code of its own.
    """
    if isinstance(pipeline, ZeroShotImageClassificationPipeline):
        check_captions_printed(pipeline, subject)
        return subject
    if isinstance(pipeline, ImageSegmentationPipeline):
        check_regions_printed(pipeline, subject)
        return subject
    if isinstance(pipeline, ImageClassificationPipeline):
        inputs: list[Any] = [noise()]
        read: list[Any] = [as_picture(inputs[0])]
    else:
        positions = position_limit(subject.model)
        length = min(text_limit(pipeline), NO_LIMIT if positions is None else positions)
        tokenizer = copy.deepcopy(subject.tokenizer)
        tokenizer.model_max_length = length
        subject = replace(subject, tokenizer=tokenizer)
        inputs = read = [*SAMPLE_TEXTS, "A Text with Capitals, 2 numbers, and punctuation!"]
        if text_limit(pipeline) == length <= LONGEST_SAMPLE:
            read.append("a the " * length)
    if (task := task_of_pipeline(pipeline)) is not None:
        check_printed(pipeline, subject, task, read if task.cuts else SAMPLE_TEXTS)
        return subject
    model = subject.model.model if isinstance(subject.model, OutputModel) else subject.model
    allowed = tolerance_for(pipeline.model.dtype)
    for one, own in zip(inputs, read, strict=True):
        with torch.no_grad():
            logits = logits_of(model, encode(subject.tokenizer, [own]).inputs(device=model.device))[0]
        values = FUNCTIONS[function_of(pipeline)](logits)
        printed = torch.tensor(print_scores(pipeline, one), dtype=values.dtype)
        expected = values.sort(descending=True).values.cpu()
        if printed.shape != expected.shape or float((printed - expected).abs().max()) > allowed:
            names = ", ".join(name for name in pipeline_settings(pipeline) if name not in PRINT_OPTIONS)
            reason = f"its settings ({names})" if names else "the code of its class"
            raise InputError(
                "the pipeline predicts something else than its model does "
                "when Glasshead calls it, because of "
                f"{reason}: build a plain pipeline, or pass the model and its tokenizer"
            )
    return subject


def noise() -> Image.Image:
    """An image that no processor leaves as it is."""
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 64, 3), dtype=np.uint8))


def check_regions_printed(pipeline: Pipeline, subject: Subject) -> None:
    """Raise InputError unless pixels have here the classes that the pipeline prints of them."""
    assert isinstance(subject.model, RegionClassifier)
    image, names = noise(), class_names(subject.model)
    with eval_mode(pipeline.model):
        regions: Any = pipeline(image)
    printed = np.full((image.height, image.width), -1)
    for region in regions:
        if region["label"] in names:
            printed[np.asarray(region["mask"]) > 0] = names.index(region["label"])
    with torch.no_grad():
        inputs = subject.tokenizer.encode([as_picture(image)]).inputs(device=subject.model.device)
        maps: Tensor = subject.model.model(**inputs).logits
    own = interpolate(maps.float(), printed.shape, mode="bilinear", align_corners=False)[0].argmax(dim=0)
    if (own.cpu().numpy() == printed).mean() < SHARE_OF_PIXELS:
        raise predicts_otherwise()


def check_captions_printed(pipeline: Pipeline, subject: Subject) -> None:
    """Raise InputError unless captions get here what the pipeline prints of them."""
    assert isinstance(subject.model, CaptionModel)
    image = noise()
    with eval_mode(pipeline.model):
        printed = {row["label"]: row["score"] for row in pipeline(image, candidate_labels=[*TRIED])}
    classifier = subject.model.about(subject.tokenizer, TRIED)
    each = isinstance(classifier, LabelClassifier)
    with torch.no_grad():
        inputs = subject.tokenizer.encode([as_picture(image)]).inputs(device=classifier.device)
        logits = (classifier.model if each else classifier)(**inputs).logits[0]
    own = FUNCTIONS["sigmoid" if each else "softmax"](logits).cpu()
    if float((torch.tensor([printed[name] for name in TRIED]) - own).abs().max()) > tolerance_for(
        pipeline.model.dtype
    ):
        raise predicts_otherwise()


def predicts_otherwise() -> InputError:
    """What is said of a pipeline of which nothing says why."""
    return InputError(
        "the pipeline predicts something else than its model does when Glasshead calls it: build a plain "
        "pipeline, or pass the model and its tokenizer"
    )


def check_printed(pipeline: Pipeline, subject: Subject, task: Task, texts: Sequence[str]) -> None:
    """Raise InputError unless a model predicts here what its pipeline prints."""
    model = subject.model
    assert isinstance(model, TaskModel)
    for text in texts:
        with eval_mode(pipeline.model):
            printed, own = task.printed(pipeline, model, subject.tokenizer, text)
        allowed = tolerance_for(pipeline.model.dtype)
        if printed.shape != own.shape or float((printed - own.cpu()).abs().max()) > allowed:
            raise predicts_otherwise()


def print_scores(pipeline: Pipeline, one: Any) -> list[float]:
    """What the pipeline prints of every class, the largest first."""
    after = pipeline._postprocess_params | {"top_k": 2**31}
    if isinstance(pipeline, TextClassificationPipeline):
        after |= {"top_k": None, "_legacy": False}
    with eval_mode(pipeline.model):
        printed: Any = pipeline.run_single(one, pipeline._preprocess_params, pipeline._forward_params, after)
    return sorted((row["score"] for row in printed), reverse=True)
