"""The image processor that is saved beside a model."""

from pathlib import Path
from typing import Any

from transformers import AutoImageProcessor

from glasshead.errors import InputError
from glasshead.huggingface import silence_transformers


def read_processor(source: str | Path) -> Any:
    """The image processor that is saved beside a model.

    Raises:
        InputError: if there is none.
    """
    try:
        with silence_transformers():
            return AutoImageProcessor.from_pretrained(source)
    except Exception as error:  # files of processors break in every way there is
        raise InputError(
            f"{source} classifies images and has no image processor that loads: save "
            "one into it with save_pretrained"
        ) from error
