"""The report: one HTML file without network, for one audit or for several side by side."""

from collections.abc import Sequence
from functools import partial

from glasshead.escaping import visible
from glasshead.nouns import nouns_of
from glasshead.report.colour_meaning import colour_meaning
from glasshead.report.difference_rows import pairs
from glasshead.report.documents.audits import claim_numbers, claims_by_answer, verdicts_table
from glasshead.report.html.environment import environment
from glasshead.report.html.examples import ERASURE_AGREEMENT, examples, leading_examples
from glasshead.report.html.figure_page import RenderedFigure, render
from glasshead.report.html.finding_tables import sections
from glasshead.report.html.typical_tokens import typical
from glasshead.report.html.weight_key import weight_key
from glasshead.report.key_findings import answers, cautions, comparison_headline, intro_sentence
from glasshead.report.plots import plots_of
from glasshead.report.run_facts import card_names, detail_rows, fact_rows, notes, origin, split_names
from glasshead.report.sign_gauge import sign_sentence
from glasshead.report.slice_tables import slice_tables
from glasshead.report.text_spans import diverging
from glasshead.results import ATTENTION, EXPLANATION, AuditCard, Difference
from glasshead.wording import percents


def audit_page(
    cards: list[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> str:
    """One card: the audit report. Several: the same form, side by side.

    ``differences`` are paired ones between the cards, ``remarks`` remarks on them.

    Raises:
        ValueError: without a card.
    """

    if not cards:
        raise ValueError("a report needs at least one audit card")
    full, nouns = card_names(cards), nouns_of(*(card.facts for card in cards))
    shared, called = split_names(full)
    texts, asked = examples(cards), answers(cards, called, differences)
    attributions = [highlight.attribution for card in cards for highlight in card.highlights]
    explained = len(cards) == 1 and EXPLANATION in cards[0].facts
    conclusions = [card.conclusion.verdict for card in cards]
    return (
        environment(nouns)
        .get_template("report.html.j2")
        .render(
            kind="attention audit" if {card.method for card in cards} == {ATTENTION} else "audit",
            full=full,
            shared=shared,
            names=called,
            conclusions=conclusions,
            headline=comparison_headline(cards, called, differences)
            if len(cards) > 1
            else conclusions[0] or full[0],
            claims=claims_by_answer(cards[0]) if explained else {},
            numbers_of=partial(claim_numbers, cards[0]),
            level=percents(card.level for card in cards),
            leads=[intro_sentence(card) for card in cards],
            gauges=[sign_sentence(card) for card in cards],
            cautions=cautions(cards, called),
            verdicts=verdicts_table(asked, called, nouns) if asked else None,
            sliced=[
                {"name": name if len(cards) > 1 else "", "tables": slice_tables(card)}
                for card, name in zip(cards, called, strict=True)
            ],
            sections=sections(cards, called, differences),
            pairs=[(called[one], called[other]) for one, other in pairs(differences)],
            remarks=remarks,
            figures=audit_figures(cards, called),
            groups=typical(cards, called),
            texts=texts,
            leading=leading_examples(texts, nouns),
            labels=[(visible(label),) * 2 for label in dict.fromkeys(one.label for one in texts) if label],
            strengths=ERASURE_AGREEMENT,
            meaning=colour_meaning(attributions),
            key=weight_key(attributions),
            sides=any(map(diverging, attributions)),
            origins=[origin(card) for card in cards],
            facts=fact_rows(cards),
            details=detail_rows(cards),
            notes=notes(cards),
            cards_have_maps=any("identifiability" in card.facts for card in cards),
        )
    )


def card_page(card: AuditCard) -> str:
    """The report of one audit."""
    return audit_page([card])


def audit_figures(cards: Sequence[AuditCard], names: Sequence[str]) -> list[RenderedFigure]:
    """Every card is one panel of every figure, and the panels of a figure share their axes."""
    figures = {name: plot.draw(cards, names) for name, plot in plots_of(AuditCard, "plots").items()}
    return [render(figure, name) for name, figure in figures.items() if figure is not None]
