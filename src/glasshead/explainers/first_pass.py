"""The pass that predicts, kept: what is read of a single text need not run the model again."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import PAIRS, Encoded, heads_of, layers_of
from glasshead.errors import InputError
from glasshead.models import TextClassifier
from glasshead.trace import ForwardPass, RowProbe, attach_hook, forward, record, shows_attention


@dataclass(frozen=True)
class FirstPass:
    """Logits of one text and all attention calls before them, both in the autograd graph, with what watched
    the last of these calls."""

    logits: Float[Tensor, "1 classes"]
    calls: ForwardPass
    probe: RowProbe


def first_pass(model: PreTrainedModel, encoded: Encoded) -> FirstPass | None:
    """The pass over a single text; None of several texts or a long one, the maps of all layers of which would
    take too much memory, of models that show no attention, and of our own, which leave out rows that are not
    read."""
    if len(encoded.ids) != 1 or isinstance(model, TextClassifier) or not shows_attention(model):
        return None
    maps = heads_of(model.config) * layers_of(model.config)
    if maps * int(encoded.mask.sum()) ** 2 > PAIRS:
        return None
    probe = RowProbe(model, None)
    try:
        with torch.enable_grad(), attach_hook(probe), record(model, keep_graph=True) as trace:
            logits = forward(model, encoded.inputs(slice(0, 1), model.device)).logits
    except InputError:  # the pass shows none after all: whoever reads attention says so
        return None
    return FirstPass(logits, trace.only, probe) if logits.requires_grad else None
