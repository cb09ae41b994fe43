"""Weights in half precision, arithmetic in a finer one: every function widens the halves that it is given
while it runs, and hands nothing coarse on.

A model that keeps its halves predicts what its float32 copy does, at the memory of its halves. It is so while
one of its modules runs; other models, and other threads, see nothing of it.

`narrow_products` turns that round: products are of halves, and everything between them stays in float32. That
is several times faster where the hardware multiplies halves, and no longer what the float32 copy predicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface.quantised import has_packed_weights, is_plain
from glasshead.spelling import spell
from glasshead.torch_modes import ENTERED

HALVES = (torch.float16, torch.bfloat16)
ARITHMETIC = "glasshead_arithmetic"
"""Attribute of the modules of a model that keeps its halves: in which precision they compute."""

PRODUCTS = "glasshead_products"
"""Attribute of the modules of a model whose products are of halves: of which ones."""
PRODUCT_NAMES = {
    "linear", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "addmm", "baddbmm", "einsum",
    "conv1d", "conv2d", "conv3d", "scaled_dot_product_attention",
}  # fmt: skip
"""What costs the time of a pass."""

BLOCK = 2**24
"""Numbers of a weight that are wide at a time, at most: 64 MiB in float32."""
LOOK_UPS = {"embedding", "embedding_bag"}
"""What takes a few rows of a weight: these are widened, and not the weight."""
AS_THEY_ARE = {
    "__get__", "__set__", "__getitem__", "__setitem__", "__hash__", "__len__", "__repr__", "__deepcopy__",
    "size", "dim", "ndimension", "numel", "nelement", "stride", "storage_offset", "data_ptr",
    "untyped_storage",
    "is_contiguous", "is_floating_point", "is_complex", "is_inference", "get_device", "register_hook",
    "view", "view_as", "reshape", "expand", "t", "transpose", "swapaxes", "permute", "movedim", "flatten",
    "unflatten", "squeeze", "unsqueeze", "select", "narrow", "split", "chunk", "unbind", "index_select",
    "to", "type", "float", "double", "detach", "contiguous", "clone", "cpu", "cuda",
}  # fmt: skip
"""What computes nothing, or is a part or a view of the halves, which the next function widens."""


class WideArithmetic(TorchFunctionMode):
    """In the block no function computes in halves, and halves say that they are of the wide type: models make
    masks, and cast what they read, by the type of their weights.

    What autograd keeps of a weight that needs no gradient is the half, and not its wide copy.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__":
            value = func(*args, **kwargs)
            return self.dtype if isinstance(value, torch.dtype) and value in HALVES else value
        if name in LOOK_UPS:
            return Widening(self.dtype).widen(func(*args, **kwargs))
        if name == "linear" and len(args) > 1 and is_large(args[1]):
            return self.in_blocks(func, types, *args, **kwargs)
        widening = Widening(self.dtype)
        own = args[:1] if name in AS_THEY_ARE or changes_its_tensor(name) else ()
        args = (*own, *widening.widen(args[len(own) :]))
        # What a function writes into has no copy: most then say that its type does not fit.
        kwargs = {key: value if key == "out" else widening.widen(value) for key, value in kwargs.items()}
        if not widening.halves or not torch.is_grad_enabled():
            return func(*args, **kwargs)
        with torch.autograd.graph.saved_tensors_hooks(widening.pack, unpack):
            return func(*args, **kwargs)

    def in_blocks(
        self, func: Any, types: Any, input: Tensor, weight: Tensor, bias: Tensor | None = None
    ) -> Tensor:
        """A linear map, some of its outputs after others: no more of its weight is wide at a time."""
        rows = max(1, BLOCK // weight.shape[1])
        biases = [None] * len(weight) if bias is None else bias.split(rows)
        blocks = zip(weight.split(rows), biases, strict=False)
        made = [self.__torch_function__(func, types, (input, own, add)) for own, add in blocks]
        return torch.cat(made, dim=-1)


class HalfProducts(WideArithmetic):
    """In the block products are of halves; their results, and all else, are of the wide type."""

    def __init__(self, dtype: torch.dtype, half: torch.dtype) -> None:
        super().__init__(dtype)
        self.half = half

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name not in PRODUCT_NAMES or "out" in kwargs:
            return super().__torch_function__(func, types, args, kwargs)
        if name == "scaled_dot_product_attention":  # rows that a mask hides whole would be NaN
            args, kwargs = (
                (*args[:3], *map(self.within, args[3:])),
                {k: self.within(v) for k, v in kwargs.items()},
            )
        product = func(*self.narrow(args), **{key: self.narrow(value) for key, value in kwargs.items()})
        return product.to(self.dtype) if product.dtype == self.half else product

    def within(self, value: Any) -> Any:
        """A float mask without what would be infinite in halves."""
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        return value.clamp(min=torch.finfo(self.half).min)

    def narrow(self, value: Any) -> Any:
        """A value, and all in its lists, with halves in the place of finer numbers."""
        if isinstance(value, Tensor):
            return value.to(self.half) if value.is_floating_point() else value
        return type(value)(map(self.narrow, value)) if type(value) in (list, tuple) else value


def is_large(weight: object) -> bool:
    """Whether a weight of halves is widened block by block."""
    return (
        isinstance(weight, Tensor)
        and weight.dtype in HALVES
        and weight.numel() > BLOCK
        and not hasattr(weight, "__tensor_flatten__")
    )


def changes_its_tensor(name: str) -> bool:
    """Whether a function writes into its first tensor, as ``add_`` and ``__iadd__`` do."""
    return (name.endswith("_") and not name.endswith("__")) or (
        name.startswith("__i") and name != "__invert__"
    )


class Widening:
    """The wide copies that one call is given, and the halves that they are of."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.halves: dict[int, Tensor] = {}
        """By the memory of their copies; those that need a gradient are none of these."""

    def widen(self, value: Any) -> Any:
        """A value, and all in its lists, with wide tensors instead of halves."""
        if isinstance(value, Tensor):
            if value.dtype not in HALVES:
                return value
            wide = widened(value, self.dtype)
            if not value.requires_grad and wide.numel():
                self.halves[wide.untyped_storage().data_ptr()] = value
            return wide
        if type(value) in (list, tuple):
            return type(value)(map(self.widen, value))
        return value

    def pack(self, saved: Tensor) -> Any:
        """What autograd is to keep: of a wide copy its half, and how the copy was looked at."""
        half = self.halves.get(saved.untyped_storage().data_ptr()) if saved.numel() else None
        if half is None:
            return saved.detach()
        return half, saved.dtype, saved.shape, saved.stride(), saved.storage_offset()


def unpack(kept: Any) -> Tensor:
    """The inverse of `Widening.pack`."""
    if isinstance(kept, Tensor):
        return kept
    half, dtype, *view = kept
    return widened(half.detach(), dtype).as_strided(*view)


def widened(half: Tensor, dtype: torch.dtype) -> Tensor:
    """A half in a finer type; of packed weights (quantised) the numbers that they stand for."""
    plain: Tensor = half.dequantize() if hasattr(half, "__tensor_flatten__") else half
    return plain.to(dtype)


def enter_arithmetic(module: nn.Module, args: Any) -> None:
    """Forward pre-hook: from here on this module computes in its precision."""
    dtype = vars(module).get(ARITHMETIC)
    if dtype is None:
        return
    modes = (own for _, own in reversed(ENTERED.stack) if isinstance(own, WideArithmetic))
    around, own = next(modes, None), arithmetic_mode(dtype, vars(module).get(PRODUCTS))
    is_on = type(around) is type(own) and vars(around) == vars(own)
    mode = None if is_on else own
    if mode is not None:
        mode.__enter__()
    ENTERED.stack.append((module, mode))


def arithmetic_mode(dtype: torch.dtype, half: torch.dtype | None) -> WideArithmetic:
    """The mode in which a model computes that keeps its halves."""
    return WideArithmetic(dtype) if half is None else HalfProducts(dtype, half)


def leave_arithmetic(module: nn.Module, args: Any, output: Any) -> None:
    """Forward hook: no longer, also after an exception."""
    if ENTERED.stack and ENTERED.stack[-1][0] is module:
        mode = ENTERED.stack.pop()[1]
        if mode is not None:
            mode.__exit__(None, None, None)


def keep_halves(model: PreTrainedModel, dtype: torch.dtype = torch.float32) -> None:
    """Let a model of our own compute in ``dtype``, for any type of its weights; no weight needs a gradient
    from here on.

    The model is changed, but not the weights that it shares with another: pass an `isolated_copy`.
    """
    frozen: dict[int, nn.Parameter] = {}
    for module in model.modules():
        if ARITHMETIC not in vars(module) and not has_hooks_of_arithmetic(module):
            for name, weight in module._parameters.items():
                if weight is not None and is_plain(weight):  # others carry scales of their own
                    own = frozen.setdefault(id(weight), nn.Parameter(weight.detach(), requires_grad=False))
                    module._parameters[name] = own
            if getattr(module, "compute_dtype", None) in HALVES:  # of packed weights: bitsandbytes
                vars(module)["compute_dtype"] = dtype
            # First in, last out: other modes of the module are within.
            module.register_forward_pre_hook(enter_arithmetic, prepend=True)
            module.register_forward_hook(leave_arithmetic, always_call=True)
        setattr(module, ARITHMETIC, dtype)


def narrow_products(model: nn.Module, half: torch.dtype) -> None:
    """Let a model of our own multiply in halves, and keep the weights of its products in them.

    Embeddings, biases and scales stay as they are: they take little memory, and rounding them gains nothing.

    Raises:
        InputError: if its weights are packed (quantised).
    """
    if has_packed_weights(model):
        raise InputError(
            f"quantised weights are computed in float32, not in {str(half).removeprefix('torch.')}: leave "
            f"{spell('dtype')} out"
        )
    looked_up = {
        id(own) for module in model.modules() if isinstance(module, nn.Embedding)
        for own in module.parameters(recurse=False)
    }  # fmt: skip
    halved: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, weight in module._parameters.items():
            is_factor = weight is not None and weight.dim() > 1 and id(weight) not in looked_up
            if weight is not None and is_factor and is_plain(weight) and weight.dtype not in HALVES:
                own = halved.setdefault(id(weight), nn.Parameter(weight.detach().to(half), False))
                module._parameters[name] = own
    keep_halves(model, torch.float32)  # type: ignore[arg-type]
    for module in model.modules():
        setattr(module, PRODUCTS, half)
    if half == torch.float16:
        model.register_forward_hook(refuse_overflow)


def refuse_overflow(module: nn.Module, args: Any, output: Any) -> None:
    """Forward hook: raise InputError where logits are not finite, since products went beyond 65,504."""
    logits = getattr(output, "logits", None)
    if isinstance(logits, Tensor) and not bool(logits.isfinite().all()):
        raise overflow()


def overflow() -> InputError:
    """Advice if numbers are too large for float16."""
    return InputError(f"the model overflows in float16: use {spell('dtype', 'bfloat16')}")


def products_of(model: nn.Module) -> torch.dtype | None:
    """The half precision in which a model multiplies; None: full precision."""
    own = (vars(module).get(PRODUCTS) for module in model.modules())
    return next((half for half in own if half is not None), None)


def has_hooks_of_arithmetic(module: nn.Module) -> bool:
    """Whether a module kept its halves before `forget_halves`."""
    return enter_arithmetic in module._forward_pre_hooks.values()


def forget_halves(model: nn.Module) -> None:
    """Let a model of our own compute in the precision of its weights."""
    for module in model.modules():
        vars(module).pop(ARITHMETIC, None)
        vars(module).pop(PRODUCTS, None)


def kept_arithmetic(model: nn.Module) -> torch.dtype | None:
    """The precision in which a model with half-precision weights computes; None for any other."""
    own = (vars(module).get(ARITHMETIC) for module in model.modules())
    return next((dtype for dtype in own if dtype is not None), None)


def arithmetic_of(model: PreTrainedModel) -> torch.dtype:
    """The precision in which a model computes."""
    return kept_arithmetic(model) or model.dtype


@contextmanager
def in_arithmetic(model: nn.Module) -> Iterator[None]:
    """In the block, computations with the weights of a model use its arithmetic."""
    dtype = kept_arithmetic(model)
    with nullcontext() if dtype is None else arithmetic_mode(dtype, products_of(model)) as mode:
        ENTERED.stack.append((model, mode))
        depth = len(ENTERED.stack)
        try:
            yield
        finally:
            ENTERED.leave(depth)
            ENTERED.stack.pop()
