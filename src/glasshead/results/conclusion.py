"""What an audit comes to, at every length: the first sentence, what you can claim, a line for each audit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Holds = Literal["yes", "in part", "no", "undecided"]
Answer = Literal["yes", "in part", "no", "undecided", "not tested"]


@dataclass(frozen=True)
class Quantity:
    """The meaning of numbers of one kind.

    ``title`` is the question on the first screen, which the finding of the ``group`` answers (empty: in the
    tables only), ``unit`` that of the number, ``least`` and ``most`` its range (None: open),
    ``low_is_good`` its direction, and ``no_null`` the reason if it has no null.
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
        """The smallest and largest possible value of such a number."""
        return (
            -math.inf if self.least is None else self.least,
            math.inf if self.most is None else self.most,
        )


@dataclass(frozen=True)
class Claim:
    """A sentence on the attention of a model, whether it ``holds``, why, and the ``finding`` behind that.
    The ``note`` is the threshold, or the numbers of a claim that depends on no finding; ``inputs_needed``
    is about how many inputs would decide it, as in a finding."""

    says: str
    holds: Holds
    because: str
    finding: str
    note: str = ""
    inputs_needed: int | None = None


@dataclass(frozen=True)
class AuditSummary:
    """One audit of a card: its ``title``, its question, and its summary (``says``; None if it needs none);
    the names of its statistics and comparisons, in the order of tables, and the word between the two
    (``joint``)."""

    title: str
    asks: str
    says: str | None
    words: Mapping[str, str] = field(default_factory=dict)
    joint: str = "–"


@dataclass(frozen=True)
class Conclusion:
    """The first sentence, the two answers that it puts into words, the claims, and a summary of each audit.

    ``decides`` says whether the weights decide the predictions, ``points`` whether important tokens have
    large weights.
    """

    verdict: str = ""
    decides: Answer = "not tested"
    points: Answer = "not tested"
    claims: tuple[Claim, ...] = ()
    audits: Mapping[str, AuditSummary] = field(default_factory=dict)
