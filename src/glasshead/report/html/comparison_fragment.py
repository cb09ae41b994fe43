"""A comparison for a notebook: one table, styles on each element."""

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.comparison_rows import intro_sentence, tested_differences
from glasshead.report.findings_in_words import estimate
from glasshead.report.html.notebook_table import WIDE, notebook_table, quiet_line
from glasshead.report.key_findings import answers, cautions
from glasshead.report.labels import sentence
from glasshead.report.run_facts import card_names, split_names
from glasshead.results import AuditComparison, Comparison, RunComparison


def comparison_fragment(comparison: Comparison) -> str:
    """What is compared, and the differences with their intervals and verdicts."""
    if isinstance(comparison, AuditComparison):
        parts = audits_fragment(comparison)
    else:
        assert isinstance(comparison, RunComparison)
        parts = runs_fragment(comparison)
    rest = f'{len(comparison.differences)} differences in all: to_pandas(), save("compare.html")'
    body = Markup("").join([*parts, quiet_line(rest)])
    return str(Markup('<div style="{}">{}</div>').format(WIDE, body))


def audits_fragment(comparison: AuditComparison) -> list[Markup]:
    """Each question with the estimate of every audit, and how they differ."""
    full = card_names(comparison.cards)
    shared, names = split_names(full)
    rows = [
        (
            answer.question.asks,
            *("–" if finding is None else estimate(finding) for finding in answer.findings),
            answer.difference,
        )
        for answer in answers(comparison.cards, names, comparison.differences)
    ]
    head = ("", *names, "difference")
    remarks = [*cautions(comparison.cards, names), *comparison.remarks]
    return [
        Markup("<b>{}</b>").format(visible(shared or " and ".join(full))),
        notebook_table(head, rows, words=(0, len(head) - 1)),
        *map(quiet_line, remarks),
    ]


def runs_fragment(comparison: RunComparison) -> list[Markup]:
    """Every metric of every pair."""
    rows = [
        (
            f"{pair[0]} minus {pair[1]}: {tested.metric}",
            tested.row.estimate,
            tested.row.interval,
            tested.t,
            sentence(tested.row.difference.verdict),
        )
        for pair, differences in tested_differences(comparison)
        for tested in differences
    ]
    head = ("", "difference", "95 % interval", "t-test over seeds", "verdict")
    return [quiet_line(intro_sentence(comparison)), notebook_table(head, rows, words=(0, 3, 4))]
