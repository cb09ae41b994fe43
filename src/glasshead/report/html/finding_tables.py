"""Findings of one or several cards as tables: one section per audit, one column group per card."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from glasshead.escaping import visible
from glasshead.nouns import Nouns, nouns_of
from glasshead.report.conclusion import about_the_method, audit_outcome, capitalise
from glasshead.report.difference_rows import DifferenceRow, difference_limits, pairs, rows_by_pair
from glasshead.report.findings_in_words import bounds, estimate, with_sign
from glasshead.report.labels import (
    AGAINST,
    AUDITS,
    STATISTICS,
    TOKEN_STATISTICS,
    UNSPOKEN,
    display_name,
    finding_label,
    join_names,
    sentence,
    sort_groups,
    sort_names,
)
from glasshead.report.number_format import count, finite, interval, number, share
from glasshead.report.run_facts import any_signed
from glasshead.report.slice_tables import percent
from glasshead.report.value_limits import value_limits
from glasshead.results import WITHOUT_FIRST, AuditCard, Difference, Finding

NO_CITATION = ("", "–", "-")
GROUP_KINDS = {"class": "true class", "max weight": "maximum attention", "layer": "layer", "length": "length"}
"""How the names of groups of one kind begin, and what the kind is called; of others, the first word."""
RIGHT_OR_WRONG = ("correct", "wrong")


@dataclass(frozen=True)
class Null:
    """One null of a finding, and the paired difference from it over ``n`` units; empty if there is none."""

    value: str
    difference: str
    n: str


@dataclass(frozen=True)
class Cell:
    """One finding of one card, ready to print."""

    finding: Finding
    estimate: str
    std: str
    interval: str
    null: list[Null]
    n: str
    undefined: list[tuple[str, str, str]]
    significant: str


@dataclass(frozen=True)
class Row:
    """The same question put to every card; None where a card has no answer. ``no_evidence`` is the reason why
    the number says nothing of any model; empty where it does."""

    label: str
    cells: list[Cell | None]
    source: int
    no_evidence: str
    differences: list[DifferenceRow | None]


@dataclass(frozen=True)
class Block:
    """Rows that share one axis, and another one of their differences."""

    heading: str
    limits: tuple[float, float]
    difference_limits: tuple[float, float] | None
    rows: list[Row]


@dataclass(frozen=True)
class FindingTable:
    """Blocks under one heading; ``levels`` are those of the intervals of each card, and
    ``difference_levels`` of each pair of cards."""

    title: str
    blocks: list[Block]
    levels: list[str]
    difference_levels: list[str]


@dataclass(frozen=True)
class Section:
    """All findings of one audit; ``answers`` are what it comes to, one for each card; ``folds`` stay closed
    until asked for."""

    audit: str
    title: str
    answers: list[str]
    question: str
    table: FindingTable
    folds: list[FindingTable]
    citations: list[str]
    reasons: list[tuple[str, str]]
    nulls: list[str]
    significance: bool
    verdicts: list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True)
class Footnotes:
    """What the rows of one section refer to: sources by number, reasons by letter, nulls by column.

    ``signed`` says whether there is a gauge to be named, ``nouns`` what inputs are called.
    """

    citations: list[str]
    reasons: list[str]
    nulls: list[str]
    signed: bool
    nouns: Nouns

    def letter(self, reason: str) -> str:
        rank = self.reasons.index(reason)
        return chr(ord("a") + rank) if rank < 26 else str(rank)


def sections(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference] = ()
) -> list[Section]:
    """One section per audit, in the order of `wording`."""
    audits = sort_names((finding.audit for card in cards for finding in card.findings), AUDITS)
    return [_section(audit, cards, names, differences) for audit in audits]


def _section(
    audit: str, cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference]
) -> Section:
    by_name = [{f.name: f for f in card.findings if f.audit == audit} for card in cards]
    unique: dict[str, Finding] = {}
    for findings in by_name:
        for name, finding in findings.items():
            unique.setdefault(name, finding)
    everything = [finding for findings in by_name for finding in findings.values()]
    footnotes = Footnotes(
        list(dict.fromkeys(f.citation for f in everything if f.citation not in NO_CITATION)),
        list(dict.fromkeys(reason for f in everything for reason, times in f.undefined.items() if times)),
        sort_names(
            (n for f in everything for n, v in f.null.items() if finite(v) is not None), ("random", "uniform")
        ),
        any_signed(*cards),
        nouns_of(*(card.facts for card in cards)),
    )
    folded: dict[str, list[Finding]] = {}
    for finding in unique.values():
        folded.setdefault(_collapsed_title(finding), []).append(finding)
    if "" not in folded and folded:
        folded = {"": [finding for group in folded.values() for finding in group]}
    title, question = map(footnotes.nouns.fill, AUDITS[audit]) if audit in AUDITS else (audit, "")
    return Section(
        audit,
        title,
        [audit_answer(card, audit) for card in cards],
        question,
        _table("", folded.pop("", []), by_name, footnotes, differences),
        [_table(name, findings, by_name, footnotes, differences) for name, findings in folded.items()],
        footnotes.citations,
        [(footnotes.letter(reason), reason) for reason in footnotes.reasons],
        footnotes.nulls,
        any(f.significant_fraction is not None for f in everything),
        [
            (
                name,
                [
                    (finding_label(f, any_signed(card), nouns_of(card.facts)), sentence(f.verdict))
                    for f in _worded(card, audit)
                ],
            )
            for name, card in zip(names, cards, strict=True)
        ],
    )


def audit_answer(card: AuditCard, audit: str) -> str:
    """What an audit comes to, for its heading: in the words of the conclusion, or its first verdict."""
    outcome = audit_outcome(card, audit)
    if outcome is not None:
        words = about_the_method(card, outcome.words)
        left = f"undecided: {join_names(outcome.undecided)}" if outcome.undecided else ""
        return sentence(capitalise("; ".join(filter(None, (words, left)))))
    for finding in card.findings:
        if finding.audit == audit and finding.estimate is not None and finding.status != "not evidence":
            name = finding_label(finding, any_signed(card), nouns_of(card.facts))
            numbers = f"{name} {estimate(finding)} {bounds(finding)}"
            return sentence(capitalise(": ".join(filter(None, (numbers, finding.verdict)))))
    return ""


def no_evidence(finding: Finding) -> str:
    """Why a number says nothing of the model; empty where it does."""
    return (finding.reason or "no evidence") if finding.status == "not evidence" else ""


def _worded(card: AuditCard, audit: str) -> list[Finding]:
    """The findings of an audit whose verdicts stand in words."""
    return [f for f in card.findings if f.audit == audit and f.verdict and not _collapsed_title(f)]


def _collapsed_title(finding: Finding) -> str:
    """The title under which a finding is folded away; empty for one that is always shown."""
    if finding.by:
        return f"By {finding.by}"
    if finding.group in ("all", "") or finding.audit == "tokens":
        return ""
    if finding.group == WITHOUT_FIRST:
        return "Without the first token, an attention sink"
    if finding.group.endswith(" tokens"):
        return "By length"
    if finding.group in RIGHT_OR_WRONG:
        return "By correctness"
    kind, _, member = finding.group.partition(" ")
    kind = next((known for known in GROUP_KINDS if finding.group.startswith(f"{known} ")), kind)
    return f"By {GROUP_KINDS.get(kind, kind)}" if kind and member else "By group"


def _table(
    title: str,
    findings: list[Finding],
    by_name: list[dict[str, Finding]],
    notes: Footnotes,
    differences: Sequence[Difference],
) -> FindingTable:
    names = {finding.name for finding in findings}
    return FindingTable(
        visible(title),
        _blocks(findings, by_name, notes, bool(title), differences),
        [_levels(card[name].level for name in names if name in card) for card in by_name],
        [
            _levels(d.level for d in differences if d.name in names and (d.one, d.other) == pair)
            for pair in pairs(differences)
        ],
    )


def _levels(levels: Iterable[float]) -> str:
    """The levels of the intervals of one column: ``95 %``; empty for an empty column."""
    return " or ".join(map(percent, sorted(set(levels))))


def _blocks(
    findings: list[Finding],
    by_name: list[dict[str, Finding]],
    notes: Footnotes,
    in_fold: bool,
    differences: Sequence[Difference],
) -> list[Block]:
    groups: dict[str, list[Finding]] = {}
    for finding in _sort(findings):
        groups.setdefault(_heading(finding, notes), []).append(finding)
    everywhere = list(dict.fromkeys(name for card in by_name for name in card))
    blocks = []
    for heading, members in groups.items():
        alike = everywhere if members[0].audit == "perturbation" else [f.name for f in members]
        limits = value_limits([card[name] for card in by_name for name in alike if name in card])
        of_members = [d for d in differences if d.name in {finding.name for finding in members}]
        rows = [
            Row(
                _row_label(finding, in_fold, notes),
                [_cell(card.get(finding.name), notes) for card in by_name],
                notes.citations.index(finding.citation) + 1 if finding.citation in notes.citations else 0,
                no_evidence(finding),
                rows_by_pair(finding.name, differences),
            )
            for finding in members
        ]
        blocks.append(Block(heading, limits, difference_limits(of_members), rows))
    return blocks


def _sort(findings: list[Finding]) -> list[Finding]:
    tokens = all(finding.audit == "tokens" for finding in findings)
    orders = (
        sort_names((f.statistic for f in findings), TOKEN_STATISTICS if tokens else STATISTICS),
        sort_names((f.against for f in findings), ("", *AGAINST)),
        sort_groups(f.group for f in findings),
    )
    ranks = [{name: rank for rank, name in enumerate(order)} for order in orders]

    def key(finding: Finding) -> tuple[int, int, int]:
        statistic, against, group = (
            rank[name]
            for rank, name in zip(ranks, (finding.statistic, finding.against, finding.group), strict=True)
        )
        return (against, statistic, group) if finding.audit == "agreement" else (statistic, against, group)

    return sorted(findings, key=key)


def _heading(finding: Finding, notes: Footnotes) -> str:
    if finding.audit == "agreement":
        return f"with {display_name(finding.against, AGAINST)}"
    return display_name(finding.statistic, STATISTICS, notes.signed, notes.nouns)


def _row_label(finding: Finding, in_fold: bool, notes: Footnotes) -> str:
    if finding.audit == "agreement":
        parts = [display_name(finding.statistic, STATISTICS, notes.signed, notes.nouns)]
    else:
        parts = [display_name(finding.against, AGAINST, notes.signed)] if finding.against else []
    named = finding.group not in (*UNSPOKEN, WITHOUT_FIRST)
    if not parts or named or (in_fold and finding.group != WITHOUT_FIRST):
        parts.append("all examples" if finding.group == "all" else finding.group)
    return " · ".join(part for part in parts if part) or finding.name


def _cell(finding: Finding | None, notes: Footnotes) -> Cell | None:
    if finding is None:
        return None
    return Cell(
        finding,
        estimate(finding) if finite(finding.estimate) is not None else "undefined",
        number(finding.std) if finite(finding.std) is not None else "",
        bounds(finding),
        [_null(finding, name) for name in notes.nulls],
        count(finding.n),
        [(count(times), notes.letter(why), why) for why, times in finding.undefined.items() if times],
        share(finding.significant_fraction),
    )


def _null(finding: Finding, name: str) -> Null:
    value, paired = with_sign(finding, finding.null.get(name)), finding.over_null.get(name)
    if paired is None or paired.estimate is None:
        return Null(value, "", "")
    # A line may break before the interval, not in it.
    ends = interval(paired.interval, plus=True).replace(" ", "\u00a0")
    difference = f"{number(paired.estimate, plus=True)} {ends}"
    return Null(value, difference, count(paired.n))
