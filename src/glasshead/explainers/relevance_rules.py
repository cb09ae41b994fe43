"""The rules of layer-wise relevance propagation, as gradients of the functions that a model calls.

In the block of `relevance_rules` the gradient of a function is not its derivative but what hands relevance
on, so that Σ x ∂z/∂x over all that a model reads is what reached it. Values stay what they are, other threads
and the model itself see nothing of it, and afterwards nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glasshead.attention import TracedCall
from glasshead.huggingface import in_arithmetic
from glasshead.trace import AttentionHook, attach_hook, substitute_forward

Function = Callable[..., Any]

PRODUCT_CALLS = {
    "mul", "multiply", "__mul__", "__rmul__", "__imul__",
    "matmul", "__matmul__", "__rmatmul__", "bmm", "mm", "mv", "dot", "einsum",
}  # fmt: skip
ELEMENTWISE_CALLS = {
    "gelu", "silu", "mish", "relu", "relu6", "leaky_relu", "elu", "celu", "selu",
    "tanh", "sigmoid", "hardtanh", "hardsigmoid", "hardswish", "softplus", "softsign", "logsigmoid",
    "erf", "exp", "expm1", "log", "log1p", "sin", "cos", "square", "pow", "__pow__",
}  # fmt: skip
DEVIATIONS = {"sqrt", "rsqrt"}
QUOTIENTS = {"div", "divide", "true_divide", "__truediv__", "__itruediv__"}
SUMS = {"add", "__add__", "__radd__", "__iadd__", "sub", "__sub__", "cat", "stack"}
MASK_CONSTANT = 1e4
"""Constants of this size forbid attention and are not part of a sum."""


class NormRules(TorchFunctionMode):
    """Norms with a constant scale, and blocks in which functions have their own derivatives."""

    def __init__(self) -> None:
        super().__init__()
        self.paused = False

    def layer_norm(
        self, func: Function, x: Tensor, normalized_shape: Any, weight: Tensor | None = None,
        bias: Tensor | None = None, eps: float = 1e-5,
    ) -> Tensor:  # fmt: skip
        """(x − mean) / SD · γ + β, the standard deviation held constant."""
        dims = tuple(range(-len(normalized_shape), 0))
        centred = x - x.mean(dims, keepdim=True)
        return self.scale_by_size(centred, dims, weight, eps, bias)

    def rms_norm(
        self, func: Function, x: Tensor, normalized_shape: Any, weight: Tensor | None = None,
        eps: float | None = None,
    ) -> Tensor:  # fmt: skip
        """x / rms · γ, the root mean square held constant."""
        dims = tuple(range(-len(normalized_shape), 0))
        return self.scale_by_size(x, dims, weight, torch.finfo(x.dtype).eps if eps is None else eps)

    def scale_by_size(
        self, x: Tensor, dims: tuple[int, ...], weight: Tensor | None, eps: float, bias: Tensor | None = None
    ) -> Tensor:
        """x / √(mean x² + ε) · γ + β, the root held constant."""
        size = (x.detach().square().mean(dims, keepdim=True) + eps).rsqrt()
        result = x * (size if weight is None else size * weight.detach())
        added = self.norm_bias(bias)
        return result if added is None else result + added

    def norm_bias(self, bias: Tensor | None) -> Tensor | None:
        """The bias that is added after a norm."""
        return bias

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Functions have their own derivatives in the block."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before


class RelevanceRules(NormRules):
    """The rules, and what relevance ends in: ``words``, the ids and vectors of every look-up of words, and
    the gates ``places`` and ``biases``, which are 1.

    What depends on a word, a place or a bias has a graph; what depends on parameters alone is a constant.
    """

    def __init__(self, word_weights: Iterable[Tensor]) -> None:
        super().__init__()
        self.word_weights = list(word_weights)
        self.words: list[tuple[Tensor, Tensor]] = []
        weight = self.word_weights[0]
        exact = torch.promote_types(weight.dtype, torch.float32)
        self.places, self.biases = (
            torch.ones((), dtype=exact, device=weight.device, requires_grad=True) for _ in range(2)
        )
        self.rules: dict[str, Callable[..., Any]] = {
            "embedding": self.look_up,
            "linear": self.linear,
            "conv1d": self.linear,
            "addmm": self.add_product,
            "baddbmm": self.add_product,
            "layer_norm": self.layer_norm,
            "rms_norm": self.rms_norm,
            "__rtruediv__": self.reciprocal,
        }
        groups: list[tuple[Collection[str], Callable[..., Any]]] = [
            (PRODUCT_CALLS, self.product),
            (ELEMENTWISE_CALLS, self.elementwise),
            (DEVIATIONS, self.deviation),
            (QUOTIENTS, self.quotient),
            (SUMS, self.sum),
        ]
        self.rules |= {name: rule for names, rule in groups for name in names}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not torch.is_grad_enabled():
            return func(*args, **kwargs)
        tensors = list(argument_tensors((*args, *kwargs.values())))
        name = getattr(func, "__name__", "")
        followed = sum(map(depends, tensors))
        if not followed and name != "embedding":
            result = func(*args, **kwargs)
            return as_constant(result) if any(map(is_constant, tensors)) else result
        rule = None if self.paused else self.rules.get(name)
        return func(*args, **kwargs) if rule is None else rule(func, *args, **kwargs)

    def look_up(self, func: Function, ids: Tensor, weight: Tensor, *args: Any, **options: Any) -> Tensor:
        """Words are leaves; what else is looked up belongs to places and types."""
        vectors: Tensor = func(ids, weight.detach(), *args, **options)
        if all(weight is not known for known in self.word_weights):
            return vectors * self.places.to(vectors)
        self.words.append((ids, vectors.requires_grad_()))
        return vectors.clone()  # CTRL scales them in place

    def bias(self, values: Any) -> Any:
        """A parameter that is added, or what was made of parameters."""
        return values.detach() * self.biases.to(values) if is_constant(values) else values

    def linear(
        self,
        func: Function,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        *args: Any,
        **options: Any,
    ) -> Tensor:
        result: Tensor = func(x, weight, self.bias(bias), *args, **options)
        return divide_gradient(result, 2) if depends(x) and depends(weight) else result

    def add_product(self, func: Function, added: Tensor, *factors: Any, **options: Any) -> Tensor:
        """A sum with a product: only the product is divided."""
        if sum(map(depends, (*factors, *options.values()))) > 1:
            factors = tuple(map(halve_gradient, factors))
            options = {name: halve_gradient(value) for name, value in options.items()}
        result: Tensor = func(self.bias(added), *factors, **options)
        return result

    def product(self, func: Function, *factors: Any, **options: Any) -> Any:
        """A product of k tensors that all depend on the input: each has 1/k of the relevance."""
        followed = sum(map(depends, argument_tensors((*factors, *options.values()))))
        return divide_gradient(func(*factors, **options), followed)

    def sum(self, func: Function, *terms: Any, **options: Any) -> Any:
        """Parameters that are added are biases, and other constants places, but for masks."""
        return func(*map(self.term, terms), **options)

    def term(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self.term(part) for part in value]
        if not isinstance(value, Tensor) or depends(value) or is_constant(value):
            return self.bias(value)
        is_number = value.is_floating_point() and value.ndim and bool((value.abs() < MASK_CONSTANT).all())
        return value * self.places.to(value) if is_number else value

    def elementwise(self, func: Function, x: Tensor, *args: Any, **options: Any) -> Tensor:
        """y = x · (f(x)/x), the quotient held constant."""
        result: Tensor = Proportional.apply(x, lambda values: func(values, *args, **options))
        return result

    def deviation(self, func: Function, x: Tensor, **options: Any) -> Tensor:
        """A standard deviation is held constant."""
        result: Tensor = func(x.detach(), **options)
        return result

    def quotient(self, func: Function, x: Any, y: Any, **options: Any) -> Any:
        """What is divided by is held constant."""
        return func(x, y.detach() if isinstance(y, Tensor) else y, **options)

    def reciprocal(self, func: Function, y: Tensor, x: Any) -> Any:
        """x / y by way of y."""
        return func(y.detach(), x)

    def norm_bias(self, bias: Tensor | None) -> Tensor | None:
        return self.bias(bias)

    def activation(self, own: Function, x: Tensor, *args: Any, **options: Any) -> Any:
        """A module of several elementwise functions as the one function that it is."""
        if not depends(x):
            return own(x, *args, **options)
        others: list[Any] = []  # I-BERT gives a scale, too

        def values_alone(values: Tensor) -> Any:
            output = own(values, *args, **options)
            others[:] = () if isinstance(output, Tensor) else output[1:]
            return output[0] if others else output

        result = self.elementwise(values_alone, x)
        return (result, *others) if others else result


class AttentionRule(AttentionHook):
    """Attention by its weights, and the derivative of the activation by which they come of scores; the
    weights are constants where they are ``held``."""

    def __init__(self, model: nn.Module, rules: RelevanceRules, *, held: bool) -> None:
        super().__init__(model, None)
        self.rules, self.held = rules, held

    def before(self, traced_call: TracedCall) -> None:
        if self.number(traced_call) is None:
            return
        if traced_call.weights is None:
            call = traced_call.call
            traced_call.scores = call.mechanism.scores(call)
            with self.rules.pause():
                traced_call.weights = call.mechanism.weights(call, traced_call.scores)
        if self.held:
            traced_call.weights = traced_call.weights.detach()


@contextmanager
def relevance_rules(
    model: nn.Module, word_weights: Iterable[Tensor], *, held_attention: bool
) -> Iterator[RelevanceRules]:
    """Run a model in the block with these rules: its gradients are then relevance per unit.

    Raises:
        InputError: if the block saw no attention of the model.
    """
    with ExitStack() as stack:
        stack.enter_context(in_arithmetic(model))  # within, rules see weights as parameters
        rules = RelevanceRules(word_weights)
        stack.enter_context(attach_hook(AttentionRule(model, rules, held=held_attention)))
        for module in model.modules():
            if is_composed_activation(module):
                stack.enter_context(substitute_forward(module, rules.activation))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(rules)
        yield rules


def is_composed_activation(module: nn.Module) -> bool:
    """Whether a module is an activation made of several functions, such as the GELU of GPT-2."""
    kind = type(module)
    own = kind.__module__ == "transformers.activations" or "gelu" in kind.__name__.lower()
    return own and next(module.parameters(), None) is None


def divide_gradient(x: Any, shares: int) -> Any:
    """x, whose gradient is from here on divided among so many."""
    if shares > 1 and isinstance(x, Tensor) and x.requires_grad:
        x.register_hook(lambda gradient: gradient / shares)
    return x


def halve_gradient(value: Any) -> Any:
    """A tensor with half of its gradient, where it has one; anything else as it is."""
    return divide_gradient(value.view_as(value), 2) if depends(value) else value


class Proportional(torch.autograd.Function):
    """function(x) as a multiple of x that is held constant, entry by entry; where x is 0 it has no part."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Function) -> Tensor:
        y: Tensor = function(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        x, y = ctx.saved_tensors
        return gradients[0] * torch.where(x == 0, 0.0, y / x), None


def depends(value: object) -> bool:
    """Whether a tensor depends on a word, a place or a bias."""
    return isinstance(value, Tensor) and value.requires_grad and not isinstance(value, nn.Parameter)


CONSTANT_MARK = "glasshead_constant"
"""Attribute of what was made of parameters alone."""


def as_constant(value: Any) -> Any:
    """A tensor that depends on parameters alone, detached from its graph."""
    if not isinstance(value, Tensor) or not value.is_floating_point() or isinstance(value, nn.Parameter):
        return value
    value = value.detach()
    setattr(value, CONSTANT_MARK, True)
    return value


def is_constant(value: object) -> bool:
    """Whether a tensor is a parameter, or made of parameters alone."""
    return isinstance(value, nn.Parameter) or hasattr(value, CONSTANT_MARK)


def argument_tensors(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among arguments, and in their lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from argument_tensors(value)
