"""The class names of a Hugging Face classifier."""

from collections.abc import Sequence

from transformers import PreTrainedModel


def class_names(model: PreTrainedModel) -> list[str]:
    """Names in class order, as the configuration has them."""
    return [str(name) for _, name in sorted((model.config.id2label or {}).items())]


def place_of(target: int | str, names: Sequence[str]) -> int | None:
    """The number of a target, given by name or number. A class may be named "0", so a string is first taken
    as a name. None: there is none."""
    if isinstance(target, str) and target in names:
        return names.index(target)
    return int(target) if str(target) in map(str, range(len(names))) else None
