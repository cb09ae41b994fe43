"""How predictions change without the selected heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.head_report import ablate_heads
from glasshead.trace import AttentionSite, list_attention_calls

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView


def changes_without_heads(view: ModelView) -> tuple[AnyFloats, AnyFloats, AnyFloats]:
    """|Δŷ| without the selected heads [N], without each of them [N, heads], and without all heads of each
    other layer [N, layers]."""
    explanation, site = view.explanation, view.explanation.site
    assert site is not None
    model, encoded = explanation.model, explanation.encoded
    calls = list_attention_calls(model, encoded.inputs(slice(0, 1), model.device))
    others = [(number, call.heads) for number, call in enumerate(calls) if number != site.layer]
    read = heads_read(site)
    removals = [(site.layer, read), *((site.layer, (head,)) for head in read), *others]
    texts = len(encoded.ids)
    changes = np.abs(
        ablate_heads(
            explanation, explanation.target, removals,
            lambda done, total: explanation.progress(done * texts / total, texts),
        )
    )  # fmt: skip
    changes[~view.token_mask.any(axis=1)] = np.nan
    together, alone, elsewhere = np.split(changes, [1, 1 + len(read)], axis=1)
    return together[:, 0], alone, elsewhere


def heads_read(site: AttentionSite) -> tuple[int, ...]:
    """The numbers of the heads of a layer that are read."""
    return tuple(range(site.num_heads)) if site.head is None else (site.head,)
