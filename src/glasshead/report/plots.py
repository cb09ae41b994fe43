"""Which plots a report shows: columns of the cards → figures with their legends and captions.

Every card is one panel of every plot, and the panels of a plot share their axes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from glasshead.report.figures import Floats, Points, Spread, histograms, limits, scatter, violins
from glasshead.report.labels import CANONICAL, LAST, groups_in_order, named, ordered
from glasshead.report.number_format import finite, number
from glasshead.report.run_facts import signed
from glasshead.results import AuditCard

MOST_POINTS = 1200
MOST_CLASSES = 8
POLARITY_COLOURS = {"positive": "--positive", "negative": "--negative", "neutral": "--neutral"}


@dataclass(frozen=True)
class Panel:
    """One card's share of a plot; ``svg`` is None where the card lacks the numbers."""

    name: str
    svg: Markup | None


@dataclass(frozen=True)
class Plot:
    """A figure with title, legend (CSS colour, words) and caption."""

    title: str
    legend: list[tuple[str, str]]
    caption: str
    panels: list[Panel]


def plots(cards: Sequence[AuditCard], names: Sequence[str]) -> list[Plot]:
    """All plots for which at least one card has numbers."""
    drawn = [
        _tokens(cards, names, "polarity", "weight", "Weight and polarity of tokens"),
        _tokens(cards, names, "polarity", "score", "Score and polarity of tokens"),
        _tokens(cards, names, "gamma", "contribution", "Contribution of tokens and their label"),
        _permutation_by_class(cards, names),
        _pairs(cards, names, PERMUTATION),
        _agreement(cards, names, "gradient", "gradient"),
        _agreement(cards, names, "erasure-zero-weight", "erasure"),
        _random(cards, names),
        _pairs(cards, names, WIDTH),
    ]
    return [plot for plot in drawn if plot is not None and any(panel.svg for panel in plot.panels)]


def floats(columns: Mapping[str, Any], name: str) -> Floats | None:
    """A numeric column with NaN for what is missing, or None where there is no such column."""
    if name not in columns or not len(columns[name]):
        return None
    values = (finite(value) for value in columns[name])
    return np.array([np.nan if value is None else value for value in values])


def strings(columns: Mapping[str, Any], name: str, size: int) -> list[str]:
    """A column of strings; blanks where there is no such column."""
    return [str(value) for value in columns[name]] if name in columns else [""] * size


def classes(card: AuditCard) -> list[str]:
    """The labels of the examples in class order; none where they are ratings."""
    if card.facts.get("task") == "regression":
        return []
    labels = strings(card.examples, "label", 0)
    return ordered(labels, [str(label) for label in card.facts.get("labels") or []])


def group_colours(groups: Sequence[str]) -> dict[str, str]:
    """One CSS colour per token group: orange, blue and green for polarities, a palette for classes."""
    others = [group for group in groups if group not in POLARITY_COLOURS]
    palette = {group: f"--c{rank % MOST_CLASSES}" for rank, group in enumerate(others)}
    return {group: POLARITY_COLOURS.get(group) or palette[group] for group in groups}


def _thinned(size: int, most: int) -> np.ndarray:
    """Which of ``size`` points to draw: all, or a seeded choice of ``most``."""
    if size <= most:
        return np.arange(size)
    return np.sort(np.random.default_rng(0).choice(size, most, replace=False))


def near_zero(*arrays: Floats) -> tuple[float, float]:
    """Limits that show zero unless that would squeeze the points into less than half of the plot."""
    low, high = limits(*arrays)
    return limits(*arrays, zero=not (low > high - low or -high > high - low))


def _most(cards: Sequence[AuditCard]) -> int:
    return MOST_POINTS if len(cards) <= 2 else max(200, 2 * MOST_POINTS // len(cards))


AXES = {
    "polarity": "polarity o",
    "weight": f"mean weight a{CANONICAL}",
    "score": "mean score s",
    "gamma": "γ, how far the token leans to its class",
    "contribution": "mean contribution a·o",
}


def _tokens(cards: Sequence[AuditCard], names: Sequence[str], x: str, y: str, title: str) -> Plot | None:
    chosen: list[dict[str, tuple[Floats, Floats, list[str]]]] = []
    thinned = []
    for card, name in zip(cards, names, strict=True):
        across, up = floats(card.tokens, x), floats(card.tokens, y)
        groups: dict[str, tuple[Floats, Floats, list[str]]] = {}
        if across is not None and up is not None:
            words = strings(card.tokens, "token", across.size)
            kinds = np.array(strings(card.tokens, "group", across.size))
            usable = np.flatnonzero(np.isfinite(across) & np.isfinite(up) & (kinds != ""))
            kept = usable[_thinned(usable.size, _most(cards))]
            if kept.size < usable.size:
                thinned.append(f"{name}: {kept.size:,} of {usable.size:,} tokens drawn, chosen at random.")
            for kind in groups_in_order(kinds[kept].tolist()):
                members = kept[kinds[kept] == kind]
                groups[kind] = (across[members], up[members], [words[i] for i in members])
        chosen.append(groups)
    kinds_seen = groups_in_order(kind for groups in chosen for kind in groups)
    if not kinds_seen:
        return None
    colours = group_colours(kinds_seen)
    columns = [group for groups in chosen for group in groups.values()]
    ranges = (
        near_zero(*(c[0] for c in columns)),
        near_zero(*(c[1] for c in columns)),
    )
    axes = named(x, AXES, signed(*cards)), named(y, AXES, signed(*cards))
    panels = []
    for rank, (name, groups) in enumerate(zip(names, chosen, strict=True)):
        points = [
            Points(
                gx,
                gy,
                colours[kind],
                [f"{word} ({number(a)}, {number(b)})" for word, a, b in zip(words, gx, gy, strict=True)],
                [] if kind == LAST else words,
            )
            for kind in reversed(kinds_seen)
            if kind in groups
            for gx, gy, words in [groups[kind]]
        ]
        about = f"{title}, {name}: scatter of {sum(p.x.size for p in points)} tokens, {y} against {x}."
        drawing = scatter(points, f"{x}-{y}-{rank}", about, axes, ranges) if points else None
        panels.append(Panel(name, Markup(drawing) if drawing else None))
    caption = "Each point is a token type, grouped by its label in the train set; hover to read it."
    return Plot(title, [(colours[kind], kind) for kind in kinds_seen], " ".join([caption, *thinned]), panels)


def _by_class(card: AuditCard, column: str, other: str | None) -> list[Spread]:
    """One row per class, or a single one where classes are too many or unknown."""
    values = floats(card.examples, column)
    if values is None:
        return []
    second = floats(card.examples, other) if other else None
    labels = np.array(strings(card.examples, "label", values.size))
    present = classes(card)
    if not 2 <= len(present) <= MOST_CLASSES:
        return [Spread("all", values, second)]
    return [
        Spread(label, values[labels == label], None if second is None else second[labels == label])
        for label in present
    ]


def _each(cards: Sequence[AuditCard], words: str) -> str:
    """Words on classes, where there are some."""
    return words if any(map(classes, cards)) else ""


def _agreement(cards: Sequence[AuditCard], names: Sequence[str], against: str, word: str) -> Plot:
    panels, nulls, outlined = [], False, False
    for rank, (card, name) in enumerate(zip(cards, names, strict=True)):
        rows = _by_class(card, f"tau.attention.{against}", f"tau.attention-absolute.{against}")
        finding = card.finding(f"agreement.attention.{against}.all")
        null = finite(finding.null.get("random")) if finding else None
        about = f"Histograms of Kendall τ between attention and {word} by class, {name}."
        drawing = histograms(rows, f"tau-{against}-{rank}", about, "Kendall τ-b", (-1.0, 1.0), null)
        panels.append(Panel(name, Markup(drawing) if rows else None))
        nulls |= bool(rows) and null is not None
        outlined |= any(row.other is not None for row in rows)
    dashed = ", the dashed line the mean for random weights" if nulls else ""
    return Plot(
        f"Agreement of attention with {word}",
        [
            ("--accent", f"signed{CANONICAL}" if signed(*cards) else "signed"),
            *([("outline", "absolute values")] if outlined else []),
        ],
        f"Share of examples{_each(cards, ' by true class')}; the dot is the median of the signed τ{dashed}. "
        "Examples where τ is undefined are left out.",
        panels,
    )


def _permutation_by_class(cards: Sequence[AuditCard], names: Sequence[str]) -> Plot | None:
    rows = [_by_class(card, "permutation.median.absolute", None) for card in cards]
    values = [row.values for card in rows for row in card]
    if not values:
        return None
    range_ = limits(*values, zero=True)
    panels = []
    for rank, (name, spreads) in enumerate(zip(names, rows, strict=True)):
        about = f"Histograms of the median change under permutation by class, {name}."
        key = f"permuted-{rank}"
        drawing = histograms(spreads, key, about, "median |Δŷ| under permutation", range_, None)
        panels.append(Panel(name, Markup(drawing) if spreads else None))
    return Plot(
        "Permuted weights",
        [("--accent", "median |Δŷ| of a text")],
        f"Share of the texts{_each(cards, ' of each true class')}; the dot is the median.",
        panels,
    )


@dataclass(frozen=True)
class _Pair:
    """Two columns of the examples: a name, the title of their plot, and what each axis and the plot say."""

    name: str
    title: str
    columns: tuple[str, str]
    words: tuple[str, str]
    about: str


PERMUTATION = _Pair(
    "permutation",
    "Shuffling the weights",
    ("max_weight", "permutation.median.absolute"),
    ("maximum |weight| of the text", "median |Δŷ| under permutation"),
    "Median change under permutation against maximum attention",
)
WIDTH = _Pair(
    "interval-width",
    "How sure the weights are",
    ("tokens", "maps.width"),
    ("tokens of the text", "mean width of the intervals"),
    "Mean width of the intervals of the weights against the length of the text",
)


def _pairs(cards: Sequence[AuditCard], names: Sequence[str], pair: _Pair) -> Plot | None:
    pairs = [(floats(c.examples, pair.columns[0]), floats(c.examples, pair.columns[1])) for c in cards]
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    if not known:
        return None
    ranges = (limits(*(x for x, _ in known), zero=True), limits(*(y for _, y in known), zero=True))
    labels_seen = list(dict.fromkeys(label for card in cards for label in classes(card)))
    binary = len(labels_seen) == 2
    palette = (
        ["--negative", "--positive"]
        if binary
        else [f"--c{i % MOST_CLASSES}" for i in range(len(labels_seen))]
    )
    colours = dict(zip(labels_seen, palette, strict=True))
    panels, thinned, trends = [], [], False
    for rank, (card, name, (x, y)) in enumerate(zip(cards, names, pairs, strict=True)):
        if x is None or y is None:
            panels.append(Panel(name, None))
            continue
        usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        kept = usable[_thinned(usable.size, _most(cards))]
        if kept.size < usable.size:
            thinned.append(f"{name}: {kept.size:,} of {usable.size:,} examples drawn, chosen at random.")
        labels = np.array(strings(card.examples, "label", x.size))
        points = []
        for label in dict.fromkeys(labels[kept].tolist()):
            members = kept[labels[kept] == label]
            titles = [
                f"{label} ({number(a)}, {number(b)})" for a, b in zip(x[members], y[members], strict=True)
            ]
            points.append(Points(x[members], y[members], colours.get(label, "--accent"), titles))
        about = f"{pair.about}, {name}: {kept.size} examples."
        trend = _trend(x[usable], y[usable])
        trends |= trend is not None
        svg = scatter(points, f"{pair.name}-{rank}", about, pair.words, ranges, trend)
        panels.append(Panel(name, Markup(svg)))
    coloured = ", coloured by true class" if labels_seen else ""
    joined = "; the line joins the means of ten equal slices" if trends else ""
    caption = f"Each point is a text{coloured}{joined}."
    legend = [(colours[label], label) for label in labels_seen][:MOST_CLASSES]
    return Plot(pair.title, legend, " ".join([caption, *thinned]), panels)


def _trend(x: Floats, y: Floats) -> tuple[Floats, Floats] | None:
    if x.size < 50:
        return None
    order = np.argsort(x, kind="stable")
    slices = np.array_split(order, 10)
    return np.array([x[s].mean() for s in slices]), np.array([y[s].mean() for s in slices])


NOISE = (
    "Signed weights drawn from U(−1, 1) move the answer either way, often from one end to the other: the "
    "median of one text is mostly the luck of its draws, and no text may be ranked by it. On SST-2 the "
    "medians of two sets of 100 draws correlated by 0.01 (normalised: 0.71). Read the distribution."
)


def _random(cards: Sequence[AuditCard], names: Sequence[str]) -> Plot | None:
    rows = [_by_class(c, "random.median.absolute", "random-normalised.median.absolute") for c in cards]
    values = [a for card in rows for row in card for a in (row.values, row.other) if a is not None]
    if not values:
        return None
    range_ = limits(*values, zero=True)
    panels = []
    for rank, (name, spreads) in enumerate(zip(names, rows, strict=True)):
        about = f"Violins of the median change under random weights by class, {name}."
        drawing = violins(spreads, f"random-{rank}", about, "median |Δŷ| under random weights", range_)
        panels.append(Panel(name, Markup(drawing) if spreads else None))
    return Plot(
        "Random weights",
        [("--accent", "above: as in the paper"), ("--muted", "below: normalised")]
        if any(row.other is not None for card in rows for row in card)
        else [("--accent", "as in the paper")],
        f"Distribution over the texts{_each(cards, ' of each true class')}; the dots are medians."
        + (f" {NOISE}" if any(card.facts.get("signed") for card in cards) else ""),
        panels,
    )
