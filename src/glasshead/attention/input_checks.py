"""Whether q, k, v and the rate of dropout are ones that attention can work with."""

from numbers import Real

from torch import Tensor

from glasshead.errors import InputError, ParameterError


def check_dropout(dropout: float) -> None:
    """Raise InputError unless this is a probability below one."""
    if not isinstance(dropout, Real) or not 0.0 <= dropout < 1.0:
        raise ParameterError("dropout", f"must be a probability in [0, 1), not {dropout!r}")


def check_tensors(q: object, k: object, v: object) -> None:
    """Raise InputError unless all three are tensors of floating point."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
            raise InputError(f"{name} must be a floating tensor [batch, heads, length, size], not {kind}")


def check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise InputError unless q, k and v belong together."""
    shapes = f"q {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}"
    if not q.ndim == k.ndim == v.ndim == 4:
        raise InputError(f"q, k and v must have the shape [batch, heads, length, size], not {shapes}")
    if not q.dtype == k.dtype == v.dtype:
        raise InputError(f"q, k and v must have one type, not {q.dtype}, {k.dtype} and {v.dtype}")
    if not q.device == k.device == v.device:
        raise InputError(f"q, k and v must be on one device, not {q.device}, {k.device} and {v.device}")
    if not q.shape[0] == k.shape[0] == v.shape[0]:
        raise InputError(f"q, k and v must have one batch size, not {shapes}")
    if q.shape[3] != k.shape[3] or q.shape[3] == 0:
        raise InputError(f"queries and keys must have one size above 0, not {q.shape[3]} and {k.shape[3]}")
    if k.shape[1:3] != v.shape[1:3]:
        raise InputError(f"there must be one value for each key, not {shapes}")
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise InputError(f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads")
