"""What plots show next to audits and histories: plain values, computed in the rooms below the report."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.arrays import AnyFloats


@dataclass(frozen=True)
class HeadMap:
    """The weights [queries, keys] of one head (NaN where it cannot look), and whether they are nearly
    uniform."""

    title: str
    weights: AnyFloats
    uniform: bool = False


@dataclass(frozen=True)
class HeadMaps:
    """Some heads of a layer for one text; ``rows`` and ``columns`` name queries and keys, ``remark`` says
    what is left out."""

    layer: str
    maps: Sequence[HeadMap]
    rows: Sequence[str]
    columns: Sequence[str]
    signed: bool
    remark: str = ""


@dataclass(frozen=True)
class LearnedParameter:
    """A parameter of the heads of one layer: ``values`` [seeds, heads], ``initial`` [heads]."""

    layer: str
    parameter: str
    values: AnyFloats
    initial: AnyFloats


@dataclass(frozen=True)
class CoefficientCurve:
    """f over the weighted distance R for one v."""

    v: float
    values: AnyFloats


@dataclass(frozen=True)
class CoefficientMatrix:
    """The coefficients f(w |i − j|) between all pairs of tokens for one w and v."""

    w: float
    v: float
    values: AnyFloats


@dataclass(frozen=True)
class DistanceCoefficients:
    """Curves over the weighted distances R, and matrices: one row for each v, one column for each w."""

    weighted: AnyFloats
    curves: Sequence[CoefficientCurve]
    matrices: Sequence[Sequence[CoefficientMatrix]]
