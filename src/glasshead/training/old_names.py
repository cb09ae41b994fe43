"""What settings were called at first: run folders of that time have these names, and so have habits."""

from collections.abc import Mapping
from typing import Any

from glasshead.errors import InputError
from glasshead.models import MODELS

OLD_NAMES = {"vocabulary_size": "vocab_size", "minimum_frequency": "min_freq", "vectors": "word_vectors"}
"""Settings of a training: old → new. Those of models are in the ``attribute_map`` of their configurations."""
OLD_DATA_OPTIONS = {"rows": "max_examples"}
"""Fields of `LoadOptions`: old → new."""


def with_current_names(settings: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The settings by the names that they have now.

    Raises:
        InputError: if two of them are the same.
    """
    for name in settings:
        if names.get(name, name) != name and names[name] in settings:
            raise InputError(f"{names[name]!r} and {name!r} are one option: choose it once")
    return {names.get(name, name): value for name, value in settings.items()}


def with_current_settings(record: dict[str, Any]) -> dict[str, Any]:
    """The content of a classifier's run.json, with the settings of its training and of its data by the names
    that they have now.
    """
    data = record.get("data")
    if isinstance(data, dict) and isinstance(data.get("options"), dict):
        options = with_current_names(data["options"], OLD_DATA_OPTIONS)
        record = record | {"data": data | {"options": options}}
    recipe = record.get("recipe")
    if not isinstance(recipe, dict) or not isinstance(recipe.get("architecture"), dict):
        return record
    family = recipe.get("model", "pooled")
    names = MODELS[family].config_class.attribute_map if family in MODELS else {}
    architecture = with_current_names(recipe["architecture"], names)
    return record | {"recipe": with_current_names(recipe, OLD_NAMES) | {"architecture": architecture}}
