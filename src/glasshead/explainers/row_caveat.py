"""What to say of a row of attention that somebody chose and the prediction does not read."""

from __future__ import annotations

from dataclasses import replace

from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.trace import READ, find_read_rows, token_layout

FIXED = ("pooled", "asked", READ)
"""Rows that nobody chose: the only one of their layer, or those of the prediction."""


def row_caveat(context: ExplanationContext) -> str | None:
    """That the row which was chosen says nothing of the prediction, in as many texts as that is so."""
    site = context.site
    if site is None or site.row in FIXED or not len(context.encoded.ids):
        return None
    model = context.model
    layout = token_layout(model, context.encoded.inputs(device=model.device), site.key_unit)
    read = find_read_rows(model, context.encoded, replace(site, row=READ))
    rows = layout.mask.shape[1]
    if read.shares is None:
        return None
    every = slice(None)
    overlap = (context.rows.of(every, layout, rows) > 0) & (read.of(every, layout, rows) > 0)
    unread = int((~overlap.any(dim=1) & layout.mask.any(dim=1)).sum())
    if not unread:
        return None
    texts = "" if unread == len(layout.mask) else f" in {unread} of {len(layout.mask)} texts"
    return (
        f"the prediction does not use the row you chose ({context.rows.in_words}){texts}; "
        f"it uses {read.in_words}"
    )
