"""Findings of one or several cards as tables: one section per audit, one column group per card."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from glasshead.nouns import nouns_of
from glasshead.report.difference_rows import DifferenceRow, difference_limits, pairs, rows_by_pair
from glasshead.report.document import Cell, Column, Mark, Piece, Rows, Table, cell
from glasshead.report.findings_in_words import bounds, estimate, verdict_sentence, with_sign
from glasshead.report.interval_marks import difference_mark, finding_mark
from glasshead.report.key_findings import axis_limits
from glasshead.report.labels import (
    UNSPOKEN,
    display_name,
    finding_label,
    sort_groups,
    sort_names,
    words_of,
)
from glasshead.report.number_format import DASH, count, finite, interval, number, share
from glasshead.report.run_facts import any_signed
from glasshead.results import WITHOUT_FIRST, AuditCard, Difference, Finding, Quantity
from glasshead.wording import capitalise, percents, sentence

NO_CITATION = ("", "–", "-")
GROUP_KINDS = {"class": "true class", "max weight": "maximum attention", "layer": "layer", "length": "length"}
"""How the names of groups of one kind begin, and what the kind is called; of others, the first word."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
RIGHT_OR_WRONG = ("correct", "wrong")


@dataclass(frozen=True)
class Section:
    """All findings of one audit; ``answers`` are what it comes to, one for each card; ``folds`` stay closed
    until asked for."""

    audit: str
    title: str
    answers: list[str]
    question: str
    table: Table
    folds: list[tuple[str, Table]]
    citations: list[str]
    reasons: list[tuple[str, str]]
    verdicts: list[tuple[str, list[tuple[str, str]]]]


@dataclass(frozen=True)
class Footnotes:
    """What the rows of one section refer to: sources by number, reasons by letter, nulls by column.

    ``significance`` says whether some findings were tested input by input, ``signed`` whether there is a
    gauge to be named, ``words`` what statistics are called; ``names`` are those of the cards, and
    ``quantities`` what their numbers are about.
    """

    citations: list[str]
    reasons: list[str]
    nulls: list[str]
    significance: bool
    signed: bool
    words: Mapping[str, str]
    names: Sequence[str]
    quantities: Mapping[str, Quantity]

    def letter(self, reason: str) -> str:
        rank = self.reasons.index(reason)
        return chr(ord("a") + rank) if rank < 26 else str(rank)


def sections(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference] = ()
) -> list[Section]:
    """One section per audit, in the order of the card that made most of them."""
    known = max((list(card.conclusion.audits) for card in cards), key=len, default=[])
    audits = sort_names((finding.audit for card in cards for finding in card.findings), known)
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
        any(f.significant_fraction is not None for f in everything),
        any_signed(*cards),
        words_of(cards, audit),
        names,
        {name: quantity for card in cards for name, quantity in card.quantities.items()},
    )
    folded: dict[str, list[Finding]] = {}
    for finding in unique.values():
        folded.setdefault(_collapsed_title(finding), []).append(finding)
    if "" not in folded and folded:
        folded = {"": [finding for group in folded.values() for finding in group]}
    summaries = [card.conclusion.audits[audit] for card in cards if audit in card.conclusion.audits]
    title, question = (summaries[0].title, summaries[0].asks) if summaries else (audit, "")
    return Section(
        audit,
        title,
        [audit_answer(card, audit) for card in cards],
        question,
        _table(f"{title}: all examples", folded.pop("", []), by_name, footnotes, differences),
        [
            (name, _table(f"{title}: {name}", findings, by_name, footnotes, differences, fold=True))
            for name, findings in folded.items()
        ],
        footnotes.citations,
        [(footnotes.letter(reason), reason) for reason in footnotes.reasons],
        [
            (
                name,
                [
                    (
                        finding_label(f, card),
                        verdict_sentence(f, nouns_of(card.facts)),
                    )
                    for f in _worded(card, audit)
                ],
            )
            for name, card in zip(names, cards, strict=True)
        ],
    )


def audit_answer(card: AuditCard, audit: str) -> str:
    """What an audit comes to, for its heading: in the words of the conclusion, or its first verdict."""
    summary = card.conclusion.audits.get(audit)
    if summary is not None and summary.says is not None:
        return summary.says
    for finding in card.findings:
        if finding.audit == audit and finding.estimate is not None and finding.status != "not evidence":
            numbers = f"{finding_label(finding, card)} {estimate(finding)} {bounds(finding)}"
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
    fold: bool = False,
) -> Table:
    """Findings under headings: of each card estimate, interval, nulls and n, then the paired differences."""
    names = {finding.name for finding in findings}
    known = [[card[name] for name in names if name in card] for card in by_name]
    of_names = [difference for difference in differences if difference.name in names]
    several = len(by_name) > 1
    head = [Column("Quantity")]
    for card, name in zip(known, notes.names, strict=True):
        head += _columns(card, name if several else "", notes)
    for one, other in pairs(differences):
        level = percents(d.level for d in of_names if (d.one, d.other) == (one, other))
        over = f"{notes.names[one]} − {notes.names[other]}"
        head.append(Column("Difference", "numbers", over=over))
        head += [Column(f"{level} interval, paired", "marked", over=over), Column("n", "numbers", over=over)]
    groups: dict[str, list[Finding]] = {}
    for finding in _sort(findings, notes.words):
        groups.setdefault(_heading(finding, notes), []).append(finding)
    return Table(
        head,
        [_rows(heading, rows, by_name, notes, differences, fold) for heading, rows in groups.items()],
        title,
    )


def _columns(findings: Sequence[Finding], over: str, notes: Footnotes) -> list[Column]:
    """The columns of one card, below its name among several."""
    level = percents(finding.level for finding in findings)
    titles = [
        Column("Estimate ± std", "numbers", over=over),
        Column(f"{level} interval", "marked", over=over),
    ]
    titles += [Column(f"{null} null\nand difference", "numbers", over=over) for null in notes.nulls]
    titles += [Column("p < α", "numbers", over=over)] if notes.significance else []
    return [*titles, Column("n", "numbers", over=over)]


def _rows(
    heading: str,
    findings: list[Finding],
    by_name: list[dict[str, Finding]],
    notes: Footnotes,
    differences: Sequence[Difference],
    fold: bool,
) -> Rows:
    """Findings that share one axis, and another one of their differences."""
    names = [finding.name for finding in findings]
    alike = list(dict.fromkeys(name for card in by_name for name in card))
    alike = alike if findings[0].audit == "perturbation" else names
    shown = [card[name] for card in by_name for name in alike if name in card]
    limits = axis_limits(shown, [notes.quantities.get(one.quantity, Quantity()) for one in shown])
    apart = difference_limits([one for one in differences if one.name in names])
    rows = [
        (
            _name_cell(finding, fold, notes),
            *(cell for card in by_name for cell in _cells(card.get(finding.name), limits, notes)),
            *(
                cell
                for row in rows_by_pair(finding.name, differences)
                for cell in difference_cells(row, apart)
            ),
        )
        for finding in findings
    ]
    return Rows(rows, heading)


def _name_cell(finding: Finding, fold: bool, notes: Footnotes) -> Cell:
    """What a row is about, with its source, and why it says nothing of any model where it does not."""
    several = len(notes.citations) > 1 and finding.citation in notes.citations
    source = str(notes.citations.index(finding.citation) + 1) if several else ""
    reason = no_evidence(finding)
    name = [_row_label(finding, fold, notes), f" {source.translate(RAISED)}" if source else ""]
    return cell([*name, Piece(f" {reason}" if reason else "", "quiet")], faint=bool(reason))


def _cells(finding: Finding | None, limits: tuple[float, float], notes: Footnotes) -> Iterator[str | Cell]:
    """The numbers of one card."""
    if finding is None:
        yield from (DASH, *[""] * (len(notes.nulls) + notes.significance + 2))
        return
    known = finite(finding.estimate) is not None
    std = f" ± {number(finding.std)}" if finite(finding.std) is not None else ""
    value = [Piece(estimate(finding) if known else "undefined", "strong"), Piece(std, "quiet")]
    yield cell(value, hint=finding.verdict)
    floor = [] if finding.floor is None else [Piece(f"floor {number(finding.floor)}", "quiet")]
    yield cell(bounds(finding), *floor, drawing=Mark(finding_mark(finding), limits))
    yield from (_null(finding, name) for name in notes.nulls)
    if notes.significance:
        yield share(finding.significant_fraction)
    undefined = {why: times for why, times in finding.undefined.items() if times}
    left_out = [Piece(f" +{count(n)} {notes.letter(why)}", "quiet") for why, n in undefined.items()]
    size, hint = count(finding.n), "; ".join(undefined)
    # Beside each other, several cards have no room for long lines.
    yield cell(size, *left_out, hint=hint) if len(notes.names) > 1 else cell([size, *left_out], hint=hint)


def difference_cells(row: DifferenceRow | None, limits: tuple[float, float] | None) -> Iterator[str | Cell]:
    """A paired difference in three columns."""
    if row is None or limits is None:
        yield from (DASH, "", "")
        return
    yield cell(row.estimate, tone="strong", hint=row.difference.verdict)
    yield cell(row.interval, drawing=Mark(difference_mark(row.difference), limits))
    yield row.n


def _sort(findings: list[Finding], words: Mapping[str, str]) -> list[Finding]:
    orders = (
        sort_names((f.statistic for f in findings), words),
        sort_names((f.against for f in findings), ("", *words)),
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
        return f"with {display_name(finding.against, notes.words)}"
    return display_name(finding.statistic, notes.words, notes.signed)


def _row_label(finding: Finding, in_fold: bool, notes: Footnotes) -> str:
    if finding.audit == "agreement":
        parts = [display_name(finding.statistic, notes.words, notes.signed)]
    else:
        parts = [display_name(finding.against, notes.words, notes.signed)] if finding.against else []
    named = finding.group not in (*UNSPOKEN, WITHOUT_FIRST)
    if not parts or named or (in_fold and finding.group != WITHOUT_FIRST):
        parts.append("all examples" if finding.group == "all" else finding.group)
    return " · ".join(part for part in parts if part) or finding.name


def _null(finding: Finding, name: str) -> Cell:
    """A null, and below it the paired difference from it."""
    value, paired = with_sign(finding, finding.null.get(name)), finding.over_null.get(name)
    if paired is None or paired.estimate is None:
        return cell(value)
    # A line may break before the interval, not in it.
    ends = interval(paired.interval, plus=True).replace(" ", "\u00a0")
    over = Piece(f"{number(paired.estimate, plus=True)} {ends}", "quiet")
    return cell(value, over, hint=f"minus the null, paired, n = {count(paired.n)}")
