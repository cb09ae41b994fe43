"""f(R): how a weighted distance R = w·|i − j| becomes a coefficient of attention (Wu, Wu and Huang 2021)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from glasshead.registry import Registry


@dataclass(frozen=True)
class DistanceMapping:
    """f, and which of the five requirements of section 3.2 it meets for every value of its parameters.

    ``function`` takes R, then the ``fixed`` hyper-parameters and those ``learned`` per head by keyword; the
    numbers are their defaults and initial values.
    """

    function: Callable[..., Tensor]
    one_at_zero: bool
    """f(0) = 1: a token's score with itself stays."""
    vanishes: bool
    """f(R) → 0 for R → −∞: a local head can forget what is far."""
    bounded: bool
    """f(R) stays limited for R → +∞: long sequences are not over-emphasised."""
    tunable: bool
    """The scale of f is learned."""
    monotone: bool
    """f never turns."""
    nonnegative: bool
    """f is never below 0 (not in the paper's list): what it multiplies keeps its sign."""
    learned: dict[str, float] = field(default_factory=dict)
    fixed: dict[str, float] = field(default_factory=dict)


def clip(weighted: Tensor, *, threshold: float) -> Tensor:
    """min(R, T)."""
    return weighted.clamp(max=threshold)


def linear(weighted: Tensor, *, k: Tensor, b: Tensor) -> Tensor:
    """k R + b."""
    return k * weighted + b


def exponent(weighted: Tensor) -> Tensor:
    """e^R, which overflows for long sequences, as the paper warns."""
    return torch.exp(weighted)


def sigmoid(weighted: Tensor) -> Tensor:
    """1 / (1 + e^{−R})."""
    return torch.sigmoid(weighted)


def learnable_sigmoid(weighted: Tensor, *, v: Tensor) -> Tensor:
    """(1 + e^v) / (1 + e^{v − R}) (eq. 5); as exp(log σ(R − v) − log σ(−v)) no exponential overflows."""
    return torch.exp(logsigmoid(weighted - v) - logsigmoid(-v))


MAPPINGS: Registry[DistanceMapping] = Registry("mapping")
MAPPINGS.register("clip")(
    DistanceMapping(
        clip,
        one_at_zero=False,
        vanishes=False,
        bounded=True,
        tunable=False,
        monotone=True,
        nonnegative=False,
        fixed={"threshold": 1.0},
    )
)
MAPPINGS.register("linear")(
    DistanceMapping(
        linear,
        one_at_zero=False,
        vanishes=False,
        bounded=False,
        tunable=True,
        monotone=True,
        nonnegative=False,
        learned={"k": 1.0, "b": 1.0},
    )
)
MAPPINGS.register("exponent")(
    DistanceMapping(
        exponent,
        one_at_zero=True,
        vanishes=True,
        bounded=False,
        tunable=False,
        monotone=True,
        nonnegative=True,
    )
)
MAPPINGS.register("sigmoid")(
    DistanceMapping(
        sigmoid,
        one_at_zero=False,
        vanishes=True,
        bounded=True,
        tunable=False,
        monotone=True,
        nonnegative=True,
    )
)
MAPPINGS.register("learnable-sigmoid")(
    DistanceMapping(
        learnable_sigmoid,
        one_at_zero=True,
        vanishes=True,
        bounded=True,
        tunable=True,
        monotone=True,
        nonnegative=True,
        learned={"v": 0.0},
    )
)
