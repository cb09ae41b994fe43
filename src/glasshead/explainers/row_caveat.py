"""Remarks on a row of attention that somebody chose and the prediction does not read."""

from __future__ import annotations

from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.trace import token_layout


def row_caveat(context: ExplanationContext) -> str | None:
    """That the row which was chosen says nothing of the prediction, in as many texts as that is so."""
    site = context.site
    if site is None or not site.row_is_chosen or not len(context.encoded.ids):
        return None
    assert context.attention is not None
    used = context.attention.used
    if used.shares is None:
        return None
    model = context.model
    layout = token_layout(model, context.encoded.inputs(device=model.device), site.key_unit)
    rows = layout.mask.shape[1]
    every = slice(None)
    overlap = (context.rows.of(every, layout, rows) > 0) & (used.of(every, layout, rows) > 0)
    unread = int((~overlap.any(dim=1) & layout.mask.any(dim=1)).sum())
    if not unread:
        return None
    texts = (
        ""
        if unread == len(layout.mask)
        else f" in {unread} of {len(layout.mask)} {context.encoded.nouns.texts}"
    )
    return (
        f"the prediction does not use the row you chose ({context.rows.in_words})"
        f"{'' if unread == len(layout.mask) else texts}; "
        f"it uses {used.in_words}"
    )
