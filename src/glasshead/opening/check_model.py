"""Which models cannot be read, and why."""

from inspect import signature

from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import (
    ModuleClassifier,
    PatchClassifier,
    classifies_images,
    config_to_save,
    is_answerer,
    writes_behind_images,
)
from glasshead.models import TextClassifier
from glasshead.spelling import spell
from glasshead.tasks import compares_captions, task_of


class NoClassError(InputError):
    """The model predicts no class of a text."""


def check_model(
    model: PreTrainedModel, classifies: bool, *, needs_image: bool = False, images: bool = False
) -> None:
    """Raise InputError for a model that cannot be read, or predicts what has no explanation here.
    ``needs_image``: it writes behind a text with an image, and is read with its processor. ``images``: it
    reads images alone."""
    kind = type(model).__name__
    if any(tensor.is_meta for tensor in model.parameters()):
        raise InputError(f"weights of {kind} are not in memory (offloaded): load the whole model")
    if images or classifies_images(kind) or isinstance(model, PatchClassifier):
        return
    if classifies and compares_captions(config_to_save(model)):
        return
    if not needs_image and model.main_input_name not in ("input_ids", "decoder_input_ids"):
        if "input_ids" in signature(type(model).forward).parameters:
            remedy = (
                f"pass its processor (AutoProcessor) as {spell('tokenizer')}"
                if writes_behind_images(type(model), model.config)
                else "this is supported for models that write from left to right and take image vectors alone"
            )
            raise InputError(f"{kind} is made for {model.main_input_name} with a text next to them: {remedy}")
        raise InputError(
            f"{kind} reads {model.main_input_name}, not token ids (input_ids): give a model of texts or a "
            "classifier of images"
        )
    if not classifies:
        return
    known = isinstance(model, TextClassifier | ModuleClassifier) or has_own_classifier(model.config)
    if not known and not is_made_of(model, "ForSequenceClassification") and task_of(model) is None:
        refuse_other_tasks(config_to_save(model))


def is_made_of(model: PreTrainedModel, head: str) -> bool:
    """Whether its class, or one that it is made of, is called so by Transformers."""
    return any(kind.__name__.endswith(head) for kind in type(model).__mro__)


def has_own_classifier(config: PreTrainedConfig) -> bool:
    """Whether a classifier of texts was saved with code of its own."""
    return "AutoModelForSequenceClassification" in (getattr(config, "auto_map", None) or {})


def refuse_other_tasks(config: PreTrainedConfig) -> None:
    """Raise NoClassError for a model that was saved to do something else than classifying texts."""
    saved = (config.architectures or ["a model without a head"])[0]
    if is_answerer(config):
        raise NoClassError(
            f"{saved} writes one text for another and has no classes: explain an answer of yours "
            f"({spell('answer')}), let it write one and explain that with {spell('glasshead.generate')}, or "
            f"look at its attention with {spell('audits', ['identifiability'])}"
        )
    raise NoClassError(
        f"{saved} predicts no class of a text: give a classifier of texts (…ForSequenceClassification), ask "
        f"how similar two texts are ({spell('task', 'similarity-mean')}), or look at its attention with "
        f"{spell('glasshead.heads')} or {spell('audits', ['identifiability'])}"
    )
