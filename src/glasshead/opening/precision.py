"""The precision in which a model is read."""

import torch

from glasshead.errors import ParameterError
from glasshead.huggingface import HALVES
from glasshead.registry import did_you_mean

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def dtype_of(name: str | torch.dtype) -> torch.dtype:
    """A precision in which attention can be read.

    Raises:
        InputError: on any other, such as half precision, where small changes of a prediction are lost.
    """
    word = dtype_name(name)
    if halves_of(name) is not None:
        raise ParameterError(
            "dtype",
            f"{word} is not supported here: use float32 or float64",
        )
    if word not in PRECISIONS:
        raise ParameterError("dtype", f"knows no {word!r}: {did_you_mean(word, PRECISIONS)}")
    return PRECISIONS[word]


def halves_of(name: object) -> torch.dtype | None:
    """The half precision of that name; None if it is not one."""
    return next((half for half in HALVES if dtype_name(str(name)) == dtype_name(half)), None)


def dtype_between_products(name: str | torch.dtype) -> torch.dtype:
    """The precision of everything except products: float32 if products are in half precision.

    Raises:
        InputError: if this is not a precision.
    """
    return torch.float32 if halves_of(name) is not None else dtype_of(name)


def dtype_name(dtype: str | torch.dtype) -> str:
    """``float32`` of ``torch.float32``."""
    return str(dtype).removeprefix("torch.")
