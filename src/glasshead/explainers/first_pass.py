"""The pass that predicts, kept: what is read of a single text need not run the model again."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.models import TextClassifier
from glasshead.trace import (
    ForwardPass,
    RowProbe,
    attach_hook,
    forward,
    modules_with_attention,
    record_graph_of,
)


@dataclass(frozen=True)
class FirstPass:
    """Logits of one text and all attention calls before them. The autograd graph begins at the weights of one
    call, of that ``layer``, whose output was watched."""

    logits: Float[Tensor, "1 classes"]
    calls: ForwardPass
    probe: RowProbe
    layer: int


def first_pass(model: PreTrainedModel, encoded: Encoded, layer: int | str | None = None) -> FirstPass | None:
    """The pass over a single text, with the graph of a ``layer`` (None: of the last call); None of several
    texts, of models that show no attention, and of our own, which leave out rows that are not read."""
    if len(encoded.ids) != 1 or isinstance(model, TextClassifier):
        return None
    names = modules_with_attention(model)
    if not names:
        return None
    # Modules that are called several times, or not at all, are seen in the pass.
    expected = names.index(layer) if layer in names else len(names) - 1
    watched = layer if isinstance(layer, int) and layer >= 0 else expected
    try:
        result = run_first_pass(model, encoded, watched)
        if layer is None and watched != len(result.calls) - 1:
            result = run_first_pass(model, encoded, len(result.calls) - 1)
    except InputError:  # no attention, or no such layer: the function that reads attention reports it
        return None
    return result if result.logits.requires_grad else None


def run_first_pass(model: PreTrainedModel, encoded: Encoded, layer: int) -> FirstPass:
    """One pass with the graph of one call.

    Raises:
        InputError: if it has no attention.
    """
    probe = RowProbe(model, layer)
    with torch.no_grad(), attach_hook(probe), record_graph_of(model, layer) as trace:
        logits = forward(model, encoded.inputs(slice(0, 1), model.device)).logits
    return FirstPass(logits, trace.only, probe, layer)
