"""The tokenizer, or the image processor, that is saved with a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import (
    AutoImageProcessor,
    AutoProcessor,
    AutoTokenizer,
    PreTrainedTokenizerBase,
    ProcessorMixin,
)

from glasshead.errors import InputError, one_line
from glasshead.huggingface import silence_transformers

MOST_REASON = 160
"""Letters of what another library says."""


def read_tokenizer(name: str, options: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    """The tokenizer saved next to a model.

    Raises:
        InputError: if there is none.
    """
    try:
        with silence_transformers():
            tokenizer = AutoTokenizer.from_pretrained(name, **options)
    except ImportError as error:
        reason = one_line(error)[:MOST_REASON]
        raise InputError(
            f"the tokenizer of {name} needs a package that is not installed ({reason})"
        ) from error
    except Exception as error:  # tokenizers break in every way there is
        raise InputError(
            f"{name} has no tokenizer that loads: save one into it with save_pretrained"
        ) from error
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # Transformers makes up what it does not find
        raise InputError(f"{name} has no tokenizer: save one into it with save_pretrained")
    return tokenizer


def read_both(source: str | Path) -> Any:
    """The processor of images and texts that is saved next to a model.

    Raises:
        InputError: if there is none.
    """
    return load_processor(AutoProcessor, source, "compares images with captions", "processor of both")


def read_with_images(source: str | Path, options: Mapping[str, Any]) -> Any:
    """The processor of images and texts that is saved next to a model that writes; its tokenizer, where there
    is no such processor that loads."""
    try:
        with silence_transformers():
            processor = AutoProcessor.from_pretrained(source, **options)
    except Exception:  # files of processors break in every way there is, and texts need none
        return read_tokenizer(str(source), options)
    return processor if isinstance(processor, ProcessorMixin) else read_tokenizer(str(source), options)


def read_processor(source: str | Path) -> Any:
    """The image processor that is saved next to a model.

    Raises:
        InputError: if there is none.
    """
    return load_processor(AutoImageProcessor, source, "classifies images", "image processor")


def load_processor(auto: Any, source: str | Path, does: str, kind: str) -> Any:
    """What ``auto`` finds next to a model, of which is said what it ``does``.

    Raises:
        InputError: if there is no such ``kind``.
    """
    try:
        with silence_transformers():
            return auto.from_pretrained(source)
    except Exception as error:  # files of processors break in every way there is
        raise InputError(
            f"{source} {does} and has no {kind} that loads: save one into it with save_pretrained"
        ) from error
