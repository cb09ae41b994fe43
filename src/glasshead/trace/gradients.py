"""Derivatives of what a model says, where it lets them pass."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from glasshead.errors import InputError
from glasshead.huggingface import class_name

NOT_DIFFERENTIABLE = re.compile(
    r"require[sd]? grad|used in the graph|derivative for .* not implemented|implement .*\bbackward\b|"
    r"saved for backward|in-?place operation|not differentiable|model\.train\(\)"
)
"""What torch says where it finds no derivative, and Transformers of models with one in training alone."""


def slopes_of(
    model: nn.Module, value: Tensor, tensors: Sequence[Tensor], **options: Any
) -> tuple[Tensor, ...]:
    """The derivatives of a number with respect to tensors.

    Raises:
        InputError: if the model lets no gradient pass.
    """
    with gradients_that_pass(model):
        return torch.autograd.grad(value, tensors, **options)


@contextmanager
def gradients_that_pass(model: nn.Module) -> Iterator[None]:
    """A block in which gradients of a model are taken.

    Raises:
        InputError: if no gradient passes (Reformer outside training, or an operation without a derivative).
    """
    try:
        yield
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        if not NOT_DIFFERENTIABLE.search(
            str(error)
        ):  # a fault of the device or of the model is none of gradients
            raise
        raise no_gradient_passes(model) from error


def no_gradient_passes(model: nn.Module) -> InputError:
    """Remarks on a model that cannot be differentiated."""
    return InputError(
        f"no gradient passes through {class_name(model)} while it predicts: use the method 'erasure-delete'"
    )
