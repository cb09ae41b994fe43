"""What reaches the logits directly: a pass in which every product of a layer is a constant of what it reads.

Inside the layers a product (a linear map, a matrix product, a convolution) does not pass on the gradient of
its inputs, and neither does a nonlinear function; sums, multiples and norms do, a norm with its scale held
constant. So the gradient of a logit with respect to what a product gives is what the logit reads of it
directly, through no later head and no later MLP. Every component is multiplied by a gate that is 1: the
derivative by the gate is what the component adds to the logit. For a head the gates are its weights,
a_ij ∂z/∂a_ij being what it brings from token j to row i.

Behind the last layer products pass on everything, and a function f(x) of entries is x times the constant
f(x)/x. What is added without a gate, or counted twice, shows in the difference between the logit and the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.attention import TracedCall
from glasshead.explainers import (
    DEVIATIONS,
    ELEMENTWISE_CALLS,
    PRODUCT_CALLS,
    SUMS,
    NormRules,
    argument_tensors,
    as_constant,
    depends,
    is_composed_activation,
    is_constant,
)
from glasshead.huggingface import in_arithmetic
from glasshead.inside.blocks import find_blocks, watch_blocks
from glasshead.trace import AttentionHook, attach_hook, substitute_forward

Function = Callable[..., Any]
Component = Literal["token", "position", "mlp", "bias", "norm"]

PRODUCTS = (PRODUCT_CALLS - {"mul", "multiply", "__mul__", "__rmul__", "__imul__"}) | {
    "linear", "conv1d", "conv2d", "addmm", "baddbmm", "grouped_mm", "_grouped_mm",
    "scaled_dot_product_attention",
}  # fmt: skip
CHOICES = {"softmax", "log_softmax", "topk", "sort", "max", "amax", "cumsum", "cumprod"}
"""Nonlinear functions of several entries, and those of layers without attention."""
SIZES_OF_VECTORS = DEVIATIONS | {"var", "std", "norm", "vector_norm"}
"""What norms divide by."""
QUESTIONS = {
    "__hash__", "__get__", "__set__", "__bool__", "__len__", "size", "stride", "dim", "numel",
    "is_floating_point", "is_contiguous", "promote_types", "_set_grad_enabled", "item", "data_ptr",
}  # fmt: skip
"""What gives no tensor; most of what is called."""
HEAD_MARK = "glasshead_head_of"
"""Attribute of what was made of the weights of heads and has not been projected yet: by which block."""


class Gate(NamedTuple):
    """What a gate multiplies: a component, and the run of a block that it is part of; None: of none."""

    component: Component
    block: int | None


class HeadWeights(NamedTuple):
    """The weights of an attention call, as leaves of the autograd graph."""

    call: int
    block: int
    weights: Float[Tensor, "b h q k"]


class DirectPath(NormRules):
    """The rules, and the gates and weights that they multiply by."""

    def __init__(self, word_weights: Sequence[Tensor], dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self.word_weights = word_weights
        self.kind = {"dtype": dtype, "device": device}
        self.gates: dict[Gate, Tensor] = {}
        self.heads: list[HeadWeights] = []
        self.block: int | None = None
        self.runs = 0
        self.rules: dict[str, Function] = {
            "embedding": self.look_up,
            "layer_norm": self.layer_norm,
            "rms_norm": self.rms_norm,
            **dict.fromkeys(SIZES_OF_VECTORS, self.constant),
            **dict.fromkeys(ELEMENTWISE_CALLS, self.elementwise),
            **dict.fromkeys(CHOICES, self.choice),
            **dict.fromkeys(PRODUCTS, self.product),
            "linear": self.linear,
            "addmm": self.add_product,
            **dict.fromkeys((SUMS | {"add_", "sub_"}) - {"cat", "stack"}, self.sum),
        }

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in QUESTIONS or self.paused or not torch.is_grad_enabled():
            return func(*args, **kwargs)
        rule = self.rules.get(name, self.follow)
        return rule(func, *args, **kwargs)

    def gate(self, component: Component, value: Tensor, block: int | None = None) -> Tensor:
        """A value times the gate of a component."""
        key = Gate(component, self.block if block is None else block)
        if key not in self.gates:
            self.gates[key] = torch.ones((), requires_grad=True, **self.kind)  # type: ignore[call-overload]
        return value * self.gates[key].to(value)

    def is_head(self, value: object) -> bool:
        """Whether a tensor was made of the weights of heads of this block."""
        return self.block is not None and getattr(value, HEAD_MARK, None) == self.block

    def mark(self, result: Any) -> Any:
        """Say of results that they were made of the weights of heads."""
        for tensor in argument_tensors([result]):
            setattr(tensor, HEAD_MARK, self.block)
        return result

    def follow(self, func: Function, *args: Any, **options: Any) -> Any:
        """A function with its own derivative; parameters, and what is made of them alone, are constants."""
        tensors = list(argument_tensors((*args, *options.values())))
        result = func(*constant_parameters(args), **options)
        if self.block is not None and any(map(self.is_head, tensors)):
            return self.mark(result)
        if any(map(is_constant, tensors)) and not any(map(depends, tensors)):
            return as_constant(result)
        return result

    def constant(self, func: Function, *args: Any, **options: Any) -> Any:
        """A result that passes nothing on."""
        return func(*detached(args), **detached_options(options))

    def look_up(self, func: Function, ids: Tensor, weight: Tensor, *args: Any, **options: Any) -> Any:
        """Words, and whatever else is looked up before the first layer: positions and types."""
        vectors = func(ids, weight.detach(), *args, **options)
        if self.block is not None:
            return vectors
        is_word = any(weight is known for known in self.word_weights)
        return self.gate("token" if is_word else "position", vectors)

    def product(self, func: Function, *args: Any, **options: Any) -> Any:
        """A product in a layer is a component of it; one that heads go into is theirs."""
        if self.block is None:
            return self.follow(func, *args, **options)
        tensors = list(argument_tensors((*args, *options.values())))
        if not any(map(self.is_head, tensors)):
            return self.gate("mlp", self.constant(func, *args, **options))
        named = {name: self.heads_alone(value) for name, value in options.items()}
        result = func(*map(self.heads_alone, args), **named)
        projected = any(isinstance(tensor, nn.Parameter) for tensor in tensors)
        return result if projected else self.mark(result)

    def heads_alone(self, value: Any) -> Any:
        """An argument, which passes something on if it was made of heads."""
        return value if self.is_head(value) else detached([value])[0]

    def linear(
        self, func: Function, x: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any
    ) -> Any:
        """A linear map, and its bias by itself."""
        result = self.product(func, x, as_parameter(weight), **options)
        return result if bias is None else result + self.gate("bias", bias.detach())

    def add_product(self, func: Function, added: Tensor, x: Tensor, weight: Tensor, **options: Any) -> Any:
        """The linear map of GPT-2."""
        if options or not isinstance(weight, nn.Parameter):
            return self.product(func, added, x, weight, **options)
        return self.product(torch.mm, x, weight) + self.gate("bias", added.detach())

    def sum(self, func: Function, *terms: Any, **options: Any) -> Any:
        """Parameters that are added are biases; other constants, before the first layer, places."""
        if any(map(depends, terms)):
            terms = tuple(map(self.term, terms))
        return self.follow(func, *terms, **options)

    def term(self, value: Any) -> Any:
        """A part of a sum, with a gate if it has none."""
        if is_constant(value):
            return self.gate("bias", value.detach())
        is_place = not self.runs and isinstance(value, Tensor) and not value.requires_grad
        return self.gate("position", value) if is_place and value.is_floating_point() else value

    def choice(self, func: Function, *args: Any, **options: Any) -> Any:
        """Nonlinear functions in layers pass nothing on."""
        return (self.follow if self.block is None else self.constant)(func, *args, **options)

    def elementwise(self, func: Function, x: Any, *args: Any, **options: Any) -> Any:
        """Behind the layers f(x) is x · (f(x)/x), the quotient held constant."""
        value = func(*detached([x, *args]), **options)
        if self.block is not None or not isinstance(x, Tensor) or not x.requires_grad:
            return value
        fixed = x.detach()
        return value + (x - fixed) * torch.where(fixed == 0, 0.0, value / fixed)

    def norm_bias(self, bias: Tensor | None) -> Tensor | None:
        """The bias of a norm, by itself."""
        return None if bias is None else self.gate("norm", bias.detach())

    def scale_by_size(
        self, x: Tensor, dims: tuple[int, ...], weight: Tensor | None, eps: float, bias: Tensor | None = None
    ) -> Any:
        """A norm of what heads gave is made of heads."""
        result = super().scale_by_size(x, dims, weight, eps, bias)
        return self.mark(result) if self.is_head(x) else result

    def activation(self, own: Function, x: Tensor, *args: Any, **options: Any) -> Any:
        """A module of several elementwise functions as the one function that it is."""
        with self.pause():
            if not isinstance(x, Tensor):
                return own(x, *args, **options)
            with torch.no_grad():
                value = own(x, *args, **options)
        if not isinstance(value, Tensor):
            return value
        return self.elementwise(lambda *_: value, x)

    def begin_block(self, module: nn.Module, states: Any) -> None:
        """What follows belongs to the next run of a block."""
        self.block, self.runs = self.runs, self.runs + 1

    def end_block(self, module: nn.Module, output: Any) -> None:
        """What follows belongs to none."""
        self.block = None


class HeadLeaves(AttentionHook):
    """The weights of all heads as leaves; behind the layers, as constants."""

    def __init__(self, model: PreTrainedModel, path: DirectPath) -> None:
        super().__init__(model, None)
        self.path = path

    def before(self, traced_call: TracedCall) -> None:
        call = self.number(traced_call)
        if call is None:
            return
        with self.path.pause(), torch.no_grad():
            weights = traced_call.compute_weights().detach()
        traced_call.weights = weights
        if self.path.block is not None:
            traced_call.weights = self.path.mark(weights.requires_grad_())
            self.path.heads.append(HeadWeights(call, self.path.block, traced_call.weights))


@contextmanager
def direct_path(
    model: PreTrainedModel, word_weights: Sequence[Tensor], dtype: torch.dtype
) -> Iterator[DirectPath]:
    """Run a model once in the block: gradients of its logits are those of the direct path.

    Raises:
        InputError: if no attention of the model ran in the block, or the model has no layers.
    """
    with ExitStack() as stack:
        stack.enter_context(in_arithmetic(model))  # within, rules see weights as parameters
        path = DirectPath(word_weights, dtype, model.device)
        stack.enter_context(watch_blocks(find_blocks(model), path.begin_block, path.end_block))
        stack.enter_context(attach_hook(HeadLeaves(model, path)))
        for module in model.modules():
            if is_composed_activation(module):
                stack.enter_context(substitute_forward(module, path.activation))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(path)
        yield path


def as_parameter(weight: Tensor) -> Tensor:
    """What a linear map multiplies by counts as a parameter, whatever made it."""
    return weight if isinstance(weight, nn.Parameter) else nn.Parameter(weight.detach(), requires_grad=False)


def constant_parameters(values: Sequence[Any]) -> list[Any]:
    """Arguments with parameters that need no gradient."""
    return [
        value.detach()
        if isinstance(value, nn.Parameter)
        else type(value)(constant_parameters(value))
        if type(value) in (list, tuple)
        else value
        for value in values
    ]


def detached(values: Sequence[Any]) -> list[Any]:
    """Arguments that pass nothing on."""
    return [
        value.detach()
        if isinstance(value, Tensor)
        else type(value)(detached(value))
        if type(value) in (list, tuple)
        else value
        for value in values
    ]


def detached_options(options: dict[str, Any]) -> dict[str, Any]:
    """Named arguments that pass nothing on."""
    return dict(zip(options, detached(list(options.values())), strict=True))
