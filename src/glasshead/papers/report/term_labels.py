"""What moves a score or a polarity in words: the causes of the terms, and the letters of a history."""

from collections.abc import Iterable
from dataclasses import dataclass

from glasshead.papers.results import History
from glasshead.report import LegendEntry

SUN_AND_LU = "Sun and Lu 2020"
AXES = {"score": "attention score a", "polarity": "polarity s"}
"""The two quantities that have terms, and their names beside an axis."""
SYMBOLS = {"score": "a", "polarity": "s"}


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
OTHER_CAUSE = Cause("other", (), "--accent")
EQUATIONS = {"DP-A": "eqs. 63–64", "AD": "eqs. 69–70"}
MANY_CLASSES = ", for many classes with the derivatives of eqs. 75–76"
REST_COLOUR = "--muted"


def cite_terms(history: History) -> str:
    """The paper and the equations of the terms of this model."""
    form, classes = history.facts["form"], len(history.facts["labels"])
    if form == "DP":
        equations = "eq. 47, and eqs. 63–64 without the map M" if classes == 2 else "eqs. 82–83"
    else:
        equations = EQUATIONS[form] + (MANY_CLASSES if classes > 2 else "")
    return f"{SUN_AND_LU}, {equations}"


def cause_of(term: str) -> Cause:
    """What is behind a term."""
    return next((cause for cause in CAUSES if term in cause.terms), OTHER_CAUSE)


def cause_legend(terms: Iterable[str], kind: str | None = None) -> list[LegendEntry]:
    """One entry for every cause, with the terms that are due to it; ``kind`` unless lines are drawn."""
    by_cause: dict[Cause, list[str]] = {}
    for term in dict.fromkeys(terms):
        by_cause.setdefault(cause_of(term), []).append(f"({term})" if "," in term else term)
    return [
        LegendEntry(cause.colour, f"{', '.join(by_cause[cause])}: {cause.words}", kind or cause.kind)
        for cause in (*CAUSES, OTHER_CAUSE)
        if cause in by_cause
    ]


def groups_of(history: History, quantity: str) -> list[str]:
    """The groups of which a quantity was recorded, in order of appearance."""
    rows = history.curves["quantity"] == quantity
    return list(dict.fromkeys(history.curves["group"][rows].tolist()))


def single_row_note(history: History) -> str:
    """Why some layers have no residual, in a sentence; nothing where all have one."""
    groups = groups_of(history, "residual")
    without = [layer for layer in groups_of(history, "entropy") if layer not in groups]
    if not without:
        return ""
    which = f"{' and '.join(without)} {'has' if len(without) == 1 else 'have'}"
    why = "it compares rows, but only one is computed there"
    return f"{which[0].upper()}{which[1:]} no distance from rank one: {why}."


def space_prime(name: str) -> str:
    """The name of a product with a thin space between a prime and the T of a transpose."""
    return name.replace("′ᵀ", "′\u2009ᵀ")


def prime_note(history: History) -> str:
    """What the letters with a prime are, in a sentence; nothing where there are none."""
    names = history.quantities()
    if "V′ᵀW′" in names:
        return "V′ = MᵀV and W′ = MᵀW are V and W before the map M."
    if "V′ᵀW" in names:
        return (
            "V′ = MᵀV is V before the map M of additive attention; while tanh is nearly linear, V′/λ is "
            "the U_e = MᵀDiag(1 − tanh² Me)V/λ of every token, and V′ᵀW/λ the U_eᵀW of the terms."
        )
    return ""
