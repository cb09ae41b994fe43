"""What an audit comes to, at every length: the first sentence, what you can claim, a line for each audit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Holds = Literal["yes", "in part", "no", "undecided"]
Answer = Literal["yes", "in part", "no", "undecided", "not asked"]


@dataclass(frozen=True)
class Quantity:
    """What the numbers of one kind are about.

    ``title`` is the question on the first screen, which the finding of the ``group`` answers (empty: in the
    tables only), ``unit`` that of the number, ``least`` and ``most`` its range (None: open), ``low_is_good``
    its direction, and ``no_null`` why it has no null, where it has none.
    """

    title: str = ""
    unit: str = ""
    group: str = "all"
    least: float | None = None
    most: float | None = None
    low_is_good: bool = False
    no_null: str = ""

    @property
    def range(self) -> tuple[float, float]:
        """From the least to the most that such a number can be."""
        return (
            -math.inf if self.least is None else self.least,
            math.inf if self.most is None else self.most,
        )


@dataclass(frozen=True)
class Claim:
    """A sentence on the attention of a model, whether it ``holds``, why, the ``finding`` on which that rests,
    a ``note``: the threshold, or the numbers of a claim that rests on no finding, and about how many inputs
    would decide what is undecided (``inputs_needed``, as that of a finding)."""

    says: str
    holds: Holds
    because: str
    finding: str
    note: str = ""
    inputs_needed: int | None = None


@dataclass(frozen=True)
class AuditSummary:
    """One audit of a card: its ``title``, what it asks, and what it comes to (``says``; None where its
    findings speak for themselves); what its statistics and what they are compared with are called, in the
    order of tables, and the word between the two (``joint``)."""

    title: str
    asks: str
    says: str | None
    words: Mapping[str, str] = field(default_factory=dict)
    joint: str = "–"


@dataclass(frozen=True)
class Conclusion:
    """The first sentence, the two answers that it puts into words, the claims, and what each audit comes to.

    ``decides`` says whether the weights decide the predictions, ``points`` whether they are large where a
    token matters.
    """

    verdict: str = ""
    decides: Answer = "not asked"
    points: Answer = "not asked"
    claims: tuple[Claim, ...] = ()
    audits: Mapping[str, AuditSummary] = field(default_factory=dict)
