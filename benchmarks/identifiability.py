"""Intervals of attention weights against linear programs, cold and warm; ranks against a forward pass.

    python -m benchmarks.identifiability        (minutes)

intervals: of all weights of a row. ÷: how many times faster, median and range of the rounds in which both
ran. cold: SciPy's linprog with HiGHS, two programs for each weight, each from the beginning; some weights of
one row are solved, and the time of the others is extrapolated. warm: HiGHS with one model for the row,
without presolve, of which only the objective changes, by the faster of its simplexes. error: the largest
difference to linprog. ranks: of T and of [T, 1], for all heads and layers of a random BERT-base and a batch
of texts.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import softmax
from transformers import BertConfig, BertModel

from benchmarks.measuring import (
    Spread,
    Work,
    argument_parser,
    format_number,
    ratios,
    report,
    time_interleaved,
    time_once,
)
from glasshead.huggingface import plug
from glasshead.identifiability import FLOAT32_EPS, highs_maxima, intervals, layer_ranks
from glasshead.trace import TokenLayout, Trace, record

CASES = ((128, 64), (128, 32), (512, 32))
SIZES = (32, 64)
COLD = "linprog, cold"
WARM: dict[str, Mapping[str, int | str]] = {
    "HiGHS, warm dual": {"presolve": "off", "solver": "simplex", "simplex_strategy": 1},
    "HiGHS, warm primal": {"presolve": "off", "solver": "simplex", "simplex_strategy": 4},
}
"""One model for each row, of which only the objective changes. Its last vertex stays feasible, so the primal
simplex goes on from there; the dual simplex, HiGHS's own choice, has to become dual feasible again."""
JUDGED = 4
"""Weights of a row whose two programs are solved cold; the time of the others is extrapolated."""
WORDS = 30_522
HEAD_SIZE, BATCH = 64, 8

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IdentifiabilitySettings:
    """Tokens and d_v of the rows; a random BERT-base and the tokens of its texts."""

    cases: tuple[tuple[int, int], ...] = CASES
    rows: int = 16
    """Of which every weight is asked."""
    budget: float = 60.0
    """Seconds for each case; at least one round of it is taken."""
    heads: int = 12
    """Of a layer; the model has as many layers."""
    texts: int = 64
    tokens: int = 256


@dataclass(frozen=True)
class IdentifiabilityResult:
    """One way to do some work; ``faster`` is the time of the first way over its own, of the same rounds, and
    ``over_warm`` that of HiGHS kept warm, by the faster of its two simplexes."""

    work: str
    """"intervals": of all weights of a row; "ranks": of all heads and texts of a batch."""
    way: str
    tokens: int
    size: int
    """d_v."""
    seconds: Spread
    """Of a row, or of a batch."""
    per_weight: float | None
    """Seconds."""
    faster: Spread
    over_warm: Spread | None
    error: float | None
    """The largest difference to the cold programs."""


def measure_identifiability(settings: IdentifiabilitySettings) -> Iterator[IdentifiabilityResult]:
    """Results as they come; the ways of one case alternate."""
    for tokens, size in settings.cases:
        yield from compare_intervals(tokens, size, settings)
    yield from compare_ranks(settings)


def compare_intervals(
    tokens: int, size: int, settings: IdentifiabilitySettings
) -> Iterator[IdentifiabilityResult]:
    """All weights of a row by cold programs (extrapolated), by warm ones, by one process and by all cores."""
    rows = [random_row(tokens, size, number) for number in range(settings.rows)]
    judged = min(JUDGED, tokens)
    keys = np.linspace(0, tokens - 1, judged).astype(int)
    works: dict[str, Work] = {
        COLD: partial(solve_cold, *rows[0], keys),
        **{way: partial(solve_warm, *rows[0], options) for way, options in WARM.items()},
        "one process": partial(solve_rows, rows),
    }
    cores = os.cpu_count() or 1
    if cores > 1:
        solve_parallel(
            [random_row(4, 2, 0)] * cores, cores
        )  # the time until the processes are there is nobody's
        works[f"{cores} processes"] = partial(solve_parallel, rows, cores)
    share = {COLD: judged / tokens} | dict.fromkeys(WARM, 1.0)  # of a row
    seconds = {
        way: [time / share.get(way, len(rows)) for time in times]
        for way, times in time_interleaved(works, settings.budget).items()
    }
    warmest = min(WARM, key=lambda way: Spread.of(seconds[way]).median)
    ours, expected = intervals(*rows[0], eps=FLOAT32_EPS), solve_cold(*rows[0], keys)
    ends = {way: solve_warm(*rows[0], options) for way, options in WARM.items()}
    for way, times in seconds.items():
        yield IdentifiabilityResult(
            work="intervals",
            way=way,
            tokens=tokens,
            size=size,
            seconds=Spread.of(times),
            per_weight=Spread.of(times).median / tokens,
            faster=ratios(seconds[COLD], times),
            over_warm=ratios(seconds[warmest], times),
            error=None
            if way == COLD
            else float(np.abs(ends.get(way, np.stack([ours.low, ours.high]))[:, keys] - expected).max()),
        )


def random_row(tokens: int, size: int, seed: int) -> tuple[Floats, Floats]:
    """T of independent normal numbers, and weights of which some are large."""
    rng = np.random.default_rng([tokens, size, seed])
    return rng.normal(size=(tokens, size)), softmax(2 * rng.normal(size=tokens))


def constraints(T: Floats) -> Floats:
    """A [d + 1, n] of the weights that keep the output and sum to one: A a′ = A a."""
    return np.concatenate([T, np.ones((len(T), 1))], axis=1).T


def solve_cold(T: Floats, a: Floats, keys: NDArray[np.int64]) -> Floats:
    """Both ends [2, weights] by SciPy, every program from the beginning."""
    A = constraints(T)
    ends = np.empty((2, len(keys)))
    for one, key in enumerate(keys):
        for end, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(len(a))
            cost[key] = sign
            ends[end, one] = sign * linprog(cost, A_eq=A, b_eq=A @ a, method="highs").fun
    return ends


def solve_warm(T: Floats, a: Floats, options: Mapping[str, int | str]) -> Floats:
    """Both ends [2, n] of every weight by HiGHS, every program from the solution of the one before."""
    A, every = constraints(T), np.eye(len(a))
    values, _ = highs_maxima(A, A @ a, np.concatenate([-every, every]), options)
    return values.reshape(2, -1) * [[-1.0], [1.0]]


def solve_rows(rows: list[tuple[Floats, Floats]]) -> None:
    """All intervals of the rows."""
    for T, a in rows:
        intervals(T, a, eps=FLOAT32_EPS)


def solve_parallel(rows: list[tuple[Floats, Floats]], processes: int) -> None:
    """The same, shared by so many processes, which stay for the next call."""
    Parallel(n_jobs=processes)(delayed(intervals)(T, a, eps=FLOAT32_EPS) for T, a in rows)


def compare_ranks(settings: IdentifiabilitySettings) -> Iterator[IdentifiabilityResult]:
    """Both ranks of every head before every text, against the forward passes; a batch is a round."""
    torch.manual_seed(0)
    width = settings.heads * HEAD_SIZE
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=width,
        num_hidden_layers=settings.heads,
        num_attention_heads=settings.heads,
        intermediate_size=4 * width,
    )
    model = plug(BertModel(config, add_pooling_layer=False).eval(), "softmax")
    seconds: dict[str, list[float]] = {"forward pass": [], "ranks": []}
    for start in range(0, settings.texts, BATCH):
        ids = torch.randint(1000, WORDS, (min(BATCH, settings.texts - start), settings.tokens))
        passes: list[Trace] = []
        seconds["forward pass"].append(time_once(partial(forward_with_trace, model, ids, passes)))
        seconds["ranks"].append(time_once(partial(compute_ranks, passes[0], ids)))
    for way, times in seconds.items():
        yield IdentifiabilityResult(
            work="ranks",
            way=way,
            tokens=settings.tokens,
            size=HEAD_SIZE,
            seconds=Spread.of(times),
            per_weight=None,
            faster=ratios(seconds["forward pass"], times),
            over_warm=None,
            error=None,
        )


def forward_with_trace(model: BertModel, ids: torch.Tensor, passes: list[Trace]) -> None:
    """A recorded forward pass."""
    with torch.no_grad(), record(model, rows=[0]) as trace:
        model(input_ids=ids, attention_mask=torch.ones_like(ids))
    passes.append(trace)


def compute_ranks(trace: Trace, ids: torch.Tensor) -> None:
    """The ranks of all layers of it."""
    layout = TokenLayout(torch.ones_like(ids, dtype=torch.bool))
    for layer in trace.only:
        layer_ranks(layer, layout, range(len(ids)))


def main(words: list[str] | None = None) -> None:
    """Measure what the options say, and print it."""
    asked = argument_parser(__doc__).parse_args(words)
    cases = tuple((length, size) for length in asked.lengths or () for size in SIZES)
    settings = IdentifiabilitySettings(cases or CASES)
    report(
        measure_identifiability(settings),
        lambda result: f"{result.work}, {result.tokens:,} tokens, values of {result.size}",
        {
            "way": lambda result: result.way,
            "ms": lambda result: format_number(result.seconds.median * 1e3),
            "ms per weight": lambda result: result.per_weight and format_number(result.per_weight * 1e3),
            "first ÷ this": lambda result: result.faster,
            "warm ÷ this": lambda result: result.over_warm,
            "error": lambda result: None if result.error is None else f"{result.error:.0e}",
        },
        settings,
        asked.out,
    )


if __name__ == "__main__":
    main()
