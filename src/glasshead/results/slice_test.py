"""Whether a finding differs between the slices of the texts."""

from dataclasses import dataclass

from glasshead.results.verdict import Status


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
    def finding(self) -> str:
        """The name of the finding on all texts."""
        return ".".join(part for part in (self.audit, self.statistic, self.against, "all") if part)
