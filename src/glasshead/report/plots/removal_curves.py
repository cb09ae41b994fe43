"""What becomes of the prediction as tokens go in the order of an explanation, and as they come back."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from glasshead.nouns import Nouns, nouns_of
from glasshead.report.figure import DASHES, Figure, Ink, LegendEntry, Panel
from glasshead.report.marks.card_columns import missing_panel
from glasshead.report.marks.limits import Floats
from glasshead.report.number_format import number
from glasshead.report.plot_registry import plot
from glasshead.results import AuditCard, curve_column
from glasshead.statistics import Estimate, mean_intervals, resamples_for

KINDS = {"deletion": ("without the first {tokens}", "line"), "insertion": ("with the first alone", "dashed")}
OWN, CHANCE = "--accent", "--muted"


@plot("removal-curves", AuditCard, "plots", order=8, drawn_by="the page of 'audit'")
def removal_curves(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """ŷ as the first tokens of each text go, and as they alone are kept, next to random ones."""
    panels = [card_panel(card, name) for card, name in zip(cards, names, strict=True)]
    if all(panel.draw is None for panel in panels):
        return None
    nouns = nouns_of(*(card.facts for card in cards))
    kinds = [(nouns.fill(words), kind) for words, kind in KINDS.values()]
    legend = [LegendEntry(OWN, words, kind) for words, kind in kinds]
    legend += [LegendEntry(CHANCE, f"random {nouns.tokens}, {words}", kind) for words, kind in kinds]
    return Figure(
        f"The effect of the first {nouns.tokens} on the prediction",
        panels,
        "Mean ŷ of the predicted class, the rating or the answer, as a growing share of the "
        f"{nouns.tokens} is removed, or kept, in the order of the explanation; bands are "
        f"{100 * min(card.level for card in cards):.4g} % intervals at each point.",
        legend,
        source="after Samek et al. 2017; Petsiuk, Das and Saenko 2018",
    )


def card_panel(card: AuditCard, name: str) -> Panel:
    """The curves of one audit."""
    tables = {
        (kind, colour): table
        for kind in KINDS
        for colour, column in (
            (OWN, curve_column(kind)),
            (CHANCE, f"{curve_column(kind)}.null.random"),
        )
        if (table := curve_table(card, column)) is not None
    }
    if len(tables) < 2 * len(KINDS):
        return missing_panel(name)
    rng, resamples = np.random.default_rng, resamples_for(card.level)
    estimates = {
        key: mean_intervals(table.T, rng=rng(0), level=card.level, resamples=resamples)
        for key, table in tables.items()
    }

    def draw(axes: Axes, ink: Ink) -> None:
        for (kind, colour), points in estimates.items():
            shares = np.linspace(0, 1, len(points))
            axes.plot(
                shares,
                [point.mean or 0.0 for point in points],
                color=ink(colour),
                linewidth=1.6,
                linestyle=DASHES[KINDS[kind][1]],
            )
            if all(point.interval is not None for point in points):
                low, high = zip(*(point.interval or (0.0, 0.0) for point in points), strict=True)
                axes.fill_between(shares, low, high, color=ink(colour), alpha=0.15, linewidth=0)

    words = description(estimates, len(tables[("deletion", OWN)]), card.nouns)
    return Panel(name, (f"share of the {card.nouns.tokens}", "ŷ"), draw, words)


def curve_table(card: AuditCard, column: str) -> Floats | None:
    """The curves of the texts that have one [N, 11]; None if there are none."""
    rows = [row for row in card.examples.get(column, []) if row is not None and None not in row]
    return np.array(rows, dtype=float) if rows else None


def description(estimates: dict[tuple[str, str], list[Estimate]], n: int, nouns: Nouns) -> str:
    """The middle of each curve, for those who do not see them."""
    words = ", ".join(
        f"{nouns.fill(KINDS[kind][0])} {number(points[len(points) // 2].mean)}"
        for (kind, colour), points in estimates.items()
        if colour == OWN
    )
    chance = ", ".join(
        number(points[len(points) // 2].mean) for (_, colour), points in estimates.items() if colour == CHANCE
    )
    return f"Mean ŷ over {n} {nouns.texts} at half of their {nouns.tokens}: {words}; of random ones {chance}."
