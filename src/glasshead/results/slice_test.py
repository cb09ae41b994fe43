"""Whether a finding differs between the slices of the texts."""

from dataclasses import dataclass

from glasshead.results.verdict import Status

DIFFERENCE_LEVEL = 0.05
"""Slices differ where the corrected p is at most this."""


@dataclass(frozen=True)
class SliceTest:
    """One finding, and whether its mean differs between slices ``by`` class, length, correctness or a column.

    ``p`` is that of a permutation test over the ``n`` texts of the ``slices`` that have enough of them, and
    ``corrected`` the same after Holm's correction for all tests of the audit; None where there are fewer than
    two such slices.
    """

    audit: str
    statistic: str
    against: str
    by: str
    n: int
    slices: int
    p: float | None
    corrected: float | None
    status: Status
    verdict: str

    @property
    def differs(self) -> bool:
        """Whether a difference was shown."""
        return self.corrected is not None and self.corrected <= DIFFERENCE_LEVEL

    @property
    def finding(self) -> str:
        """The name of the finding on all texts."""
        return ".".join(part for part in (self.audit, self.statistic, self.against, "all") if part)
