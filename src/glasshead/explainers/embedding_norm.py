"""Whether a model normalises its embeddings, as BERT does: a layer norm hides how long they are.

Of y = f(LN(e)) with e = word + place + type, ∂y/∂e · e = 0 and Σ ∂y/∂e = 0. The derivative along the word is
then minus that along its place and type: it does not tell how much the word matters.

This is measured. Take every state t between the vectors that a model looks up and what its first layer reads,
x, and see how far x moves along t: J t = ∂x(s t)/∂s at s = 1. It is 0 where x depends on the direction of t
alone, whatever made t (words, places, types, a convolution, parameters) and whatever normalises it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.models import TransformerClassifier
from glasshead.trace import thread_hook

UNMOVED = 0.05
"""Below this part of what a random direction does, ‖J t‖² d / (‖t‖² ‖J‖²), x does not move along t; the ε of
a layer norm leaves some movement, a state that is not normalised has about 1."""
PROBES = 8

Leaves = Callable[[PreTrainedModel], AbstractContextManager[list[tuple[Tensor, Tensor]]]]
"""Makes leaves of the vectors that a model looks up in a block of code: their ids, and they themselves."""


def normalises_embeddings(model: PreTrainedModel, inputs: Inputs, leaves: Leaves) -> bool:
    """Whether some state on the way to the first layer tells it nothing but its direction."""
    with (
        torch.enable_grad(),
        leaves(model) as lookups,
        first_layer_inputs(model) as read,
        EmbeddingStates(model) as states,
    ):
        model(**inputs)
    if isinstance(model, TransformerClassifier):
        read = read[:1]  # the words; further ones are sentences
    words = [vectors for _, vectors in lookups]
    return bool(read) and all(hides_length(x, [*words, *states.made], words) for x in read)


def hides_length(x: Tensor, states: list[Tensor], words: list[Tensor]) -> bool:
    """Whether ‖J t‖² is nothing beside what a random direction of the same length does, for one of the states
    that are made of the words; E over random r: E⟨t, Jᵀr⟩² = ‖J t‖² and E‖Jᵀr‖² = ‖J‖²."""
    generator = torch.Generator().manual_seed(0)
    moved, possible = (x.new_zeros(len(states)) for _ in range(2))
    for _ in range(PROBES):
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
        slopes = torch.autograd.grad(
            x, states, noise, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        for number, (state, slope) in enumerate(zip(states, slopes, strict=True)):
            moved[number] += (state * slope).sum(dim=-1).square().sum().detach()
            possible[number] += (state.square().sum(dim=-1) * slope.square().mean(dim=-1)).sum().detach()
    hidden = (possible > 0) & (moved < UNMOVED * possible)
    return any(made_of(states[number], words) for number in hidden.nonzero()[:, 0].tolist())


def made_of(state: Tensor, words: list[Tensor]) -> bool:
    """Whether a state depends on vectors of words."""
    if any(state is word for word in words):
        return True
    slopes = torch.autograd.grad(state.sum(), words, retain_graph=True, allow_unused=True)
    return any(slope is not None for slope in slopes)


class EmbeddingStates(TorchFunctionMode):
    """Collects every vector that is computed outside the layers of a model, in the block."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.made: list[Tensor] = []
        self.layers = [layer for layers in outer_lists(model).values() for layer in layers]
        self.inside = 0
        self.hooks: list[Any] = []

    def __enter__(self) -> "EmbeddingStates":
        for layer in self.layers:
            self.hooks.append(layer.register_forward_pre_hook(thread_hook(self._enter_layer)))
            self.hooks.append(layer.register_forward_hook(thread_hook(self._leave_layer), always_call=True))
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        for hook in self.hooks:
            hook.remove()

    def _enter_layer(self, *_: Any) -> None:
        self.inside += 1

    def _leave_layer(self, *_: Any) -> None:
        self.inside -= 1

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self.inside and isinstance(result, Tensor) and result.requires_grad and result.ndim > 1:
            self.made.append(result)
        return result


def outer_lists(model: nn.Module) -> dict[str, nn.ModuleList]:
    """The lists of layers of a model that are in no other such list, by name."""
    lists = {name: module for name, module in model.named_modules() if isinstance(module, nn.ModuleList)}
    return {
        name: module
        for name, module in lists.items()
        if len(module) and not any(name.startswith(f"{outer}.") for outer in lists)
    }


@contextmanager
def first_layer_inputs(model: PreTrainedModel) -> Iterator[list[Tensor]]:
    """What the first layer reads [b, n, d] in the block; of an encoder and a decoder the first layer of each.

    Empty where a model has no layers.
    """
    inputs: list[Tensor] = []
    called = set()
    owners = {layers[0]: name.rpartition(".")[0] for name, layers in outer_lists(model).items()}

    def read(layer: nn.Module, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        # ALBERT runs one layer many times; XLM has the parts of its layers in several lists.
        if owners[layer] not in called:
            called.add(owners[layer])
            values = (*args, *options.values())
            inputs.extend([each for each in values if isinstance(each, Tensor) and each.ndim == 3][:1])

    hooks = [layer.register_forward_pre_hook(thread_hook(read), with_kwargs=True) for layer in owners]
    try:
        yield inputs
    finally:
        for hook in hooks:
            hook.remove()
