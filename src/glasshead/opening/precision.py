"""The precision in which a model is read."""

import torch

from glasshead.errors import ParameterError
from glasshead.huggingface import HALVES
from glasshead.registry import did_you_mean

PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def dtype_of(name: str | torch.dtype) -> torch.dtype:
    """A precision in which attention can be read.

    Raises:
        InputError: on any other, such as the halves, in which small changes of a prediction are none.
    """
    word = dtype_name(name)
    if word in map(dtype_name, HALVES):
        raise ParameterError(
            "dtype",
            f"{word} has two or three digits, in which different weights are ties and small changes of a "
            "prediction are none: take float64 or float32",
        )
    if word not in PRECISIONS:
        raise ParameterError("dtype", f"knows no {word!r}: {did_you_mean(word, PRECISIONS)}")
    return PRECISIONS[word]


def dtype_name(dtype: str | torch.dtype) -> str:
    """``float32`` of ``torch.float32``."""
    return str(dtype).removeprefix("torch.")
