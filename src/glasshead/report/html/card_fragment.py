"""The key findings of an audit for a notebook: one table, three texts, styles on each element."""

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.findings_in_words import bounds, estimate, nulls
from glasshead.report.headline import verdict
from glasshead.report.html.notebook import text_fragment
from glasshead.report.html.notebook_table import WIDE, notebook_table, quiet_line
from glasshead.report.key_findings import answers, cautions, intro_sentence, speaks
from glasshead.report.labels import sentence
from glasshead.report.number_format import DASH
from glasshead.report.run_facts import card_names
from glasshead.report.text_spans import shared_scale
from glasshead.results import AuditCard

TEXTS = 3
HEAD = ("", "estimate", "95 % interval", "null", "verdict")


def card_fragment(card: AuditCard) -> str:
    """What was audited, each question with its number, interval, null and verdict, and some texts."""
    name = card_names([card])[0]
    rows = [
        (
            answer.question.asks,
            *((estimate(finding), bounds(finding), nulls(finding)) if speaks(finding) else (DASH,) * 3),
            sentence(finding.verdict),
        )
        for answer in answers([card], [""])
        for finding in answer.findings
        if finding is not None
    ]
    parts = [
        Markup('<div style="{}">{}<b>{}</b>{}').format(
            WIDE, quiet_line(name), visible(verdict(card)), quiet_line(intro_sentence(card))
        ),
        notebook_table(HEAD, rows, words=(0, 4)),
    ]
    parts += [Markup("<div>{}</div>").format(visible(caution)) for caution in cautions([card], [name])]
    shown = [highlight.attribution for highlight in card.highlights[:TEXTS]]
    scale = shared_scale(shown)
    parts += [text_fragment(attribution, scale, "") for attribution in shown]
    parts.append(quiet_line(f'{len(card.findings)} findings in all: to_pandas(), save("card.html")'))
    return str(Markup("").join(parts) + Markup("</div>"))


def card_page(card: AuditCard) -> str:
    """The whole report of one audit."""
    from glasshead.report.html.audit_page import audit_page

    return audit_page([card])
