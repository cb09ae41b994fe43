"""Which models cannot be read, and why."""

import torch
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import (
    IMAGE_CLASSIFIERS,
    ModuleClassifier,
    PatchClassifier,
    config_to_save,
    is_answerer,
)
from glasshead.models import TextClassifier
from glasshead.spelling import spell
from glasshead.tasks import task_of


class NoClassError(InputError):
    """A model predicts no class of a text."""


def check_model(model: PreTrainedModel, classifies: bool) -> None:
    """Raise InputError for a model that cannot be read, or predicts what has no explanation here."""
    kind = type(model).__name__
    if is_quantised(model):
        raise InputError(f"{kind} is quantised, so no gradient passes through it: load it in full precision")
    if any(tensor.is_meta for tensor in model.parameters()):
        raise InputError(f"weights of {kind} are not in memory (offloaded): load it whole")
    if IMAGE_CLASSIFIERS in kind or isinstance(model, PatchClassifier):
        return
    if model.main_input_name not in ("input_ids", "decoder_input_ids"):
        raise InputError(
            f"{kind} reads {model.main_input_name}, and neither classifies texts nor images: give a "
            "model that does"
        )
    if not classifies:
        return
    known = isinstance(model, TextClassifier | ModuleClassifier) or has_own_classifier(model.config)
    if not known and not is_made_of(model, "ForSequenceClassification") and task_of(model) is None:
        refuse_other_tasks(config_to_save(model))


def is_made_of(model: PreTrainedModel, head: str) -> bool:
    """Whether its class, or one that it is made of, is called so by Transformers."""
    return any(kind.__name__.endswith(head) for kind in type(model).__mro__)


def is_quantised(model: PreTrainedModel) -> bool:
    """Whether weights are held otherwise than as plain numbers: by Transformers, torchao, or torch itself."""
    if getattr(model, "is_quantized", False) or getattr(model.config, "quantization_config", None):
        return True
    plain = all(is_plain_tensor(parameter) for parameter in model.parameters())
    # Dynamic quantisation by torch leaves no parameter, but a function where the weight was.
    return not plain or any(callable(getattr(module, "weight", None)) for module in model.modules())


def is_plain_tensor(parameter: torch.nn.Parameter) -> bool:
    """Whether a weight is held as what its device makes of numbers: no tensor of a class of its own."""
    numbers = parameter.is_floating_point() or parameter.is_complex()
    return numbers and type(parameter.data) is type(torch.empty(0, device=parameter.device))


def has_own_classifier(config: PreTrainedConfig) -> bool:
    """Whether a classifier of texts was saved with code of its own."""
    return "AutoModelForSequenceClassification" in (getattr(config, "auto_map", None) or {})


def refuse_other_tasks(config: PreTrainedConfig) -> None:
    """Raise NoClassError for a model that was saved to do something else than classifying texts."""
    saved = (config.architectures or ["a model without a head"])[0]
    if is_answerer(config):
        raise NoClassError(
            f"{saved} writes one text for another and has no classes: explain an answer that you give "
            f"({spell('answer')}), let it write and explain that with {spell('glasshead.generate')}, or look "
            f"at its attention with {spell('audits', ['identifiability'])}"
        )
    raise NoClassError(
        f"{saved} predicts no class of a text: give a classifier of texts (…ForSequenceClassification), or "
        f"look at its attention with {spell('glasshead.heads')} or {spell('audits', ['identifiability'])}"
    )
