"""The ledger of a token: how much of its attention score, or of its polarity, came from which term."""

from dataclasses import dataclass

import numpy as np

from glasshead.arrays import Floats
from glasshead.errors import InputError
from glasshead.papers.results.history import (
    NOT_EXPLAINED,
    Columns,
    History,
    cumulative_column,
    doubt_of,
    integration_error,
    rate_column,
    residual_note,
)
from glasshead.spelling import spell


@dataclass(frozen=True)
class Ledger:
    """The accumulated sum of each term at every step, and the measured change.

    measured(t) = Σ_terms added(t) + rest(t); the rest is left unexplained because of finite steps, single
    batches and the time between snapshots.
    """

    steps: Floats
    added: dict[str, Floats]
    measured: Floats

    @property
    def rest(self) -> Floats:
        """The part that no term explains."""
        return self.measured - np.sum(list(self.added.values()), axis=0)


@dataclass(frozen=True)
class DominantTerm:
    """The term that has moved a score most, what it has added, and a note on what is left unexplained; where
    none can be named, ``undecided`` says why."""

    name: str = ""
    added: float = 0.0
    residual: str = ""
    undecided: str = ""


def terms_of(history: History, quantity: str) -> dict[str, str]:
    """The terms of a quantity, and what each is in words.

    Raises:
        InputError: if the model has none.
    """
    terms = history.facts.get("terms", {}).get(quantity)
    if not terms:
        why = history.facts.get("why_no_form") or "they were not recorded"
        raise InputError(f"there are no terms of the flow: {why}")
    return dict(terms)


def ledger_terms(history: History, quantity: str) -> dict[str, str]:
    """The terms of a ledger, if their sums over time are the change of the quantity.

    Raises:
        InputError: if they are not, or nothing was recorded.
    """
    terms = terms_of(history, quantity)
    if not history.facts["exact"]:
        raise InputError(f"there is no ledger: {why_not_exact(history)}")
    if any(cumulative_column(quantity, name) not in history.tokens for name in terms):
        raise InputError(
            f"there is no ledger: this training was not recorded (train with {spell('DynamicsCallback')})"
        )
    return terms


def why_not_exact(history: History) -> str:
    """Why the terms do not add up to the change, to follow a colon."""
    return str(history.facts["why_not_exact"]).replace(": ", "; ")


def token_ledger(history: History, quantity: str, rows: Columns) -> Ledger:
    """The ledger of one token's rows.

    Raises:
        InputError: if there is none.
    """
    terms = ledger_terms(history, quantity)
    values = rows[quantity].astype(np.float64)
    return Ledger(
        rows["step"].astype(np.float64),
        {name: rows[cumulative_column(quantity, name)].astype(np.float64) for name in terms},
        values - values[0],
    )


def mean_ledger(history: History, quantity: str, group: str) -> Ledger:
    """The ledger of the mean of a group's followed tokens: the mean of their ledgers.

    Raises:
        InputError: as `token_ledger`.
    """
    terms = ledger_terms(history, quantity)
    chosen = history.tokens["group"] == group
    snapshots = len(history.steps)
    rows = {"step": history.steps} | {
        name: history.tokens[name][chosen].reshape(snapshots, -1).mean(axis=1, dtype=np.float64)
        for name in [quantity, *(cumulative_column(quantity, term) for term in terms)]
    }
    return token_ledger(history, quantity, rows)


def dominant_term(history: History, token: str, step: int) -> DominantTerm | None:
    """The term that has moved a token's score most up to a step; None without a ledger or a change.

    The term must have the sign of the change: a term with the other sign did not cause it. If the
    unexplained rest is larger than every such term, it is named instead; if it is more than half as large
    as the term, a note says so. No term is named if it may be the largest only because snapshots are too
    far apart.
    """
    rows = history.token(token)
    rows = {name: column[rows["step"] <= step] for name, column in rows.items()}
    try:
        ledger = token_ledger(history, "score", rows)
    except InputError:
        return None
    change = float(ledger.measured[-1])
    if change == 0:
        return None
    rates = np.array([rows[rate_column("score", name)] for name in ledger.added])
    errors = integration_error(history.facts["learning_rate"], ledger.steps, rates)
    error_of = dict(zip([*ledger.added, NOT_EXPLAINED], errors, strict=True))
    parts = {name: values[-1] for name, values in ledger.added.items() if values[-1] * change > 0}
    parts[NOT_EXPLAINED] = ledger.rest[-1]
    names, sizes = list(parts), np.array(list(parts.values()))
    first = int(np.argmax(np.abs(sizes)))
    undecided = doubt_of(first, sizes, np.array([error_of[name] for name in names]))
    if undecided is not None:
        return DominantTerm(undecided=undecided.words)
    name, value = names[first], float(sizes[first])
    return DominantTerm(name, value, "" if name == NOT_EXPLAINED else residual_note(value, ledger.rest))
