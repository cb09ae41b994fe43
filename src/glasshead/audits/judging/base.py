"""The shape of every audit: a question about a model, measured input by input, then judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.judging.question import QuestionSet
from glasshead.audits.judging.slices import groups_of
from glasshead.audits.judging.table import Column, Table, column_of, place_rows
from glasshead.registry import Registry
from glasshead.results import Finding

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

NO_WEIGHTS = "the method {!r} gives no attention weights to audit"


class Measured(NamedTuple):
    """One row for each input of a view, and what is true of all of them."""

    columns: Table
    facts: Mapping[str, Any] = {}


@dataclass(frozen=True)
class AuditResult:
    """Findings, the columns per example and per token type that they were computed from, and facts."""

    findings: list[Finding]
    examples: Mapping[str, Any] = field(default_factory=dict)
    tokens: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Measure(ABC):
    """What is measured of every input, one row for each.

    A row depends on its input, the seed and the model, never on the inputs next to it (`ModelView.rng`).
    """

    columns: ClassVar[tuple[Column, ...]] = ()
    """What `measure` gives of each input."""

    def most(self, settings: Settings) -> int | None:
        """The most inputs that are asked, the first in random order; None for all."""
        return None

    @abstractmethod
    def measure(self, view: ModelView) -> Measured:
        """What the model does before each input."""


class Audit(QuestionSet, Measure):
    """One question: `measure` runs the model and gives one row for each input; `judge` needs only the
    rows."""

    question: ClassVar[str]
    citation: ClassVar[str]
    by_default: ClassVar[bool] = True
    """Whether it runs if no audits are named; one that takes much longer than the others does not."""
    of_tokens: ClassVar[bool] = False
    """Whether it compares the tokens of a text, so that an attention sink sways it."""
    collects: ClassVar[tuple[str, ...]] = ()
    """Other audits that are asked with it, as far as they have a meaning."""

    def unsupported_reason(self, view: ModelView) -> str | None:
        """Why the question has no meaning for this subject; None if it has."""
        return None

    def is_expected(self, view: ModelView) -> bool:
        """Whether a reader expects it; an audit that needs rare data, such as human marks or images in
        texts, is skipped silently without them."""
        return True

    @abstractmethod
    def judge(self, table: Table, settings: Settings) -> AuditResult:
        """Findings from the rows of all inputs.

        ``table`` also has what every row has (`ModelView.inputs`), and ``asked`` says which inputs the
        audit covers; the rows of the others are empty.
        """

    def __call__(self, view: ModelView, *, seed: int = 0) -> AuditResult:
        """Measure and judge the inputs of one view."""
        view = view.with_seed(seed)
        asked = view.asked(self.most(view.settings))
        columns, facts = self.measure(view if asked.all() else view.some(np.flatnonzero(asked)))
        inputs = {**view.inputs, **view.certainty}
        groups = groups_of(inputs, view.label_names, view.by, view.part, view.settings.level)
        settings = replace(view.settings, groups=groups)
        return self.judge_rows(place_rows(columns, asked, self.columns), inputs, settings, facts)

    def judge_rows(
        self, columns: Table, inputs: Table, settings: Settings, facts: Mapping[str, Any]
    ) -> AuditResult:
        """Judge rows, given the numbers of every example and what was measured once."""
        judged = self.judge({**inputs, **columns}, settings.with_facts(facts))
        return replace(
            judged,
            examples={**example_columns(columns, self.columns), **judged.examples},
            facts={**facts, **judged.facts},
        )


def example_columns(columns: Table, declared: Sequence[Column]) -> dict[str, Any]:
    """The numbers of every example, without what judges alone read."""
    shown = {}
    for name, values in columns.items():
        column = column_of(name, declared)
        if column is not None and column.shown and column.dtype in ("float", "floats"):
            shown[name] = values if column.dtype == "float" else as_curves(values)
    return shown


def as_curves(values: NDArray[Any]) -> NDArray[np.float64]:
    """Lists of one length as an array [N, n]; NaN of inputs that have none."""
    width = max((len(own) for own in values), default=0)
    return np.array([own if len(own) else np.full(width, np.nan) for own in values]).reshape(
        len(values), width
    )


AUDITS: Registry[Audit] = Registry("audit", "audits")
