"""The model and the tokenizer of a folder that `save_pretrained` wrote, or of a Hub id."""

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import try_to_load_from_cache
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageClassification,
    AutoModelForImageTextToText,
    AutoModelForObjectDetection,
    AutoModelForSemanticSegmentation,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForZeroShotImageClassification,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, SAFE_WEIGHTS_NAME

from glasshead.errors import InputError
from glasshead.files import check_readable
from glasshead.huggingface import (
    SEES,
    class_names_in,
    find_class,
    free_memory,
    gigabytes,
    is_answerer,
    is_writer,
    load,
    load_reason,
    load_weights,
    model_class,
    read_config,
    reads_images,
    refuse_own_code,
    spec_of,
    writes_behind_images,
)
from glasshead.opening.check_model import has_own_classifier, refuse_other_tasks
from glasshead.opening.open_options import OpenOptions
from glasshead.opening.pickled_weights import refuse_pickled
from glasshead.opening.readers import read_both, read_processor, read_tokenizer, read_with_images
from glasshead.opening.run import RECORD
from glasshead.opening.saved_adapters import (
    ADAPTER,
    WEIGHTS,
    SavedAdapters,
    check_installed,
    download_adapters,
)
from glasshead.spelling import spell
from glasshead.tasks import compares_captions, task_of_config

CONFIG = "config.json"
CHECKPOINT = "checkpoint-"
RECOMMENDER = "glasshead-news"
IMAGES = "images"
POOLER = "pooler."
"""Weights that many models are saved without; no attention depends on them."""


def open_saved(source: str | Path, options: OpenOptions) -> tuple[PreTrainedModel, Any]:
    """The model of a folder or a Hub id as it was saved, and its tokenizer or image processor.

    Raises:
        InputError: as `open_subject`.
    """
    folder = Path(source)
    if folder.is_dir():
        check_readable(folder)
        if (folder / ADAPTER).is_file():
            check_installed(folder)
            whole = any(path.name != WEIGHTS for path in folder.glob("*.safetensors"))
            if not whole or not (folder / CONFIG).is_file():
                return open_adapters(folder, options)
        if not (folder / CONFIG).is_file():
            if checkpoints := trainer_checkpoints(folder):
                raise InputError(
                    f"{folder} contains only checkpoints of a Trainer: name one of them, "
                    f"such as {checkpoints[-1]}"
                )
            raise InputError(
                f"{folder} holds neither a run ({RECORD}) nor a model ({CONFIG}): make one with "
                f"{spell('glasshead.training.train')}, or save a model and its tokenizer into it with "
                "save_pretrained"
            )
    elif isinstance(source, Path):
        raise InputError(f"there is no folder {folder}: give a run, or a folder with a saved model")
    try:
        config = read_config(source, trust_remote_code=options.trust_remote_code)
    except InputError as error:
        cached = "cannot be reached" in str(error)
        adapters = None if folder.exists() else download_adapters(str(source), cached=cached)
        if adapters is None:
            raise
        return open_adapters(adapters, options)
    model = load_saved(source, config, options)
    if reads_images(config):
        return model, read_processor(source)
    if options.classifies and compares_captions(config):
        return model, read_both(source)
    settings = {"trust_remote_code": options.trust_remote_code}
    if options.classifies and also_reads(config) == IMAGES:
        return model, read_with_images(source, settings)
    return model, read_tokenizer(str(source), settings)


def open_adapters(folder: Path, options: OpenOptions) -> tuple[Any, Any]:
    """A saved model with the adapters of a folder around it, and the tokenizer or image processor of the
    folder, else that of the model.

    Raises:
        InputError: as `open_subject`.
    """
    saved = SavedAdapters.read(folder)
    try:
        config = saved.fit(read_config(saved.base, trust_remote_code=options.trust_remote_code))
        model = load_saved(saved.base, config, options, saved.shapes)
    except InputError as error:
        raise InputError(f"the base model of the adapters (PEFT) in {folder}: {error}") from error
    wrapped = saved.wrap(model)
    if reads_images(config):
        own = any(folder.glob("*processor_config.json"))
        return wrapped, read_processor(folder if own else saved.base)
    own = any(folder.glob("tokenizer*"))
    settings = {"trust_remote_code": options.trust_remote_code}
    return wrapped, read_tokenizer(str(folder) if own else saved.base, settings)


def image_class(config: PreTrainedConfig) -> Any:
    """The class of Transformers that loads a classifier of images, of their pixels, or of boxes."""
    name = (config.architectures or [""])[0]
    for one in (AutoModelForSemanticSegmentation, AutoModelForObjectDetection):
        known: Any = one._model_mapping
        if name in class_names_in(known, config):
            return one
    return AutoModelForImageClassification


def trainer_checkpoints(folder: Path) -> list[Path]:
    """The checkpoints that a `transformers.Trainer` wrote into its folder, by step."""
    steps = {
        int(path.name.removeprefix(CHECKPOINT)): path
        for path in folder.glob(f"{CHECKPOINT}*")
        if path.name.removeprefix(CHECKPOINT).isdecimal()
        and ((path / CONFIG).is_file() or (path / ADAPTER).is_file())
    }
    return [steps[step] for step in sorted(steps)]


def load_saved(
    source: str | Path, config: PreTrainedConfig, options: OpenOptions, elsewhere: Container[str] = ()
) -> PreTrainedModel:
    """The weights in the class that reads texts, or images, with them; those ``elsewhere`` may be missing."""
    if config.model_type == RECOMMENDER:
        raise InputError(
            f"{source} recommends news and does not read single texts: give a classifier or an encoder"
        )
    settings: dict[str, Any] = {"config": config, "trust_remote_code": options.trust_remote_code}
    own = has_own_classifier(config) and not is_classifier(config)
    if own and not options.trust_remote_code:
        refuse_own_code(source)
    cls: Any = AutoModelForSequenceClassification if own or is_classifier(config) else AutoModel
    if reads_images(config):
        cls = image_class(config)
    if cls is AutoModel and options.classifies and compares_captions(config):
        cls = AutoModelForZeroShotImageClassification
    elif cls is AutoModel and (task := task_of_config(config)) is not None:
        cls = task.auto
    elif cls is AutoModel and (options.answers or not options.classifies) and is_answerer(config):
        cls = AutoModelForSeq2SeqLM
    elif cls is AutoModel and options.classifies:
        saved = find_class(config)
        if not (is_writer(config) or (saved is not None and writes_behind_images(saved, config))):
            refuse_other_tasks(config)
        # Of what reads images or sounds beside the text no one auto class has all.
        cls = (saved if also_reads(config) else None) or AutoModelForCausalLM
    if str(options.device or "cpu").startswith("cpu"):
        check_room(source)
    missing: list[str] = []
    try:
        if spec_of(config) is not None:
            model = load(str(source), cls, **settings)
        else:
            model, info = load_weights(cls, source, **settings)
            lacking = (key for key in info["missing_keys"] if not key.startswith(POOLER))
            missing = sorted(key for key in lacking if key not in elsewhere)
    except InputError:
        raise
    except Exception as error:  # weights and configurations break in every way there is
        refuse_pickled(source)
        raise InputError(f"{source} has no model that loads: {load_reason(source, error)}") from error
    if missing:
        raise InputError(f"{source} lacks weights of its model, such as {missing[0]}: save it again")
    return model


def weights_size(source: str | Path) -> int:
    """Bytes of the weights of a folder, or of a Hub id in the cache; 0 where they are not known."""
    folder = Path(source)
    for name in (SAFE_WEIGHTS_NAME, SAFE_WEIGHTS_INDEX_NAME):
        try:
            cached = None if folder.is_dir() else try_to_load_from_cache(str(source), name)
        except ValueError:  # no Hub id
            return 0
        path = Path(cached) if isinstance(cached, str) else folder / name
        if path.is_file() and name == SAFE_WEIGHTS_NAME:
            return path.stat().st_size
        if path.is_file():
            try:
                return int(json.loads(path.read_text(encoding="utf-8"))["metadata"]["total_size"])
            except (OSError, ValueError, TypeError, KeyError):  # loading says what is wrong
                return 0
    return 0


def check_room(source: str | Path) -> None:
    """Raise InputError for weights that do not fit into memory, which would end the process."""
    needed = weights_size(source)
    free = free_memory(torch.device("cpu"))
    if free is not None and needed > free:
        raise InputError(
            f"the weights of {source} take {gigabytes(needed)} but only {gigabytes(free)} of memory are "
            "free: use a smaller model, save it in bfloat16 or quantised, or close other programs"
        )


def also_reads(config: PreTrainedConfig) -> str | None:
    """What a language model reads next to texts: images, or sounds; None: nothing."""
    if type(config) in getattr(AutoModelForImageTextToText, "_model_mapping", ()):
        return IMAGES
    saved = (config.architectures or [""])[0]
    return "sounds" if saved.endswith(SEES) and is_writer(config) else None


def is_classifier(config: PreTrainedConfig) -> bool:
    """Whether a classifier of texts was saved."""
    try:
        wanted = model_class(config, AutoModelForSequenceClassification)
    except InputError:
        return False
    return wanted.__name__ in (config.architectures or ())
