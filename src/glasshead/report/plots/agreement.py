"""Agreement of attention with gradients and with erasure, example by example."""

from collections.abc import Sequence
from dataclasses import replace

from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.labels import CANONICAL
from glasshead.report.marks.card_columns import by_class, missing_panel, where_classes
from glasshead.report.marks.distributions import histogram_panel
from glasshead.report.number_format import finite
from glasshead.report.plot_registry import plot
from glasshead.report.run_facts import any_signed
from glasshead.results import AuditCard


@plot("agreement-gradient", AuditCard, "plots", order=6)
def agreement_with_gradient(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Histograms of the rank agreement (Kendall τ-b) with the gradient."""
    return agreement_figure(cards, names, "gradient", "gradient")


@plot("agreement-erasure", AuditCard, "plots", order=7)
def agreement_with_erasure(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Histograms of the rank agreement (Kendall τ-b) with erasure."""
    return agreement_figure(cards, names, "erasure-zero-weight", "erasure")


def agreement_figure(
    cards: Sequence[AuditCard], names: Sequence[str], against: str, word: str
) -> Figure | None:
    """A panel per card; None where no card has the numbers."""
    panels, nulls, outlined = [], False, False
    for card, name in zip(cards, names, strict=True):
        rows = by_class(card, f"tau.attention.{against}", f"tau.attention-absolute.{against}")
        if not rows:
            panels.append(missing_panel(name))
            continue
        finding = card.finding(f"agreement.attention.{against}.all")
        null = finite(finding.null.get("random")) if finding else None
        description = f"Histograms of Kendall τ between attention and {word} by class, {name}."
        panel = histogram_panel(rows, "Kendall τ-b", (-1.0, 1.0), description, null)
        panels.append(replace(panel, title=name))
        nulls |= null is not None
        outlined |= any(row.other is not None for row in rows)
    if all(panel.draw is None for panel in panels):
        return None
    dashed = ", the dashed line the mean for random weights" if nulls else ""
    caption = (
        f"Share of examples{where_classes(cards, ' by true class')}; the dot is the median of the signed "
        f"τ{dashed}. Examples where τ is undefined are left out."
    )
    legend = [LegendEntry("--accent", f"signed{CANONICAL}" if any_signed(*cards) else "signed", "area")]
    if outlined:
        legend.append(LegendEntry("--ink", "absolute values", "outline"))
    return Figure(f"Agreement of attention with {word}", panels, caption, legend)
