"""The last attention of a model that its prediction reads: measured, where no layer is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded, longest
from glasshead.errors import InputError
from glasshead.models import PooledClassifier
from glasshead.trace.attention_site import (
    AttentionSelector,
    AttentionSite,
    find_site,
    list_attention_calls,
)
from glasshead.trace.known_states import KnownStates
from glasshead.trace.read_rows import ReadRows, WatchedPass, find_read_rows, find_rows_and_logits
from glasshead.trace.records import LayerRecord


@dataclass(frozen=True)
class ReadAttention:
    """The selected attention for some texts: where it is, and which of its rows the prediction uses.

    ``passed_over`` says that the prediction uses no later attention. ``logits`` is the output of the
    model for these texts, if it was run on all of them.
    """

    site: AttentionSite
    used: ReadRows
    passed_over: bool = False
    logits: Float[Tensor, "texts classes"] | None = None

    @property
    def rows(self) -> ReadRows:
        """The rows that are shown: a chosen one, or else those that the prediction uses."""
        return ReadRows.by_name(self.site.row, self.used.above) if self.site.row_is_chosen else self.used

    def some(self, texts: Int[Tensor, " some"]) -> ReadAttention:
        """The attention of some of the texts."""
        return replace(self, used=self.used.some(texts), logits=None)

    @property
    def note(self) -> str | None:
        """Why the last layer is not shown; None if it is, or if a layer was chosen."""
        if not self.passed_over:
            return None
        return (
            f"attention is taken from layer {self.site.layer} (of 0 to {self.site.num_layers - 1}), because "
            "no later attention changes the prediction"
        )


def find_read_attention(
    model: PreTrainedModel,
    encoded: Encoded,
    selector: AttentionSelector,
    calls: Sequence[LayerRecord] | None = None,
    watched: WatchedPass | None = None,
    among: Sequence[int] | None = None,
    known: KnownStates | None = None,
) -> ReadAttention | None:
    """The attention that a selector means for these texts, and its rows that the prediction uses; None for
    a pooled classifier. Without a layer it is the last one that the prediction uses for some text, or the
    last of all if it uses none: a classifier of the states of the second last layer does not depend on the
    attention of the last one.

    ``calls`` are those of an earlier pass, and ``watched`` is an earlier pass over these texts: the probe
    of one of its calls, and the logits. Layers are chosen ``among`` some (None: all). What is ``known``
    about texts is not computed again.

    Raises:
        InputError: as `find_site`, and if the model cannot be differentiated.
    """
    if isinstance(model, PooledClassifier):
        find_site(model, {}, selector)
        return None
    inputs = longest(encoded, model.device)
    calls = list_attention_calls(model, inputs) if calls is None else calls
    last = selector if among is None else replace(selector, layer=among[-1])
    site = find_site(model, inputs, last, calls)
    assert site is not None
    if known is not None:
        known.shortcut(model, encoded, site.layer)
    if watched is not None and watched[0].layer != site.layer:
        watched = None
    used, logits = find_rows_and_logits(model, encoded, site.measured, watched, known)
    if used.change_prediction or selector.layer is not None:
        return ReadAttention(site, used, logits=logits)
    for layer in reversed(range(site.layer) if among is None else among[:-1]):
        try:
            lower = find_site(model, inputs, replace(selector, layer=layer), calls)
        except InputError:  # it has no such row or head, or reads no text
            continue
        assert lower is not None
        used_below = find_read_rows(model, encoded, lower.measured)
        if used_below.change_prediction:
            return ReadAttention(lower, used_below, True, logits)
    return ReadAttention(site, used, logits=logits)
