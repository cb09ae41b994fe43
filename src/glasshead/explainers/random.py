"""Random importance: the explanation that every honest audit must fail."""

from zlib import crc32

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext


class Random(Explainer):
    """Independent U(−1, 1) per token, the same for the same text."""

    family = "control"
    description = "random numbers, the control that should fail an audit"
    citation = "Jain and Wallace 2019"
    reads_target_fn = False

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(context.encoded.ids.shape)
        for row, (ids, mask) in enumerate(zip(context.encoded.ids, context.encoded.mask, strict=True)):
            # Seeded by the tokens alone, so that batches and single texts agree.
            generator = torch.Generator().manual_seed(crc32(ids[mask].numpy().tobytes()))
            result[row, mask] = torch.rand(int(mask.sum()), generator=generator) * 2 - 1
        return result


register("random", Random())
