"""The model of a run, and the places in it that have learned how to see distance."""

from collections.abc import Iterator
from pathlib import Path

from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, PreTrainedModel

from glasshead.attention import DistanceAware
from glasshead.errors import InputError
from glasshead.huggingface import load_weights
from glasshead.models import HierarchicalClassifier
from glasshead.recommend import NewsRecommender
from glasshead.training import load_run, open_record

LEVELS: dict[type[nn.Module], dict[str, str]] = {
    NewsRecommender: {"words.": "word level, ", "clicks.": "news level, "},
    HierarchicalClassifier: {"words.": "word level, ", "sentences.": "sentence level, "},
}
INSIDE = (".position", ".mechanism", ".attention")


def model_of(folder: Path) -> PreTrainedModel:
    """The trained model of a run: a classifier, or any other that Transformers knows by its configuration.

    Raises:
        InputError: if the folder is no run, or a file of it is damaged.
    """
    open_record(folder, "glasshead.training.train")
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # safetensors and configurations break in every way there is
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{folder} is a damaged run ({reason}): train again") from error
    if type(config) in AutoModelForSequenceClassification._model_mapping:
        return load_run(folder).model
    try:
        return load_weights(AutoModel, folder, config=config, local_files_only=True)[0].eval()
    except Exception as error:  # so do weights
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{folder} is a damaged run ({reason}): train again") from error


def distance_layers(model: nn.Module) -> Iterator[tuple[str, DistanceAware]]:
    """Every distance-aware position with the name of the layer that it belongs to."""
    for name, module in model.named_modules():
        if isinstance(module, DistanceAware):
            yield title(model, layer_name(name)) or type(model).__name__, module


def layer_name(module: str) -> str:
    """The layer that an attention module, or a part of one, belongs to."""
    for part in INSIDE:
        module = module.removesuffix(part)
    return module


def title(model: nn.Module, layer: str) -> str:
    """A layer as pictures call it, with its level in a model that has two."""
    for prefix, level in LEVELS.get(type(model), {}).items():
        if layer.startswith(prefix):
            return level + layer.removeprefix(prefix)
    return layer
