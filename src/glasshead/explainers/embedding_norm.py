"""Whether a model normalises its embeddings, as BERT does: a layer norm hides how long they are.

Of y = f(LN(e)) with e = word + place + type, ∂y/∂e · e = 0 and Σ ∂y/∂e = 0. The derivative along the word is
then minus that along its place and type: it does not tell how much the word matters.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.models import SinusoidalPositions, TransformerClassifier
from glasshead.trace import thread_hook

SAME_STATES = 0.05
"""Doubled embeddings that move the states by less are normalised; others double the states. The ε in a layer
norm leaves some movement."""


@torch.no_grad()
def normalises_embeddings(model: PreTrainedModel, inputs: Inputs) -> bool:
    """Whether the first layer reads the same when all embeddings are twice as long."""
    with first_layer_inputs(model) as before:
        model(**inputs)
    with first_layer_inputs(model) as after, doubled_embeddings(model):
        model(**inputs)
    if isinstance(model, TransformerClassifier):
        before, after = before[:1], after[:1]  # the words; further ones are sentences
    return bool(before) and all(
        bool((doubled - states).norm() <= SAME_STATES * states.norm())
        for states, doubled in zip(before, after, strict=True)
    )


@contextmanager
def first_layer_inputs(model: PreTrainedModel) -> Iterator[list[Tensor]]:
    """What the first layer reads [b, n, d] in the block; of an encoder and a decoder the first layer of each.

    Empty where a model has no layers.
    """
    inputs: list[Tensor] = []
    called = set()
    owners: dict[nn.Module, str] = {}

    def read(layer: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        # ALBERT runs one layer many times; XLM has the parts of its layers in several lists.
        if owners[layer] not in called:
            called.add(owners[layer])
            values = (*args, *options.values())
            inputs.extend([each for each in values if isinstance(each, Tensor) and each.ndim == 3][:1])

    lists = {name: module for name, module in model.named_modules() if isinstance(module, nn.ModuleList)}
    for name, module in lists.items():
        if len(module) and not any(name.startswith(f"{outer}.") for outer in lists):
            owners[module[0]] = name.rpartition(".")[0]
    hooks = [layer.register_forward_pre_hook(thread_hook(read), with_kwargs=True) for layer in owners]
    try:
        yield inputs
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def doubled_embeddings(model: PreTrainedModel) -> Iterator[None]:
    """Everything that is looked up or added, words, places and types, is twice as long in the block."""

    def double(module: nn.Module, args: tuple[Any, ...], embedded: Tensor) -> Tensor:
        return 2 * embedded

    def double_waves(module: nn.Module, args: tuple[Any, ...], summed: Tensor) -> Tensor:
        return 2 * summed - args[0]  # the words in it are twice as long already

    hooks = [
        module.register_forward_hook(
            thread_hook(double if isinstance(module, nn.Embedding) else double_waves)
        )
        for module in model.modules()
        if isinstance(module, (nn.Embedding, SinusoidalPositions))
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
