"""One number of every text against another: permutation against weight, width of intervals against length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from glasshead.nouns import nouns_of
from glasshead.report.colours import MAX_CLASSES, group_colours
from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.marks.card_columns import classes, floats, missing_panel, points_per_card, strings
from glasshead.report.marks.limits import Floats, limits
from glasshead.report.marks.scatter import Points, sample, scatter_panel
from glasshead.report.number_format import number
from glasshead.report.plot_registry import plot
from glasshead.results import AuditCard

TREND_FROM, SLICES = 50, 10
"""Texts from which a trend is drawn, and how many means it joins."""


@dataclass(frozen=True)
class ColumnPair:
    """Two columns of the examples: the title of their plot, and what the axes and the plot say, with
    fields for what inputs are called."""

    title: str
    columns: tuple[str, str]
    words: tuple[str, str]
    description: str


PERMUTATION = ColumnPair(
    "Shuffling the weights",
    ("max_weight", "permutation.median.absolute"),
    ("maximum |weight| of the {text}", "median |Δŷ| under permutation"),
    "Median change under permutation against maximum attention",
)
WIDTH = ColumnPair(
    "How certain the weights are",
    ("tokens", "maps.width"),
    ("{tokens} of the {text}", "mean width of the intervals"),
    "Mean width of the intervals of the weights against the length of the {text}",
)


@plot("permutation-by-weight", AuditCard, "plots", order=5, drawn_by="the page of 'audit'")
def permutation_by_weight(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Median change when weights are permuted against the largest weight, a point per text."""
    return examples_figure(cards, names, PERMUTATION)


@plot("interval-width", AuditCard, "plots", order=9, drawn_by="the page of 'audit'")
def interval_width(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Mean width of the intervals of weights against the length, a point per text."""
    return examples_figure(cards, names, WIDTH)


def examples_figure(cards: Sequence[AuditCard], names: Sequence[str], pair: ColumnPair) -> Figure | None:
    """A point per text, a panel per card; None where no card has both columns."""
    pairs = [(floats(c.examples, pair.columns[0]), floats(c.examples, pair.columns[1])) for c in cards]
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    if not known:
        return None
    ends = limits(*(x for x, _ in known), zero=True), limits(*(y for _, y in known), zero=True)
    labels = list(dict.fromkeys(label for card in cards for label in classes(card)))
    colours = group_colours(labels)
    nouns = nouns_of(*(card.facts for card in cards))
    axes = nouns.fill(pair.words[0]), pair.words[1]
    panels, remarks, trends = [], [], False
    for card, name, (x, y) in zip(cards, names, pairs, strict=True):
        if x is None or y is None:
            panels.append(missing_panel(name))
            continue
        usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        drawn = usable[sample(usable.size, points_per_card(cards))]
        if drawn.size < usable.size:
            remarks.append(f"{name}: {drawn.size:,} of {usable.size:,} examples drawn, chosen at random.")
        trend = binned_means(x[usable], y[usable])
        trends |= trend is not None
        points = example_points(card, x, y, drawn, colours)
        description = f"{nouns.fill(pair.description)}, {name}: {drawn.size} examples."
        panels.append(scatter_panel(name, points, axes, ends, description, trend))
    coloured = ", coloured by true class" if labels else ""
    joined = "; the line joins the means of ten equal slices" if trends else ""
    caption = " ".join([f"Each point is {nouns.a_text}{coloured}{joined}.", *remarks])
    legend = [LegendEntry(colours[label], label, "dot") for label in labels][:MAX_CLASSES]
    return Figure(pair.title, panels, caption, legend)


def example_points(
    card: AuditCard, x: Floats, y: Floats, drawn: np.ndarray, colours: dict[str, str]
) -> list[Points]:
    """The texts of each label."""
    labels = np.array(strings(card.examples, "label", x.size))
    points = []
    for label in dict.fromkeys(labels[drawn].tolist()):
        members = drawn[labels[drawn] == label]
        titles = [f"{label} ({number(a)}, {number(b)})" for a, b in zip(x[members], y[members], strict=True)]
        points.append(Points(x[members], y[members], colours.get(label, "--accent"), titles))
    return points


def binned_means(x: Floats, y: Floats) -> tuple[Floats, Floats] | None:
    """Means of ten equal slices along x; None for few points."""
    if x.size < TREND_FROM:
        return None
    slices = np.array_split(np.argsort(x, kind="stable"), SLICES)
    return np.array([x[part].mean() for part in slices]), np.array([y[part].mean() for part in slices])
