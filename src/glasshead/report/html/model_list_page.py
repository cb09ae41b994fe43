"""The page of audits of many models."""

from collections.abc import Mapping

from glasshead.report.documents.model_list import ALONE, conclusions_table, list_title, numbers_table
from glasshead.report.html.environment import environment
from glasshead.report.run_facts import origin
from glasshead.results import AuditCard


def model_list_page(cards: Mapping[str, AuditCard], failed: Mapping[str, str]) -> str:
    """The result of each audit, the numbers side by side, and why some models could not be audited; the page
    is saved above the folders of the audits and links to their reports."""
    return (
        environment()
        .get_template("model_list.html.j2")
        .render(
            title=list_title(cards),
            lead=ALONE,
            conclusions=conclusions_table(cards) if cards else None,
            numbers=numbers_table(cards) if cards else None,
            failed=failed,
            origin=origin(next(iter(cards.values()))) if cards else [],
        )
    )
