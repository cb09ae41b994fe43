"""What a recorded training leaves in its run: numbers over time, plain values and no torch.

dynamics/facts.json        what was recorded, how, and what every term means
dynamics/curves.parquet    step, quantity, group: mean, std, n over the tokens (or texts) of the group
dynamics/products.parquet  step, of (e: embeddings, h: mapped ones), pair of groups: quartiles of dot products
dynamics/tokens.parquet    step, token: its score, polarity and weight, and what each term has added so far
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.escaping import as_json
from glasshead.files import check_readable
from glasshead.reasons import because
from glasshead.results import TOO_MUCH_LEFT, TOO_SPARSE, Verdict
from glasshead.spelling import spell

HISTORY_FOLDER = "dynamics"
FACTS = "facts.json"
RUN = "run.json"
CURVES = ("step", "quantity", "group", "mean", "std", "n")
PRODUCTS = ("step", "of", "pair", "low", "lower", "median", "upper", "high", "mean", "n")
TABLES = ("curves", "products", "tokens")
QUANTITIES = ("polarity", "score", "weight")
"""What is told of every token; the sign of all three is the gauge of signed weights."""
NOT_EXPLAINED = "not explained"
"""What stands beside the terms: the change that none of them accounts for."""
MIN_TOKENS_PER_GROUP = 10
"""Tokens of a group below which a bootstrap interval is too narrow for a verdict."""
MUCH_UNEXPLAINED = ", but more than half as much is not explained"
"""Behind what is said of a term beside which too much is left over."""
MUCH_UNEXPLAINED_BEFORE = ", but more than half as much was not explained on the way"
RATE, ADDED = "rate ", "added "
PRODUCT_RATE = "Ω "
"""Before the name of a part of dΩ/dτ, a curve of every pair of groups."""
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class History:
    """A recorded training; tables are columns of one length (see the top of this file).

    ``contexts`` holds the results of the trained model for tokens in their texts (local) and alone
    (global): token, group, count, and score and polarity of both. It is computed on request, and not saved.
    """

    facts: dict[str, Any]
    curves: Columns
    products: Columns
    tokens: Columns
    contexts: Columns = field(default_factory=dict)

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps of the snapshots; 0 is before the first training step."""
        return np.unique(self.curves["step"])

    @property
    def groups(self) -> list[str]:
        """The groups of tokens, in the order of the facts."""
        return list(self.facts["groups"])

    def nearest(self, step: int | None) -> int:
        """The step of the snapshot nearest to a step (of two equally near, the earlier one); None: of the
        last one.

        Raises:
            InputError: for a step that the training does not have.
        """
        steps = self.steps
        if step is not None and step > steps[-1]:
            raise InputError(f"the training ended at step {steps[-1]:,}: there is no step {step:,}")
        return int(steps[-1] if step is None else steps[np.argmin(np.abs(steps - step))])

    def curve(self, quantity: str, group: str = "") -> Columns:
        """step, mean, std and n of one quantity of one group; empty columns if it was not recorded."""
        rows = (self.curves["quantity"] == quantity) & (self.curves["group"] == group)
        return {name: self.curves[name][rows] for name in ("step", "mean", "std", "n")}

    def quantities(self) -> list[str]:
        """The recorded quantities, in order of appearance."""
        return list(dict.fromkeys(self.curves["quantity"].tolist()))

    def token(self, token: str) -> Columns:
        """The rows of one token, by step.

        Raises:
            KeyError: if the token was not followed.
        """
        rows = self.tokens["token"] == token if self.tokens else np.zeros(0, dtype=bool)
        if not rows.any():
            raise KeyError(token)
        return {name: column[rows] for name, column in self.tokens.items()}


def cumulative_column(quantity: str, term: str) -> str:
    """The column of the tokens with the sum of a term since the start."""
    return f"{ADDED}{quantity} {term}"


def rate_column(quantity: str, term: str) -> str:
    """The column of the tokens with the rate at which a term moves them."""
    return f"{RATE}{quantity} {term}"


def trapezoid_error(steps: NDArray[Any], rates: NDArray[Any]) -> NDArray[np.float64]:
    """An estimate of the integration error: ∫ r dt by the trapezoidal rule over all snapshots, minus that
    over every second one and the last.

    Rates [..., snapshots] → [...]. For rates that change smoothly, the true error of the integral is a
    third of this. For rates that change faster than snapshots are taken, no better estimate is known. NaN
    for fewer than three snapshots.
    """
    if len(steps) < 3:
        return np.full(np.shape(rates)[:-1], np.nan)
    some = np.unique([*range(0, len(steps), 2), len(steps) - 1])
    rates = np.asarray(rates, dtype=np.float64)
    error: NDArray[np.float64] = np.trapezoid(rates, steps) - np.trapezoid(rates[..., some], steps[some])
    return error


def integration_error(learning_rate: float, steps: NDArray[Any], rates: NDArray[Any]) -> NDArray[np.float64]:
    """The integration error of the parts of a change: for a term, the learning rate times its
    `trapezoid_error`; for the unexplained part (the last one), that of all terms together.

    The input is rates [terms, snapshots], the result is [terms + 1].
    """
    terms = learning_rate * trapezoid_error(steps, rates)
    return np.array([*terms, terms.sum()])


def doubt_of(first: int, parts: NDArray[Any], doubts: NDArray[Any]) -> Verdict | None:
    """Why a part might not be the largest in size: its lead is smaller than the integration error of both
    parts, or than the unexplained part (the last one), which could belong to any other; None: it is the
    largest."""
    sizes, doubts = np.abs(parts), np.abs(doubts)
    lead = np.delete(sizes[first] - sizes - doubts[first] - doubts, first)
    if not np.all(lead > 0):  # nor of doubts that nobody knows
        return TOO_SPARSE
    last = len(parts) - 1
    return TOO_MUCH_LEFT if first != last and np.any(lead[:-1] <= sizes[last]) else None


def residual_note(part: float, rests: NDArray[Any]) -> str:
    """The remark on a part if more than half as much is unexplained, at the end or earlier; ``rests``
    [snapshots]."""
    if 2 * abs(rests[-1]) > abs(part):
        return MUCH_UNEXPLAINED
    return MUCH_UNEXPLAINED_BEFORE if 2 * np.abs(rests).max() > abs(part) else ""


def versus(first: str, second: str) -> str:
    """The joint name of two groups that are compared."""
    return f"{first} vs {second}"


def canonical_history(history: History, sign: int) -> History:
    """Scores, polarities and weights in the gauge of the trained model: all are multiplied by its sign, +1
    or −1.

    The sign of signed weights is an accident of the seed; the product of two of these numbers is not.
    """
    gauged = np.isin(history.curves["quantity"], QUANTITIES)
    curves = history.curves | {"mean": np.where(gauged, sign, 1) * history.curves["mean"]}
    tokens = {
        name: sign * column if name in QUANTITIES else column for name, column in history.tokens.items()
    }
    return replace(history, curves=curves, tokens=tokens)


def write_history(folder: Path, facts: dict[str, Any], tables: Mapping[str, Iterable[Columns]]) -> None:
    """Write to an existing folder, tables in pieces and the facts last, so that only a complete history has
    them."""
    for name in TABLES:
        write_table(folder / f"{name}.parquet", tables[name])
    text = as_json(json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False))
    (folder / FACTS).write_text(text + "\n", encoding="utf-8")


def write_table(path: Path, pieces: Iterable[Columns]) -> None:
    """One piece after the other, of which there is one at least; only one of them has to be in memory."""
    tables = (pa.table({name: pa.array(column) for name, column in piece.items()}) for piece in pieces)
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def read_history(run: Path) -> History:
    """The history in a run folder, in the gauge that the run records.

    Raises:
        InputError: if it has none, or a file of it is damaged.
    """
    folder = run / HISTORY_FOLDER
    check_readable(folder)
    if not (folder / FACTS).is_file():
        raise InputError(f"the training of {run} was not recorded: train with {spell('DynamicsCallback')}")
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        tables = {name: read_columns(folder / f"{name}.parquet") for name in TABLES}
        history = History(facts, **tables)
        own = run / RUN  # of a classifier: a language model has no gauge
        gauge = (json.loads(own.read_text(encoding="utf-8")).get("gauge") if own.exists() else None) or {}
        complete = set(CURVES) <= set(history.curves) and "groups" in facts
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{folder} is damaged{because(error)}: train again") from error
    if not complete:
        raise InputError(f"{folder} is damaged (a column is missing): train again")
    return canonical_history(history, gauge.get("sign", 1))


def read_columns(path: Path) -> Columns:
    """A Parquet file as columns."""
    table = pq.read_table(path)
    return {
        name: np.array(table[name].to_pylist())
        if pa.types.is_string(table.schema.field(name).type)
        else table[name].to_numpy()
        for name in table.column_names
    }
