"""What moves a score or a polarity: the named terms of the flow, and the colours of their causes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.report.dynamics.curves import SUN_AND_LU
from glasshead.report.dynamics.picture import Key
from glasshead.results import History, added

AXES = {"score": "attention score a", "polarity": "polarity s"}
"""The two quantities that have terms, and their names beside an axis."""


@dataclass(frozen=True)
class Cause:
    """What is behind a term of the flow; ``terms`` of score and polarity are due to it.

    Lines of terms often lie upon each other: their ``kind`` tells them apart.
    """

    words: str
    terms: tuple[str, ...]
    colour: str
    kind: str = "line"


CAUSES = (
    Cause("own labels", ("D", "B"), "--c5"),
    Cause("own lead", ("E", "A"), "--c2"),
    Cause("similar tokens", ("F", "C"), "--c4", "dashed"),
    Cause("similar tokens' labels, through M", ("M, W",), "--c3", "dotted"),
    Cause("similar tokens' leads, through M", ("M, V", "M"), "--c6", "dashdot"),
    Cause("penalties", ("R",), "--c7"),
)
OTHER = Cause("other", (), "--accent")
EQUATIONS = {"DP-A": "eqs. 63–64", "AD": "eqs. 69–70"}
OF_CLASSES = ", for many classes with the derivatives of eqs. 75–76"
REST_COLOUR = "--muted"


def source_of(history: History) -> str:
    """The paper and the equations of the terms of this model."""
    form, classes = history.facts["form"], len(history.facts["labels"])
    if form == "DP":
        equations = "eq. 47, and eqs. 63–64 without the map M" if classes == 2 else "eqs. 82–83"
    else:
        equations = EQUATIONS[form] + (OF_CLASSES if classes > 2 else "")
    return f"{SUN_AND_LU}, {equations}"


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


def ledger_of(history: History, quantity: str) -> dict[str, str]:
    """The same where their sums over time are the change of the quantity.

    Raises:
        InputError: if they are not, or nothing was watched.
    """
    terms = terms_of(history, quantity)
    if not history.facts["exact"]:
        raise InputError(f"there is no ledger: {why_not_exact(history)}")
    if any(added(quantity, name) not in history.tokens for name in terms):
        raise InputError("there is no ledger: this training was not watched (train with `DynamicsCallback`)")
    return terms


def why_not_exact(history: History) -> str:
    """Why the terms do not add up to what happened, to stand behind a colon."""
    return str(history.facts["why_not_exact"]).replace(": ", "; ")


def cause_of(term: str) -> Cause:
    """What is behind a term."""
    return next((cause for cause in CAUSES if term in cause.terms), OTHER)


def keys_of(terms: Iterable[str], kind: str | None = None) -> list[Key]:
    """One entry for every cause, with the terms that are due to it; ``kind`` unless lines are drawn."""
    by_cause: dict[Cause, list[str]] = {}
    for term in dict.fromkeys(terms):
        by_cause.setdefault(cause_of(term), []).append(f"({term})" if "," in term else term)
    return [
        Key(cause.colour, f"{', '.join(by_cause[cause])}: {cause.words}", kind or cause.kind)
        for cause in (*CAUSES, OTHER)
        if cause in by_cause
    ]


def scaled(values: Iterable[NDArray[np.float64]]) -> tuple[float, str]:
    """A power of ten that makes all of them short numbers, and how to write it behind a name."""
    largest = max((float(np.nanmax(np.abs(each))) for each in values if np.isfinite(each).any()), default=0.0)
    if largest == 0.0 or 1e-2 <= largest < 1e4:
        return 1.0, ""
    power = int(np.floor(np.log10(largest)))
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return 10.0**power, f" · 10{'⁻' if power > 0 else ''}{digits.removeprefix('⁻')}"
