"""The page of exchanged activations: layers by heads or tokens in colours, and behind each cell its pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.escaping import one_line, visible
from glasshead.report.documents.patching import patching_document, what_was_done
from glasshead.report.html.environment import environment
from glasshead.report.html.packed_maps import data_script
from glasshead.report.number_format import interval, number
from glasshead.results import PatchedSite, Patching

STRONGEST = 0.85
DIGITS = 4


@dataclass(frozen=True)
class GridCell:
    """A cell of the grid."""

    site: PatchedSite | None
    column: int
    kind: str
    alpha: float
    label: str


def patching_page(patching: Patching) -> str:
    """The conclusion, the grid, the pairs of a cell, and the numbers."""
    order = range(len(patching.columns))
    if patching.facts["sites"] != "heads":
        order = order[::-1]  # as texts are read; columns count from the last token
    largest = max((abs(site.change) for site in patching.sites), default=0.0) or 1.0
    sites = {(site.layer, site.column): site for site in patching.sites}
    grid = [
        [grid_cell(sites.get((layer, column)), column, largest, patching.facts["null"]) for column in order]
        for layer in range(patching.layers)
    ]
    shown = patching.shown or sorted(patching.sites, key=lambda site: -abs(site.change))
    data = {
        "changes": [
            [[None if value is None else round(value, DIGITS) for value in row] for row in own]
            for own in patching.changes
        ],
        "first": [shown[0].layer, shown[0].column] if shown else None,
    }
    return (
        environment()
        .get_template("patching.html.j2")
        .render(
            patching=patching,
            intro=what_was_done(patching),
            axis="heads" if patching.facts["sites"] == "heads" else "tokens, counted from the last",
            titles=[patching.columns[column] for column in order],
            grid=grid,
            table=patching_document(patching)[-1],
            pairs=[
                (marked(pair.clean, pair.corrupted), marked(pair.corrupted, pair.clean), pair)
                for pair in patching.pairs
            ],
            data=Markup(data_script(data)),
        )
    )


def marked(tokens: Sequence[str], others: Sequence[str]) -> Markup:
    """A text, its tokens that differ from the other's in bold."""
    return Markup(" ").join(
        Markup("<b>{}</b>" if token != other else "{}").format(visible(one_line(token.strip())))
        for token, other in zip(tokens, others, strict=True)
    )


def grid_cell(site: PatchedSite | None, column: int, largest: float, null: str) -> GridCell:
    """A cell with its colour and what it says."""
    if site is None:
        return GridCell(None, column, "", 0.0, "")
    towards = site.change if site.share is None else site.share
    kind = "" if not site.change else "n" if towards < 0 else "p"
    said = [f"{site.name}: {number(site.change)}"]
    if site.interval is not None:
        said.append(interval(site.interval))
    if site.share is not None:
        said.append(f"{site.share_in_words} of the difference")
    if site.null is not None:
        said.append(f"{null}: {number(site.null)}")
    if site.pvalue is not None:
        said.append(f"p = {number(site.pvalue)}")
    return GridCell(site, column, kind, STRONGEST * abs(site.change) / largest, ", ".join(said))
