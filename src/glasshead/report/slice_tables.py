"""The key findings slice by slice, and all that differ: what pages and terminals show of slices."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.nouns import Nouns, nouns_of
from glasshead.report.key_findings import answers, axis_limits
from glasshead.report.labels import finding_label
from glasshead.report.number_format import number
from glasshead.results import CONSTRUCTED, MIN_UNITS, PRODUCTS, AuditCard, Finding, SliceTest
from glasshead.wording import percent, sentence

NOT_TESTED = "Not tested."


@dataclass(frozen=True)
class SliceRow:
    """One question, its finding in every slice, and whether it differs; ``limits`` are those of an axis."""

    title: str
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
    """One cut of the texts, and its ``tests``: of which findings it was asked whether they differ. ``rows``
    are the key findings, and all others that were shown to differ. ``products`` says of which halves products
    are; empty: of none."""

    by: str
    level: float
    rows: Sequence[SliceRow]
    tests: Sequence[SliceTest]
    nouns: Nouns
    products: str = ""

    @property
    def tested(self) -> int:
        """Of how many findings it could be asked whether they differ."""
        return sum(test.corrected is not None for test in self.tests)

    @property
    def differing(self) -> int:
        """Of how many that was shown."""
        return sum(test.differs for test in self.tests)

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
        if not self.tests and self.products:
            return f"Slices are not tested against each other if products are in {self.products}."
        if not self.tests:
            return f"No finding could be tested: none of them is a mean over single {self.nouns.texts}."
        if not self.tested:
            return (
                f"No finding could be tested: fewer than two slices have {MIN_UNITS} {self.nouns.texts} "
                f"with a number. Read more {self.nouns.texts}."
            )
        return f"{self.differing:,} of {self.tested:,} findings differ between the slices."


def slice_tables(card: AuditCard) -> list[SliceTable]:
    """The cuts of an audit; none where no slices were asked for."""
    sliced: dict[str, dict[str, list[Finding]]] = {}
    for finding in card.findings:
        if finding.by:
            sliced.setdefault(finding.by, {}).setdefault(whole_name(finding), []).append(finding)
    asked = {answer.name: answer.title for answer in answers([card], [""])}
    tables = []
    for by, findings in sliced.items():
        tests = {test.finding: test for test in card.slice_tests if test.by == by}
        others = {
            name: differing_title(card, test)
            for name, test in tests.items()
            if test.differs and name not in asked and name in findings
        }
        rows = [
            SliceRow(
                title,
                findings[name],
                tests.get(name),
                axis_limits(findings[name], [card.quantity(name)]),
            )
            for name, title in {**asked, **others}.items()
            if name in findings and any(finding.reason not in CONSTRUCTED for finding in findings[name])
        ]
        level = max((one.level for group in findings.values() for one in group), default=0.95)
        products = card.facts.get(PRODUCTS, "")
        tables.append(SliceTable(by, level, rows, list(tests.values()), nouns_of(card.facts), products))
    return tables


def differing_title(card: AuditCard, test: SliceTest) -> str:
    """A finding that differs, and that the front page does not ask about, under its name."""
    finding = card.finding(test.finding)
    name = test.finding if finding is None else finding_label(finding, card)
    summary = card.conclusion.audits.get(test.audit)
    return f"{test.audit if summary is None else summary.title}: {name}."


def whole_name(finding: Finding) -> str:
    """The name of the same finding on all texts."""
    parts = (finding.audit, finding.statistic, finding.against)
    # Groups of words have the slice behind them.
    group = finding.group.partition(", ")[0] if finding.audit == "tokens" else "all"
    return ".".join(part for part in (*parts, group) if part)
