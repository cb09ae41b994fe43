"""Audits: what follows, what may be claimed, and each question with estimate, interval, null and verdict."""

from collections.abc import Iterator, Sequence

from glasshead.errors import pluralise
from glasshead.nouns import Nouns, nouns_of
from glasshead.report.document import (
    Block,
    Cell,
    ColouredInput,
    Column,
    Document,
    Facts,
    Heading,
    Listing,
    Mark,
    Piece,
    Rows,
    Sentence,
    Table,
    Words,
    cell,
)
from glasshead.report.documents.attributions import text_facts
from glasshead.report.findings_in_words import (
    bounds,
    estimate,
    nulls,
    over_nulls,
    verdict_sentence,
    with_sign,
)
from glasshead.report.interval_marks import finding_mark
from glasshead.report.key_findings import Answer, answers, cautions, intro_sentence, speaks
from glasshead.report.number_format import DASH, count, interval, number
from glasshead.report.run_facts import card_names, split_names
from glasshead.report.sign_gauge import sign_sentence
from glasshead.report.slice_tables import SliceRow, SliceTable, slice_tables
from glasshead.report.text_spans import shared_scale
from glasshead.results import EXPLANATION, AuditCard, Claim, Difference, Finding, Holds
from glasshead.wording import sentence

HEADINGS: dict[Holds, str] = {
    "yes": "You can claim",
    "in part": "You can claim in part",
    "no": "Do not claim",
    "undecided": "Not settled",
}
BESIDE_RANDOM = ("agreement", "faithfulness", "adversarial")
"""Audits whose verdicts depend on the difference from random weights or orders."""
TEXTS = 3
"""So many inputs go with an audit in a notebook or a file."""


def audits_document(
    cards: Sequence[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> Document:
    """One audit, or several side by side with their paired differences."""
    full, nouns = card_names(cards), nouns_of(*(card.facts for card in cards))
    _, short = split_names(full)
    blocks: list[Block] = []
    for card, name in zip(cards, full, strict=True):
        blocks.append(Heading(name))
        if card.conclusion.verdict:
            blocks.append(Sentence(card.conclusion.verdict))
        about = " ".join(part for part in (intro_sentence(card), sign_sentence(card)) if part)
        blocks.append(Sentence(about, "quiet"))
    if len(cards) == 1 and EXPLANATION in cards[0].facts:
        blocks += claims_blocks(cards[0])
    asked = answers(cards, short, differences)
    if not asked:
        blocks.append(Sentence("No key finding in this audit."))
    else:
        blocks.append(verdicts_table(asked, short, nouns))
    blocks += [Sentence(caution, "caution") for caution in cautions(cards, short)]
    for card, name in zip(cards, short, strict=True):
        for table in slice_tables(card):
            blocks += slice_blocks(table, name if len(cards) > 1 else "")
    return [*blocks, *(Sentence(remark, "quiet") for remark in remarks)]


def card_document(card: AuditCard) -> Document:
    """One audit with some of its inputs, for a notebook or a file."""
    shown = [highlight.attribution for highlight in card.highlights[:TEXTS]]
    scale = shared_scale(shown)
    texts = [block for one in shown for block in (ColouredInput(one, scale), Facts(text_facts(one, scale)))]
    return [*audits_document([card]), *texts]


def card_in_notebook(card: AuditCard) -> Document:
    """The same, and where to find the rest."""
    rest = f'{len(card.findings)} findings in all: to_pandas(), save("card.html")'
    return [*card_document(card), Sentence(rest, "quiet")]


def claims_blocks(card: AuditCard) -> Iterator[Block]:
    """What you can claim about its attention, and what not."""
    for heading, claims in claims_by_answer(card).items():
        yield Heading(heading, 2)
        yield Listing([(f"{claim.says}.", claim_reason(card, claim)) for claim in claims])


def claims_by_answer(card: AuditCard) -> dict[str, list[Claim]]:
    """The claims under their headings, those that stay open last."""
    claims = card.conclusion.claims
    parts = {
        heading: [claim for claim in claims if claim.holds == holds] for holds, heading in HEADINGS.items()
    }
    return {heading: ones for heading, ones in parts.items() if ones}


def claim_reason(card: AuditCard, claim: Claim) -> Words:
    """The verdict on which a claim rests, with its finding and the numbers."""
    name = [Piece(claim.finding, "code"), Piece(" ")] if claim.finding else []
    return [f"{claim.because} (", *name, f"{claim_numbers(card, claim)})"]


def claim_numbers(card: AuditCard, claim: Claim) -> str:
    """Estimate, interval and n of its finding, the paired difference from random weights or orders where a
    verdict depends on that, and the threshold."""
    finding = card.finding(claim.finding)
    if finding is None:
        return claim.note
    parts = [estimate(finding)]
    if finding.bound or finding.interval is not None:
        parts.append(bounds(finding))
    words = [f"{' '.join(parts)}, n = {count(finding.n)}"]
    beside = finding.over_null.get("random") if finding.audit in BESIDE_RANDOM else None
    if beside is not None and beside.estimate is not None:
        ends = interval(beside.interval, plus=True)
        words.append(f"minus random {number(beside.estimate, plus=True)} {ends}")
    return "; ".join([*words, *([claim.note] if claim.note else [])])


def verdicts_table(asked: Sequence[Answer], names: Sequence[str], nouns: Nouns) -> Table:
    """The answers of one audit, or of several of these names."""
    return answers_table(asked, nouns) if len(names) == 1 else answers_beside(asked, names, nouns)


def answers_table(asked: Sequence[Answer], nouns: Nouns) -> Table:
    """The questions of one audit; its columns are named here, for whatever prints them."""
    rows = [
        (question_cell(answer), *numbers_of(answer, finding), verdict_of(finding, nouns))
        for answer in asked
        for finding in answer.findings
        if finding is not None
    ]
    levels = [finding.level for answer in asked for finding in answer.findings if finding is not None]
    interval = f"{100 * min(levels, default=0.95):.4g} % interval"
    head = [Column("question"), Column("estimate", "numbers"), Column(interval, "marked")]
    head += [Column("null", "numbers"), Column("verdict", "below")]
    return Table(head, [Rows(rows)])


def question_cell(answer: Answer, *more: Words) -> Cell:
    """What is asked, leading to its audit, and what is measured."""
    asks = Piece(answer.title, "strong", f"#audit-{answer.audit}")
    return cell([asks], Piece(answer.unit, "quiet"), *more)


def numbers_of(answer: Answer, finding: Finding) -> tuple[str | Cell, ...]:
    """Estimate, interval and null; dashes where they are not evidence."""
    if not speaks(finding):
        return DASH, "no evidence", DASH
    return (
        cell(estimate(finding), tone="strong"),
        interval_cell(finding, answer.limits),
        cell(null_of(finding) if finding.null else none_because(answer.no_null), tone="quiet"),
    )


def interval_cell(finding: Finding, limits: tuple[float, float]) -> Cell:
    """The interval, drawn where there is a page; its verdict where a reader points at it."""
    return cell(bounds(finding), drawing=Mark(finding_mark(finding), limits), hint=sentence(finding.verdict))


def verdict_of(finding: Finding, nouns: Nouns) -> Cell:
    """What a finding comes to; below it the differences from nulls."""
    return cell(verdict_sentence(finding, nouns), Piece(differences_of(finding), "quiet"))


def answers_beside(asked: Sequence[Answer], names: Sequence[str], nouns: Nouns) -> Table:
    """The questions of several audits, one column for each."""
    rows = [
        (
            question_cell(answer, answer.difference),
            *(answer_of(finding, nouns) for finding in answer.findings),
        )
        for answer in asked
    ]
    titles = [Column("question", share=3), *(Column(name, share=2, over=name) for name in names)]
    return Table(titles, [Rows(rows)], spaced=True)


def answer_of(finding: Finding | None, nouns: Nouns) -> str | Cell:
    """The answer of one audit, line by line."""
    if finding is None:
        return cell("not applicable, or not measured", tone="quiet")
    if not speaks(finding):
        return cell(Piece(DASH, "strong"), sentence(finding.verdict))
    return cell(
        Piece(estimate(finding), "strong"),
        bounds(finding),
        Piece(f"null {null_of(finding)}" if finding.null else "", "quiet"),
        verdict_sentence(finding, nouns),
        Piece(over_nulls(finding), "quiet"),
    )


def differences_of(finding: Finding) -> str:
    """The differences from nulls, where they say anything."""
    return over_nulls(finding) if speaks(finding) else ""


def none_because(reason: str) -> str:
    """Why there is no null, as far as that is known."""
    return f"none: {reason}" if reason else DASH


def null_of(finding: Finding) -> str:
    """The random one of several nulls, else all that there are."""
    return with_sign(finding, finding.null["random"]) if "random" in finding.null else nulls(finding)


def slice_blocks(table: SliceTable, name: str) -> Iterator[Block]:
    """One cut of the inputs of an audit, of this name among several."""
    yield Heading(", ".join(filter(None, (f"By {table.by}", name))), 2)
    yield Sentence(f"{table.summary} Intervals of slices at {table.percent}.", "quiet")
    if table.differing_rows:
        yield slices_table(table.differing_rows, table.percent)
    if table.other_rows:
        left = pluralise(len(table.other_rows), "key finding")
        yield Sentence(f"{left} not shown to differ, or not tested: see the report.", "quiet")


def slices_table(rows: Sequence[SliceRow], percent: str) -> Table:
    """Findings slice by slice, with intervals at this level."""
    groups = [
        Rows(
            [
                (
                    row.name(one),
                    estimate(one),
                    interval_cell(one, row.limits),
                    count(one.n),
                )
                for one in row.findings
            ],
            f"{row.title} {row.answer}",
        )
        for row in rows
    ]
    head = [Column("slice"), Column("estimate", "numbers"), Column(f"{percent} interval", "marked")]
    return Table([*head, Column("n", "numbers")], groups)
