"""The tokens of every input, with what their weights and scores are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.table import lists, unit_lists
from glasshead.audits.measuring.unit_weights import draw_units
from glasshead.data import token_groups
from glasshead.explainers import LinearReadout

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView


def token_columns(view: ModelView) -> dict[str, NDArray[Any]]:
    """The tokens of every input, their groups and training counts, and every quantity; of the vocabulary's
    tokens, also where words have numbers elsewhere."""
    assert view.counts is not None  # or it has no meaning, and is not called
    groups, gamma = token_groups(view.counts, view.label_names)
    tokenizer, mask = view.explanation.tokenizer, view.token_mask
    ids = view.explanation.encoded.ids.numpy()
    special = [token for token in (tokenizer.cls_token_id, tokenizer.sep_token_id) if token is not None]
    # What stands around every text is no word of any class.
    group = np.where(np.isin(ids, special), "", groups[ids]).astype(object)
    return {
        "tokens.ids": unit_lists(ids, mask),
        "tokens.names": lists(
            [tokenizer.convert_ids_to_tokens(own.tolist()) for own in unit_lists(ids, mask)]
        ),
        "tokens.groups": unit_lists(group, mask),
        "tokens.gamma": unit_lists(gamma[ids], mask),
        "tokens.counts": unit_lists(view.counts.sum(axis=0)[ids], mask),
        **{f"tokens.{name}": unit_lists(values, mask) for name, values in quantities(view).items()},
    }  # fmt: skip


def quantities(view: ModelView) -> dict[str, AnyFloats]:
    """Every quantity per occurrence [N, n], canonical where there is a gauge.

    Scores and polarities exist where the outputs are linear in the selected weights.
    """
    observation = view.explanation.observation
    target = view.explanation.target
    if not view.binary and view.counts is not None:
        # Towards the class in which the token is likeliest, not the one that its text was taken for.
        target = torch.from_numpy(view.counts.argmax(axis=0)[view.explanation.encoded.ids.numpy()])
    columns = {}
    if isinstance(observation, LinearReadout):
        columns["score"] = observation.gauge * observation.scores.numpy()
    columns["weight"] = observation.canonical.numpy()
    if isinstance(observation, LinearReadout):
        columns["polarity"] = observation.slopes(target).numpy()
    columns["contribution"] = observation.contributions(target).numpy()
    chance = draw_units(view.token_mask, view.signed, partial(view.rng, "tokens"))
    columns["chance"] = chance.astype(np.float64)
    return columns | ({"weight-raw": observation.weights.numpy()} if view.signed else {})
