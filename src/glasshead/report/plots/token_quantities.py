"""Weight, score and contribution of tokens against their polarity or their label: a scatter of an audit."""

from collections.abc import Sequence

import numpy as np

from glasshead.report.colours import group_colours
from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.labels import LAST, display_name, sort_groups
from glasshead.report.marks.card_columns import floats, missing_panel, points_per_card, strings
from glasshead.report.marks.limits import Floats, near_zero
from glasshead.report.marks.scatter import Points, sample, scatter_panel
from glasshead.report.number_format import number
from glasshead.report.plot_registry import plot
from glasshead.report.run_facts import any_signed
from glasshead.results import CANONICAL_GAUGE, AuditCard

AXES = {
    "polarity": "polarity o",
    "weight": f"mean weight a{CANONICAL_GAUGE}",
    "score": "mean score s",
    "gamma": "γ, how typical the token is of its class",
    "contribution": "mean contribution a·o",
}
Group = tuple[Floats, Floats, list[str]]


@plot("token-weights", AuditCard, "plots", order=1, drawn_by="the page of 'audit'")
def token_weights(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Mean weight of each token against its polarity."""
    return token_figure(cards, names, ("polarity", "weight"), "Weight and polarity of tokens")


@plot("token-scores", AuditCard, "plots", order=2, drawn_by="the page of 'audit'")
def token_scores(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Mean score of each token against its polarity."""
    return token_figure(cards, names, ("polarity", "score"), "Score and polarity of tokens")


@plot("token-contributions", AuditCard, "plots", order=3, drawn_by="the page of 'audit'")
def token_contributions(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Mean contribution of each token against γ, its lean to one class."""
    return token_figure(cards, names, ("gamma", "contribution"), "Contribution of tokens and their label")


def token_figure(
    cards: Sequence[AuditCard], names: Sequence[str], columns: tuple[str, str], title: str
) -> Figure | None:
    """One column of the tokens against another, a panel per card; None where no card has both."""
    x, y = columns
    by_card: list[dict[str, Group]] = []
    remarks = []
    for card, name in zip(cards, names, strict=True):
        groups, drawn, known = tokens_by_group(card, columns, points_per_card(cards))
        by_card.append(groups)
        if drawn < known:
            remarks.append(f"{name}: {drawn:,} of {known:,} tokens drawn, chosen at random.")
    kinds = sort_groups(kind for groups in by_card for kind in groups)
    if not kinds:
        return None
    colours = group_colours(kinds)
    groups_of_all = [group for groups in by_card for group in groups.values()]
    limits = (
        near_zero(*(group[0] for group in groups_of_all)),
        near_zero(*(group[1] for group in groups_of_all)),
    )
    axes = display_name(x, AXES, any_signed(*cards)), display_name(y, AXES, any_signed(*cards))
    panels = []
    for name, groups in zip(names, by_card, strict=True):
        points = [
            token_points(kind, groups[kind], colours[kind]) for kind in reversed(kinds) if kind in groups
        ]
        total = sum(group.x.size for group in points)
        description = f"{title}, {name}: scatter of {total} tokens, {y} against {x}."
        panels.append(
            scatter_panel(name, points, axes, limits, description) if points else missing_panel(name)
        )
    caption = "Each point is a token type, grouped by its label in the train set"
    return Figure(
        title, panels, " ".join([f"{caption}.", *remarks]),
        [LegendEntry(colours[kind], kind, "dot") for kind in kinds], hint="Point at one to read it.",
    )  # fmt: skip


def tokens_by_group(
    card: AuditCard, columns: tuple[str, str], most: int
) -> tuple[dict[str, Group], int, int]:
    """The tokens of each group that are drawn, how many these are, and of how many."""
    across, up = (floats(card.tokens, column) for column in columns)
    if across is None or up is None:
        return {}, 0, 0
    words = strings(card.tokens, "token", across.size)
    kinds = np.array(strings(card.tokens, "group", across.size))
    usable = np.flatnonzero(np.isfinite(across) & np.isfinite(up) & (kinds != ""))
    drawn = usable[sample(usable.size, most)]
    groups = {}
    for kind in sort_groups(kinds[drawn].tolist()):
        members = drawn[kinds[drawn] == kind]
        groups[kind] = (across[members], up[members], [words[index] for index in members])
    return groups, drawn.size, usable.size


def token_points(kind: str, group: Group, colour: str) -> Points:
    """The points of one group; neutral tokens are not named."""
    across, up, words = group
    titles = [f"{word} ({number(a)}, {number(b)})" for word, a, b in zip(words, across, up, strict=True)]
    return Points(across, up, colour, titles, [] if kind == LAST else words)
