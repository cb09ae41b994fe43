"""May this attention be called an explanation? All that bears on it, in one card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.table import Table
from glasshead.results import EXPLANATION, HEADS

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

COLLECTED = (
    "performance",
    "agreement",
    "perturbation",
    "adversarial",
    "operators",
    "faithfulness",
    "identifiability",
    HEADS,
)


class Explanation(Audit):
    """Asks all audits that bear on whether attention explains predictions, those that have a meaning; the
    report says from their findings what you can claim and what not."""

    question = "what can you claim about this attention, and what not?"
    citation = "Jain and Wallace 2019; Wiegreffe and Pinter 2019"
    by_default = False
    collects = COLLECTED

    def measure(self, view: ModelView) -> Measured:
        """Nothing of its own."""
        return Measured({})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        return AuditResult([], facts={EXPLANATION: list(self.collects)})


AUDITS.register(EXPLANATION)(Explanation())
