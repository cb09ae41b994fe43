"""Both views of a model at once, which is opened once for them."""

from __future__ import annotations

import torch

from glasshead.inside.direct import attribute
from glasshead.inside.logit_lens import predict_by_layer
from glasshead.inside.question import ask
from glasshead.requests import InsideViewRequest
from glasshead.results import LayerLens, LogitAttribution
from glasshead.torch_modes import in_own_modes


@in_own_modes
def look_inside(request: InsideViewRequest) -> tuple[LayerLens, LogitAttribution]:
    """What each layer would predict, and what each part adds to the logit.

    Raises:
        InputError: as `lens` and `logit_attribution`.
    """
    with ask(request) as question:
        found = attribute(question)
        with torch.no_grad():
            return predict_by_layer(question, request), found
