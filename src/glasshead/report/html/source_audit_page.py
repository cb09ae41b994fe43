"""The page of the sources of many answers."""

from glasshead.report.documents.source_audit import (
    MEASURES,
    curve_table,
    facts_of,
    findings_table,
    key_in_words,
    parts_table,
    questions_table,
    rank_numbers,
    rank_table,
    remarks_of,
)
from glasshead.report.html.environment import environment
from glasshead.results import SourceAudit


def source_audit_page(audit: SourceAudit) -> str:
    """The conclusion, the rank, the findings, places, parts, and every question."""
    return (
        environment()
        .get_template("source_audit.html.j2")
        .render(
            audit=audit,
            rank=rank_table(audit),
            key=key_in_words(audit),
            measures=MEASURES,
            numbers=rank_numbers(audit),
            findings=findings_table(audit.findings),
            curve=curve_table(audit.curve) if audit.curve else None,
            parts=parts_table(audit) if audit.slices else None,
            questions=questions_table(audit),
            facts=facts_of(audit),
            remarks=remarks_of(audit),
        )
    )
