"""Agreement of the audited explanation with gradients and with weight removal, example by example."""

from collections.abc import Sequence
from dataclasses import replace

from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.marks.card_columns import by_class, missing_panel, where_classes
from glasshead.report.marks.distributions import histogram_panel
from glasshead.report.number_format import finite
from glasshead.report.plot_registry import plot
from glasshead.report.run_facts import any_signed
from glasshead.results import ABSOLUTE, ATTENTION, CANONICAL_GAUGE, METHOD, AuditCard, method_words


@plot("agreement-gradient", AuditCard, "plots", order=6, drawn_by="the page of 'audit'")
def agreement_with_gradient(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Histograms of the rank agreement (Kendall τ-b) with the gradient."""
    return agreement_figure(cards, names, "gradient", "gradient")


@plot("agreement-erasure", AuditCard, "plots", order=7, drawn_by="the page of 'audit'")
def agreement_with_erasure(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Histograms of the rank agreement (Kendall τ-b) with removing weights."""
    return agreement_figure(cards, names, "erasure-zero-weight", "weight removal")


def agreement_figure(
    cards: Sequence[AuditCard], names: Sequence[str], against: str, word: str
) -> Figure | None:
    """A panel per card; None where no card has the numbers."""
    panels, nulls, outlined, signs = [], False, False, False
    for card, name in zip(cards, names, strict=True):
        signed, by_size = f"tau.{card.method}.{against}", f"tau.{card.method}{ABSOLUTE}.{against}"
        has_sign = signed in card.examples
        rows = by_class(card, signed, by_size) if has_sign else by_class(card, by_size, None)
        if not rows:
            panels.append(missing_panel(name))
            continue
        statistic = card.statistic if has_sign else card.statistic + ABSOLUTE
        finding = card.finding(f"agreement.{statistic}.{against}.all")
        null = finite(finding.null.get("random")) if finding else None
        description = f"Histograms of Kendall τ between {card.method} and {word} by class, {name}."
        panel = histogram_panel(rows, "Kendall τ-b", (-1.0, 1.0), description, null)
        panels.append(replace(panel, title=name))
        nulls |= null is not None
        outlined |= any(row.other is not None for row in rows)
        signs |= has_sign
    if all(panel.draw is None for panel in panels):
        return None
    methods = {card.method for card in cards}
    numbers = "weights" if methods == {ATTENTION} else "numbers"
    dashed = f", the dashed line the mean for random {numbers}" if nulls else ""
    caption = (
        f"Share of examples{where_classes(cards, ' by true class')}; the dot is the median of the "
        f"{'signed ' if signs else ''}τ{dashed}. Examples where τ is undefined are left out."
    )
    gauged = methods == {ATTENTION} and any_signed(*cards)
    filled = f"signed{CANONICAL_GAUGE}" if gauged else "signed" if signs else "absolute values"
    legend = [LegendEntry("--accent", filled, "area")]
    if outlined:
        legend.append(LegendEntry("--ink", "absolute values", "outline"))
    subject = method_words(METHOD if len(methods) > 1 else cards[0].method)
    return Figure(f"Agreement of {subject} with {word}", panels, caption, legend)
