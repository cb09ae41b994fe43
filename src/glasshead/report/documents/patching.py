"""Exchanges of activations: which sites matter, the largest changes first."""

from glasshead.report.document import Column, Document, Row, Sentence, cell, columns, conclusion_blocks, table
from glasshead.report.number_format import DASH, interval, number
from glasshead.results import PatchedSite, Patching

MOST = 12
"""So many sites stand in the table."""
SITES = {
    "heads": "a head at all tokens",
    "residual": "the stream before a layer at one token",
    "attention": "what all heads of a layer add at one token",
    "mlp": "what the MLP of a layer adds at one token",
}


def patching_document(patching: Patching) -> Document:
    """The conclusion, and the sites that change most."""
    sites = sorted(patching.sites, key=lambda site: -abs(site.change))
    rows: list[Row] = [
        (cell(site.name, tone="strong" if site.is_shown else "plain"), *site_cells(site))
        for site in sites[:MOST]
    ]
    head = [
        Column("site", "name"),
        *columns((), ("change", "95 %", "share", patching.facts["null"] or "null", "p")),
    ]
    more = len(sites) - len(rows)
    rest = f" {more:,} more sites change less." if more > 0 else ""
    return [
        *conclusion_blocks(patching.conclusion),
        Sentence(f"{what_was_done(patching)}{rest}", "quiet"),
        table(head, rows, "Sites by how much they change"),
    ]


def site_cells(site: PatchedSite) -> tuple[str, ...]:
    """The numbers of a site."""
    return (
        number(site.change),
        DASH if site.interval is None else interval(site.interval),
        site.share_in_words or DASH,
        DASH if site.null is None else number(site.null),
        DASH if site.pvalue is None else number(site.pvalue),
    )


def what_was_done(patching: Patching) -> str:
    """What was put where, in a sentence."""
    facts = patching.facts
    unit = facts["unit"]
    put, instead = {
        ("pair", "denoise"): ("corrupted", "those of the clean one"),
        ("pair", "noise"): ("clean", "those of the corrupted one"),
        ("zero", ""): ("clean", "zeros"),
        ("mean", ""): ("clean", "their mean over clean texts of this length"),
        ("resample", ""): ("clean", "those of another clean text"),
    }[(facts["source"], facts["direction"])]
    by = f"; only {facts['into']} see it, and all heads between are held constant" if facts["into"] else ""
    of = " of the answer" if unit.startswith("log-") else ""
    to = ", to first order" if facts["method"] == "attribution" else ""
    beyond = {
        "another pair": ", or of none beyond that of another pair",
        "random change": ", or of none beyond that of a random change of the same size",
        "": "",
    }[facts["null"]]
    return (
        f"Exchanged: activations of the {put} text for {instead}{to}, each time {SITES[facts['sites']]}{by}. "
        f"A change is that of the {unit}{of}. p, corrected for all sites, is that of no "
        f"change{beyond}. Shown, in bold or with a frame: p is at most 0.05 and the share is above 1 %, by "
        "its 95 % interval."
    )
