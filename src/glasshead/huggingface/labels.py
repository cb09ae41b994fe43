"""The class names of a Hugging Face classifier."""

from transformers import PreTrainedModel


def class_names(model: PreTrainedModel) -> list[str]:
    """Names in class order, as the configuration has them."""
    return [str(name) for _, name in sorted((model.config.id2label or {}).items())]
