"""The interval of values, for each attention weight, that are consistent with the output of its head."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasshead.arrays import Floats
from glasshead.errors import InputError, ParameterError
from glasshead.identifiability.lp import highs
from glasshead.identifiability.lp.polytopes import ROUNDING, WEIGHT_DOMAINS
from glasshead.identifiability.lp.rank import ColumnSpace, column_space
from glasshead.identifiability.lp.simplex import (
    SimplexBatchResult,
    Vertex,
    initial_vertices,
    maximise,
    verify_by_duality,
    verify_rays,
)

SAME_WEIGHT = 1e-9  # weights that differ by less are the same, relative to their unit


@dataclass(frozen=True)
class Intervals:
    """The interval [``low``, ``high``] of each weight, or of each sum of weights; NaN where no solver had
    an answer; ``failed`` says which and why. ±∞ where nothing bounds it.

    ``rank`` is that of [T, 1] (of T where rows need not sum to one), ``nullity`` the dimension of its left
    null space: with 0 every weight is identifiable, and its interval is a point. ``margin`` says how clear
    the rank is (`ColumnSpace.margin`); the error of the ends grows with its reciprocal.
    """

    value: Floats
    low: Floats
    high: Floats
    rank: int
    nullity: int
    margin: float
    failed: dict[int, str]

    @property
    def conditioning(self) -> float:
        """1/margin: how strongly an end depends on errors of T, in units of the threshold of the rank.

        An error of T as large as the threshold would move an end by about as much. Rounding itself is
        smaller, and moves it by about a hundredth of this: 10⁻³ at margin 10.
        """
        return 1.0 / self.margin


def intervals(
    T: ArrayLike,
    a: ArrayLike,
    *,
    kind: str = "simplex",
    embed_dim: int | None = None,
    eps: float | None = None,
    tolerance: float = 0.0,
    functions: ArrayLike | None = None,
) -> Intervals:
    """min and max of every a′_j over the weights a′ that the activation can produce with a′ T = a T.

    T is [n, d] and a [n], of the keys that the row may attend to; all is computed in float64. ``kind``
    names the set that the activation can produce (`WEIGHT_DOMAINS`). Its closure is used, so ends may be
    approached but not reached. ``eps`` is the machine epsilon of the type in which T was computed: give it
    if that is not the type of T as given (float64 for lists and whole numbers). ``embed_dim`` is d_e. With
    ``tolerance`` ε the output may move by ε ‖a T‖ along each of its principal directions, so by up to √rank
    · ε ‖a T‖ in all. ``functions`` [L, n] asks for sums Σ_j w_j a′_j in place of single weights.

    T and every row of ``functions`` are rescaled, so that neither 1e200 nor 1e-200 causes overflow.

    Raises:
        InputError: on a tolerance that is negative or not finite, an invalid ``eps`` or ``embed_dim``, an
            unknown kind, a row without keys, shapes that do not fit, anything but finite real numbers, or
            weights that no activation of this kind makes.

    Source: Bhardwaj et al. (2021), constraints P1 to P3; the linear programs are this project's.
    """
    program = interval_program(
        T, a, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance, functions=functions
    )
    return program if isinstance(program, Intervals) else program.solve()


@dataclass(frozen=True)
class IntervalProgram:
    """What is left of intervals to compute: the ``maxima`` (A, start, functions) of linear programs, from
    which those of the ``wanted`` sums follow; ``points`` are the sums as they are."""

    points: Intervals
    wanted: Floats
    scale: Floats
    unit: float
    signed: bool
    maxima: tuple[Floats, Floats, Floats]
    variables_are_weights: bool

    def solve(self) -> Intervals:
        """The intervals."""
        return self.conclude(*maximise_all(*self.maxima, self.variables_are_weights))

    def conclude(self, maxima: Floats, failed: Mapping[int, str]) -> Intervals:
        """The intervals, from the maxima of the functions."""
        wanted, scale, unit = self.wanted, self.scale, self.unit
        value = self.points.value / scale
        high, low = unit * maxima[: len(wanted)], 0.0 - unit * maxima[len(wanted) :]  # no end is −0
        if not self.signed:
            low = np.where((wanted >= 0).all(axis=1), np.maximum(low, 0.0), low)
        reasons = {int(one % len(wanted)): reason for one, reason in failed.items()}
        # Rounding must not push a weight out of its own interval; more than rounding is a failure.
        off = np.maximum(low - value, value - high)
        for missed in np.flatnonzero(off > ROUNDING * unit).tolist():
            reasons[missed] = f"the interval misses the weight by {scale[missed] * off[missed]:.1e}"
        low, high = np.minimum(low, value), np.maximum(high, value)
        low[list(reasons)] = high[list(reasons)] = np.nan
        return replace(self.points, low=scale * low, high=scale * high, failed=reasons)


def interval_program(
    T: ArrayLike,
    a: ArrayLike,
    *,
    kind: str = "simplex",
    embed_dim: int | None = None,
    eps: float | None = None,
    tolerance: float = 0.0,
    functions: ArrayLike | None = None,
) -> Intervals | IntervalProgram:
    """The intervals where they need no linear program, else the program. Arguments and errors are those of
    `intervals`."""
    T, a, precision = to_real_array(T, "values"), to_real_array(a, "weights").astype(np.float64), eps
    check_program(T, a, kind, tolerance)
    if precision is None:
        precision = float(np.finfo(T.dtype if T.dtype.kind == "f" else np.float64).eps)
    if not (is_real(precision) and 0 < precision < 1):
        raise InputError(f"eps must be a machine epsilon, a number between 0 and 1, not {eps!r}")
    if not (embed_dim is None or (is_real(embed_dim) and embed_dim >= 1 and embed_dim == embed_dim // 1)):
        raise ParameterError("embed_dim", f"must be a whole number of at least 1, not {embed_dim!r}")
    wanted, scale = scale_by_powers_of_two(
        np.eye(len(a)) if functions is None else to_functions(functions, len(a))
    )
    T = scale_by_powers_of_two(T.astype(np.float64).reshape(1, -1))[0].reshape(T.shape)
    domain = WEIGHT_DOMAINS[kind]
    space = column_space(T, embed_dim=embed_dim, eps=precision, centred=domain.sums_to_one)
    rank = len(space.sizes) + domain.sums_to_one
    nullity = len(a) - rank
    value = wanted @ a
    points = Intervals(scale * value, scale * value, scale * value, rank, nullity, space.margin, {})
    slack = tolerance * float(np.linalg.norm(a @ T)) if tolerance else 0.0
    if len(a) <= domain.sums_to_one or (nullity <= 0 and slack <= 0):
        return points
    if domain.polytope is None:
        reach = scale * half_width_without_bounds(wanted, space, slack)
        return replace(points, low=points.value - reach, high=points.value + reach)
    unit = domain.unit(a)
    polytope = domain.polytope(a / unit, space, slack / unit)
    signed = np.concatenate([wanted, -wanted]) @ polytope.to_weights.T
    return IntervalProgram(
        points,
        wanted,
        scale,
        unit,
        domain.signed,
        (polytope.A, polytope.start, signed),
        bool((polytope.to_weights >= 0).all()),
    )


def to_real_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """Values as an array of finite real numbers, of the type it has.

    Raises:
        InputError: if it is none: text, complex numbers, dates, lists of different lengths, NaN.
    """
    try:
        array = np.asarray(values)
        numeric = array.dtype.kind in "fiub"
    except (ValueError, TypeError):
        numeric = False
    if not numeric or not np.isfinite(array).all():
        raise InputError(f"{what} must be finite numbers, in an array of real numbers")
    return array


def is_real(value: object) -> bool:
    """Whether it is a real number, no truth value and no text."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def to_functions(functions: ArrayLike, n: int) -> Floats:
    """The weights of sums [L, n], or InputError."""
    array = to_real_array(functions, "functions").astype(np.float64)
    if array.ndim != 2 or array.shape[1] != n:
        raise InputError(f"functions must be [L, {n}], a number for each weight, not {list(array.shape)}")
    return array


def scale_by_powers_of_two(rows: Floats) -> tuple[Floats, Floats]:
    """Rows [L, n] divided by a power of two each, their largest number then in [1, 2), and the powers."""
    exponents = np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1] - 1
    return np.ldexp(rows, -exponents[:, None]), np.ldexp(1.0, exponents)


def check_program(T: Floats, a: Floats, kind: str, tolerance: float) -> None:
    """Raise InputError unless intervals can be asked of these."""
    if not (is_real(tolerance) and 0 <= tolerance < math.inf):
        raise InputError(f"the tolerance must be a number of at least 0, not {tolerance!r}")
    if not isinstance(kind, str) or kind not in WEIGHT_DOMAINS:
        raise InputError(f"unknown kind of weights {kind!r}: choose from {', '.join(WEIGHT_DOMAINS)}")
    if a.ndim != 1 or T.ndim != 2 or len(T) != len(a):
        raise InputError(f"a row of weights [n] needs values [n, d], not {list(a.shape)} and {list(T.shape)}")
    if not len(a):
        raise InputError("a row that may attend to no key has no weights: leave it out")
    objection = WEIGHT_DOMAINS[kind].domain_violation(a)
    if objection:
        raise InputError(
            f"these are not weights of the kind {kind!r}, {WEIGHT_DOMAINS[kind].describe}: {objection}; "
            "give an unchanged row of the activation, over all keys that it may attend to"
        )


def half_width_without_bounds(wanted: Floats, space: ColumnSpace, slack: float) -> Floats:
    """How far a sum reaches to both sides where any weights are possible: it is known as well as the output
    is, or can be anything."""
    parts = wanted @ space.basis
    beyond = np.linalg.norm(wanted - parts @ space.basis.T, axis=1) > SAME_WEIGHT * np.linalg.norm(
        wanted, axis=1
    )
    return np.where(beyond, np.inf, np.abs(parts) @ (slack / space.sizes))


def maximise_all(
    A: Floats, start: Floats, functions: Floats, variables_are_weights: bool
) -> tuple[Floats, dict[int, str]]:
    """max Σ w_i x_i over {x ≥ 0, A x = A start} for every row of ``functions`` [L, n], proven by the dual,
    ∞ by a ray; by HiGHS where that fails, and then NaN with the reason.

    Where ``variables_are_weights``, half of the functions are minima, and of those most are zero: every
    vertex that was certified on the way proves the minima of all that is zero there.
    """
    return maximise_each([(A, start, functions)], variables_are_weights)[0]


def maximise_each(
    programs: Sequence[tuple[Floats, Floats, Floats]], variables_are_weights: bool
) -> list[tuple[Floats, dict[int, str]]]:
    """`maximise_all` of several programs (A, start, functions), whose A have one shape, walking together."""
    values = [np.full(len(functions), np.nan) for _, _, functions in programs]
    bound = []
    for number, (A, _, functions) in enumerate(programs):
        if len(A):
            bound.append(number)
        else:  # nothing binds
            values[number] = np.where(functions.max(axis=1, initial=0.0) > 0, np.inf, 0.0)
    vertices: dict[int, Vertex] = {}
    if bound:
        A, start = (np.stack([programs[number][place] for number in bound]) for place in (0, 1))
        starts = zip(bound, initial_vertices(A, start), strict=True)
        vertices = {number: vertex for number, vertex in starts if vertex is not None}
    zero: dict[int, NDArray[np.bool_]] = {
        number: np.zeros(programs[number][0].shape[1], dtype=bool) for number in vertices
    }
    for minima in (False, True):
        parts: dict[int, NDArray[np.int64]] = {}
        for number in vertices:
            functions = programs[number][2]
            half = len(functions) // 2
            part = np.arange(half, len(functions)) if minima else np.arange(half)
            if variables_are_weights:
                # −w x_i with w > 0 is at most zero, and is zero there.
                single = (functions[part] != 0).sum(axis=1) == 1
                negative = functions[part].min(axis=1, initial=0.0) < 0
                which = np.abs(functions[part]).argmax(axis=1)
                proven = part[single & negative & zero[number][which]]
                values[number][proven] = 0.0
                part = np.setdiff1d(part, proven)
            if len(part):
                parts[number] = part
        if not parts:
            continue
        sizes = [len(part) for part in parts.values()]
        searches = maximise(
            np.stack([programs[number][0] for number in parts]),
            [vertices[number] for number in parts],
            np.concatenate([programs[number][2][part] for number, part in parts.items()]),
            np.repeat(np.arange(len(parts)), sizes),
        )
        ends = np.cumsum(sizes)
        for (number, part), end in zip(parts.items(), ends, strict=True):
            A, start, functions = programs[number]
            place = slice(end - len(part), end)
            proofs = certify_maxima(A, A @ start, functions[part], searches.some(place))
            values[number][part] = proofs
            certified = searches.basic[place][np.isfinite(proofs)]
            zero[number] |= np.bincount(certified.ravel(), minlength=A.shape[1]) < len(certified)
    return [
        solve_with_highs(A, A @ start, functions, maxima)
        for (A, start, functions), maxima in zip(programs, values, strict=True)
    ]


def certify_maxima(A: Floats, b: Floats, functions: Floats, searches: SimplexBatchResult) -> Floats:
    """What the ends of searches prove: a value by the dual, ∞ by a ray, NaN nothing."""
    proofs = verify_by_duality(A, b, functions, searches.basic)
    rising = np.flatnonzero(searches.ended & np.isinf(searches.value))
    rays = verify_rays(A, functions[rising], searches.basic[rising], searches.entering[rising])
    proofs[rising[rays]] = np.inf
    return proofs


def solve_with_highs(
    A: Floats, b: Floats, functions: Floats, values: Floats
) -> tuple[Floats, dict[int, str]]:
    """HiGHS for what has no value."""
    missing = np.flatnonzero(np.isnan(values))
    if not len(missing):
        return values, {}
    values[missing], reasons = highs.highs_maxima(A, b, functions[missing])
    return values, {int(one): reason for one, reason in zip(missing, reasons, strict=True) if reason}
