"""The class names of a Hugging Face classifier."""

from collections.abc import Sequence

from transformers import PreTrainedModel


def class_names(model: PreTrainedModel) -> list[str]:
    """Names in class order, as the configuration has them."""
    return [str(name) for _, name in sorted((model.config.id2label or {}).items())]


def place_of(target: int | str, names: Sequence[str]) -> int | None:
    """The number of what a target names, by its name or its number; a class may be called "0", so that of a
    text its name goes first. None: there is no such."""
    if isinstance(target, str) and target in names:
        return names.index(target)
    return int(target) if str(target) in map(str, range(len(names))) else None
