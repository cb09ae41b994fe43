"""Columns of an audit card as arrays, and its examples class by class."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from glasshead.report.colours import MAX_CLASSES
from glasshead.report.figure import Panel
from glasshead.report.labels import sort_names
from glasshead.report.marks.distributions import Distribution
from glasshead.report.marks.limits import Floats
from glasshead.report.marks.scatter import MAX_POINTS
from glasshead.report.number_format import finite
from glasshead.results import GIVEN_ANSWER, REGRESSION, AuditCard


def floats(columns: Mapping[str, Any], name: str) -> Floats | None:
    """A numeric column with NaN for what is missing, or None where there is no such column."""
    if name not in columns or not len(columns[name]):
        return None
    values = (finite(value) for value in columns[name])
    return np.array([np.nan if value is None else value for value in values])


def strings(columns: Mapping[str, Any], name: str, size: int) -> list[str]:
    """A column of strings; blanks where there is no such column."""
    return [str(value) for value in columns[name]] if name in columns else [""] * size


def classes(card: AuditCard) -> list[str]:
    """The labels of the examples in class order; none where they are ratings, or answers."""
    if card.facts.get("task") in (REGRESSION, GIVEN_ANSWER):
        return []
    labels = strings(card.examples, "label", 0)
    return sort_names(labels, [str(label) for label in card.facts.get("labels") or []])


def by_class(card: AuditCard, column: str, other: str | None) -> list[Distribution]:
    """One row per class, or a single one where classes are too many or unknown."""
    values = floats(card.examples, column)
    if values is None:
        return []
    second = floats(card.examples, other) if other else None
    labels = np.array(strings(card.examples, "label", values.size))
    present = classes(card)
    if not 2 <= len(present) <= MAX_CLASSES:
        return [Distribution("all", values, second)]
    return [
        Distribution(label, values[labels == label], None if second is None else second[labels == label])
        for label in present
    ]


def where_classes(cards: Sequence[AuditCard], words: str) -> str:
    """Words on classes, where there are some."""
    return words if any(map(classes, cards)) else ""


def points_per_card(cards: Sequence[AuditCard]) -> int:
    """How many points a panel holds at most."""
    return MAX_POINTS if len(cards) <= 2 else max(200, 2 * MAX_POINTS // len(cards))


def missing_panel(name: str) -> Panel:
    """The panel of a card that lacks the numbers."""
    return Panel(name, ("", ""), None, "")
