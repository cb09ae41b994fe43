"""The key findings of an audit for a notebook: one table, three texts, styles on each element."""

from collections.abc import Iterator

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.findings_in_words import nulls
from glasshead.report.html.notebook import BOX, QUIET, text_fragment
from glasshead.report.key_findings import answers, cautions, intro_sentence
from glasshead.report.labels import sentence
from glasshead.report.number_format import interval, number
from glasshead.report.run_facts import card_names
from glasshead.report.text_spans import shared_scale
from glasshead.results import AuditCard

TEXTS = 3
CARD = f"{BOX};max-width:64em"
CELL = "padding:.25em .9em .25em 0;vertical-align:top;border-top:1px solid rgba(127,127,127,.35)"
WORDS, NUMBERS = "text-align:left", "text-align:right;white-space:nowrap"


def card_fragment(card: AuditCard) -> str:
    """What was audited, each question with its number, interval, null and verdict, and some texts."""
    name = card_names([card])[0]
    parts = [
        Markup('<div style="{}"><b>{}</b><div style="{}">{}</div>').format(
            CARD, visible(name), QUIET, visible(intro_sentence(card))
        ),
        Markup('<table style="border-collapse:collapse;font-size:13px;line-height:1.45">{}</table>').format(
            Markup("").join(table_rows(card))
        ),
    ]
    parts += [Markup("<div>{}</div>").format(visible(caution)) for caution in cautions([card], [name])]
    shown = [highlight.attribution for highlight in card.highlights[:TEXTS]]
    scale = shared_scale(shown)
    parts += [text_fragment(attribution, scale, "") for attribution in shown]
    parts.append(
        Markup('<div style="{}">{} findings in all: to_pandas(), save("card.html")</div></div>').format(
            QUIET, len(card.findings)
        )
    )
    return str(Markup("").join(parts))


def table_rows(card: AuditCard) -> Iterator[Markup]:
    """A head, then a row for each question that the card answers."""
    head = ("", "estimate", "95 % interval", "null", "verdict")
    yield table_row(*head)
    for answer in answers([card], [""]):
        for finding in answer.findings:
            if finding is not None:
                null = nulls(finding.null)
                yield table_row(
                    answer.question.asks,
                    number(finding.estimate),
                    interval(finding.interval),
                    null,
                    sentence(finding.verdict),
                )


def table_row(*cells: str) -> Markup:
    """Words on the left, numbers on the right."""
    aligned = (WORDS, NUMBERS, NUMBERS, NUMBERS, WORDS)
    return Markup("<tr>{}</tr>").format(
        Markup("").join(
            Markup('<td style="{};{}">{}</td>').format(CELL, side, visible(cell))
            for side, cell in zip(aligned, cells, strict=True)
        )
    )


def card_page(card: AuditCard) -> str:
    """The whole report of one audit."""
    from glasshead.report.html.audit_page import audit_page

    return audit_page([card])
