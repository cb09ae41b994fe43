"""Audits of many models, each with data of its own: a row for each."""

from collections.abc import Mapping

from glasshead.errors import pluralise
from glasshead.nouns import nouns_of
from glasshead.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Listing,
    Piece,
    Rows,
    Sentence,
    Table,
    cell,
)
from glasshead.report.documents.audits import numbers_of
from glasshead.report.key_findings import answers, data_name, metrics_in_words
from glasshead.report.number_format import DASH, count
from glasshead.results import AuditCard
from glasshead.wording import sentence

ALONE = (
    "Each model is judged separately, on its own data. Do not rank models by numbers from different data: "
    "to compare two, audit both on the same data."
)


def model_list_document(cards: Mapping[str, AuditCard], failed: Mapping[str, str]) -> Document:
    """The result of the audit of each model, and why some models could not be audited; a page also has
    their numbers."""
    blocks: list[Block] = [Heading(list_title(cards)), Sentence(ALONE, "quiet")]
    if cards:
        blocks.append(conclusions_table(cards))
    if failed:
        blocks += [Heading("Not audited", 2), Listing([*failed.items()])]
    return blocks


def list_title(cards: Mapping[str, AuditCard]) -> str:
    """How many audits there are."""
    return f"Audits of {pluralise(len(cards), 'model')}"


def conclusions_table(cards: Mapping[str, AuditCard]) -> Table:
    """A row for each model: its name, which leads to its report, its data and its first sentence."""
    rows = [
        (model_cell(name), data_cell(card), card.conclusion.verdict or DASH) for name, card in cards.items()
    ]
    head = [Column("model", "name"), Column("data", share=2), Column("what the audit found", share=4)]
    return Table(head, [Rows(rows)], "What each audit found", spaced=True)


def numbers_table(cards: Mapping[str, AuditCard]) -> Table:
    """The questions of the first screen; under each a row for every model that has a number for it."""
    nouns = nouns_of(*(card.facts for card in cards.values()))
    groups = [
        Rows(
            [
                (model_cell(name), *numbers_of(answer, finding), sentence(finding.verdict))
                for name, finding in zip(cards, answer.findings, strict=True)
                if finding is not None
            ],
            f"{nouns.fill(answer.title)} ({nouns.fill(answer.unit)})",
        )
        for answer in answers([*cards.values()], [*cards])
    ]
    head = [Column("model", "name"), Column("estimate", "numbers"), Column("interval", "marked")]
    head += [Column("null", "numbers"), Column("verdict", "below")]
    return Table(head, groups, "The numbers behind them")


def model_cell(name: str) -> Cell:
    """The name of a model, leading to its report."""
    return cell(Piece(name, "strong", f"{name}/report.html"))


def data_cell(card: AuditCard) -> Cell:
    """The data, how many inputs were read, and how well the model predicts them."""
    read = f"{count(card.facts['examples'])} {card.nouns.texts}" if "examples" in card.facts else ""
    return cell(data_name(card), *(Piece(words, "quiet") for words in (read, *metrics_in_words(card))))
