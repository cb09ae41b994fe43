"""How predictions change without each word, under every type of deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.explainers import REMOVALS, removable, value_changes

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView


class RemovalChanges(NamedTuple):
    """ŷ(x) − ŷ(x without i) [N, n] by the type of deletion, and which words can be deleted [N, n]; what each
    meaning is, and why others are left out."""

    changes: dict[str, AnyFloats]
    mask: NDArray[np.bool_]
    meanings: dict[str, str]
    left_out: dict[str, str]


def removal_changes(view: ModelView) -> RemovalChanges:
    """The changes under every type of deletion that the model allows."""
    explanation = view.explanation
    reasons = {
        name: removal.unsupported_reason(explanation)
        for name, removal in REMOVALS.items()
        if removal.fits(explanation.encoded)
    }
    names = [name for name, reason in reasons.items() if reason is None]
    mask = removable(explanation).numpy()
    changes = {
        name: value_changes(explanation, REMOVALS[name].logits_of_each(explanation)).numpy() for name in names
    }
    meanings = {name: REMOVALS[name].description for name in names}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    return RemovalChanges(changes, mask, meanings, left_out)
