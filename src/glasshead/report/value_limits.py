"""The axis on which findings of one kind stand."""

from collections.abc import Sequence

from glasshead.report.number_format import finite, round_up
from glasshead.results import Finding

SHARES = (
    "separation", "sign", "accuracy", "identifiable", "may-be-zero", "another-first", "given-keys",
)  # fmt: skip


def value_limits(findings: Sequence[Finding]) -> tuple[float, float]:
    """The range of one block's plots: fixed where the statistic has one, else round and with zero in it."""
    if all(f.audit == "agreement" for f in findings):
        return -1.0, 1.0
    if all(f.statistic in SHARES for f in findings):
        return 0.0, 1.0
    values = [0.0]
    for finding in findings:
        for value in (finding.estimate, *(finding.interval or ()), *finding.null.values()):
            if (amount := finite(value)) is not None:
                values.append(amount)
    return -round_up(-min(values)), round_up(max(values))
