"""The key findings slice by slice: what pages and terminals show of slices."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.report.key_findings import answers
from glasshead.report.labels import STATISTICS, Question, sentence
from glasshead.report.number_format import number
from glasshead.report.value_limits import value_limits
from glasshead.results import AuditCard, Finding, SliceTest

PERFORMANCE = ("performance.accuracy.all", "performance.rmse.all")
NOT_TESTED = "Not tested."


@dataclass(frozen=True)
class SliceRow:
    """One question, its finding in every slice, and whether it differs; ``limits`` are those of an axis."""

    question: Question
    findings: Sequence[Finding]
    test: SliceTest | None
    limits: tuple[float, float]

    @property
    def answer(self) -> str:
        """Whether it differs between the slices, in words."""
        if self.test is None:
            return NOT_TESTED
        p = "" if self.test.corrected is None else f" (p = {number(self.test.corrected)}, corrected)"
        return sentence(f"{self.test.verdict}{p}")

    def name(self, finding: Finding) -> str:
        """The slice of a finding."""
        return finding.group.partition(", ")[2] if finding.audit == "tokens" else finding.group

    @property
    def differs(self) -> bool:
        """Whether a difference was shown."""
        return self.test is not None and self.test.differs


@dataclass(frozen=True)
class SliceTable:
    """One cut of the texts; ``tested`` is the number of findings of which it was asked whether they differ,
    and ``differing`` of how many that was shown."""

    by: str
    level: float
    rows: Sequence[SliceRow]
    tested: int
    differing: int

    @property
    def differing_rows(self) -> list[SliceRow]:
        """What was shown to differ."""
        return [row for row in self.rows if row.differs]

    @property
    def other_rows(self) -> list[SliceRow]:
        """What was not."""
        return [row for row in self.rows if not row.differs]

    @property
    def percent(self) -> str:
        """The level of the intervals: ``98.75 %``."""
        return percent(self.level)

    @property
    def summary(self) -> str:
        """How many findings differ."""
        if not self.tested:
            return "No finding could be tested: slices are too small, or the numbers are not of single texts."
        return f"{self.differing:,} of {self.tested:,} findings differ between the slices."


def slice_tables(card: AuditCard) -> list[SliceTable]:
    """The cuts of an audit; none where no slices were asked for."""
    sliced: dict[str, dict[str, list[Finding]]] = {}
    for finding in card.findings:
        if finding.by:
            sliced.setdefault(finding.by, {}).setdefault(whole_name(finding), []).append(finding)
    questions = [answer.question for answer in answers([card], [""])]
    asked = [
        Question(name, f"How good is the model: {STATISTICS[name.split('.')[1]]}?", name.split(".")[1])
        for name in PERFORMANCE
        if card.finding(name) is not None
    ] + questions
    tests = {(test.by, test.finding): test for test in card.slice_tests}
    tables = []
    for by, findings in sliced.items():
        rows = [
            SliceRow(
                question,
                findings[question.finding],
                tests.get((by, question.finding)),
                value_limits(findings[question.finding]),
            )
            for question in asked
            if question.finding in findings
            and any(finding.reason != "by construction" for finding in findings[question.finding])
        ]
        of_cut = [test for test in card.slice_tests if test.by == by and test.corrected is not None]
        differing = sum(test.differs for test in of_cut)
        level = max((one.level for group in findings.values() for one in group), default=0.95)
        tables.append(SliceTable(by, level, rows, len(of_cut), differing))
    return tables


def whole_name(finding: Finding) -> str:
    """The name of the same finding on all texts."""
    parts = (finding.audit, finding.statistic, finding.against)
    # Groups of words have the slice behind them.
    group = finding.group.partition(", ")[0] if finding.audit == "tokens" else "all"
    return ".".join(part for part in (*parts, group) if part)


def percent(level: float) -> str:
    """A level: ``98.75 %``."""
    return f"{100 * level:.4g}\u00a0%"
