"""The sources of an answer: which passages, by how much, and how sure."""

from glasshead.report.cited_words import (
    BY_ITSELF,
    WITHOUT,
    attention_remarks,
    doubt_of,
    facts_of,
    foretelling_in_words,
    label_of,
    marked_answer,
    numbers_of,
    ordered_effects,
    remarks_of,
    removal_title,
    what_columns_mean,
    what_effect_means,
)
from glasshead.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Facts,
    Listing,
    Passage,
    Piece,
    Row,
    Sentence,
    Table,
    Tone,
    cell,
    columns,
    conclusion_blocks,
    table,
)
from glasshead.report.number_format import number, share
from glasshead.results import Cited, SourceEffect, Statement

MOST = 20
"""So many passages stand in the table; sources are first."""


def cited_document(cited: Cited) -> Document:
    """The conclusion, the answer with its sources, and the passages with their numbers."""
    return [*conclusion(cited), answer_block(cited), *numbers_document(cited)]


def conclusion(cited: Cited) -> Document:
    """The verdict, and its caveats."""
    whole = cited.whole
    blocks: list[Block] = [*conclusion_blocks(whole.says)]
    blocks += [Sentence(remark) for remark in remarks_of(cited, whole)]
    return blocks


def answer_block(cited: Cited) -> Passage:
    """The answer, with the numbers of its sources behind each sentence."""
    pieces = []
    for words, statement in marked_answer(cited):
        pieces.append(Piece(words))
        if statement is not None and (numbers := numbers_of(statement)):
            pieces.append(Piece(f" {numbers}", "strong"))
    if rest := cited.unplaced_sources:
        pieces.append(Piece(" " + "".join(f"[{passage + 1}]" for passage in rest), "strong"))
    return Passage(pieces)


def numbers_document(cited: Cited) -> Document:
    """The sentences of an answer that has several, the passages, what the numbers mean, and how they were
    measured."""
    whole = cited.whole
    sentences = [
        (cited.text_of(one), " ".join([f"{one.says[0]}.", *one.says[1:], *attention_remarks(cited, one)]))
        for one in cited.statements[1:]
    ]
    return [
        *([Listing(sentences)] if sentences else []),
        passages_table(cited, whole),
        Sentence(f"{what_effect_means(cited.facts, whole)} {what_columns_mean(cited.facts, whole)}", "quiet"),
        *([Sentence(foretold, "quiet")] if (foretold := foretelling_in_words(whole)) else []),
        Facts(facts_of(cited)),
        *(Sentence(note, "quiet") for note in cited.notes),
    ]


def passages_table(cited: Cited, statement: Statement) -> Table:
    """A row for each passage, sources first and in bold."""
    effects = ordered_effects(statement)
    shown = effects[: max(MOST, len(statement.sources))]
    rows: list[Row] = [
        (
            name_cell(cited, one),
            number(one.effect, 2, plus=True),
            doubt_of(one),
            number(one.removal, 2, plus=True),
            *(number(falls[one.passage], 2, plus=True) for falls in statement.other.values()),
            number(one.by_itself, 2, plus=True),
            *(share(shares[one.passage]) for shares in statement.maps.values()),
        )
        for one in shown
    ]
    others = [removal_title(removal) for removal in statement.other]
    numeric = ("effect", "95 %", WITHOUT, *others, BY_ITSELF, *statement.maps)
    titles = [Column("passage", "words"), *columns((), numeric)]
    left = len(effects) - len(shown)
    return table(titles, rows, "Passages", f"{left:,} more passages, none of them a source" if left else "")


def name_cell(cited: Cited, one: SourceEffect) -> Cell:
    """A passage by its number and title or first words; which one it repeats."""
    passage = cited.passages[one.passage]
    tone: Tone = "strong" if one.is_source else "plain"
    same = "" if passage.repeats is None else f"the same text as passage {passage.repeats + 1}"
    return cell([Piece(f"{one.passage + 1}: {label_of(passage)}", tone)], [Piece(same, "quiet")])
