"""How far the answer moves under other weights: permuted, or drawn at random."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from glasshead.nouns import nouns_of
from glasshead.report.figure import Figure, LegendEntry, Panel
from glasshead.report.marks.card_columns import by_class, missing_panel, where_classes
from glasshead.report.marks.distributions import Distribution, histogram_panel, violin_panel
from glasshead.report.marks.limits import limits
from glasshead.report.plot_registry import plot
from glasshead.results import AuditCard

NOISE = (
    "Signed weights from U(−1, 1) move the answer in both directions, often from one end to the other: the "
    "median of a single {text} is mostly chance, so do not rank {texts} by it. On SST-2 the medians of "
    "two sets of 100 draws correlated by 0.01 (normalised: 0.71). Read the distribution."
)


def panels_of_cards(
    names: Sequence[str],
    rows: Sequence[Sequence[Distribution]],
    draw: Callable[[Sequence[Distribution], str], Panel],
    about: str,
) -> list[Panel]:
    """A panel for each card, under its name: drawn of its classes, or a note that it has none."""
    return [
        replace(draw(of_card, f"{about}, {name}."), title=name) if of_card else missing_panel(name)
        for name, of_card in zip(names, rows, strict=True)
    ]


@plot("permuted-weights", AuditCard, "plots", order=4, drawn_by="the page of 'audit'")
def permuted_weights(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Histograms of the median change of the answer when weights are permuted, by class."""
    rows = [by_class(card, "permutation.median.absolute", None) for card in cards]
    values = [row.values for of_card in rows for row in of_card]
    if not values:
        return None
    axis, ends = "median |Δŷ| under permutation", limits(*values, zero=True)
    about = "Histograms of the median change under permutation by class"
    panels = panels_of_cards(names, rows, lambda row, words: histogram_panel(row, axis, ends, words), about)
    nouns = nouns_of(*(card.facts for card in cards))
    caption = (
        f"Share of the {nouns.texts}{where_classes(cards, ' of each true class')}; the dot is the median."
    )
    legend = [LegendEntry("--accent", f"median |Δŷ| of {nouns.a_text}", "area")]
    return Figure("Permuted weights", panels, caption, legend)


@plot("random-weights", AuditCard, "plots", order=8, drawn_by="the page of 'audit'")
def random_weights(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Violins of the median change of the answer when weights are random, by class."""
    rows = [by_class(card, "random.median.absolute", "random-normalised.median.absolute") for card in cards]
    pairs = [pair for of_card in rows for row in of_card for pair in (row.values, row.other)]
    values = [column for column in pairs if column is not None]
    if not values:
        return None
    axis, ends = "median |Δŷ| under random weights", limits(*values, zero=True)
    about = "Violins of the median change under random weights by class"
    panels = panels_of_cards(names, rows, lambda row, words: violin_panel(row, axis, ends, words), about)
    nouns, of_each = nouns_of(*(card.facts for card in cards)), where_classes(cards, " of each true class")
    caption = f"Distribution over the {nouns.texts}{of_each}; the dots are medians."
    if any(card.facts.get("signed") for card in cards):
        caption += f" {nouns.fill(NOISE)}"
    legend = [LegendEntry("--accent", "as in the paper", "area")]
    if any(row.other is not None for of_card in rows for row in of_card):
        legend = [
            LegendEntry("--accent", "above: as in the paper", "area"),
            LegendEntry("--muted", "below: normalised", "area"),
        ]
    return Figure("Random weights", panels, caption, legend)
