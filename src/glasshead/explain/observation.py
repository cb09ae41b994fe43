"""One forward pass, cached: what questions about an attention layer can be answered from by algebra."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import Activation
from glasshead.errors import InputError
from glasshead.models import PooledClassifier


@dataclass(frozen=True)
class Observation:
    """Scores s, weights a [N, n], polarity o [N, n, K'], bias b [K'] of z = Σ_i a_i o_i + b, on the CPU."""

    mask: Bool[Tensor, "texts tokens"]
    scores: Float[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    polarity: Float[Tensor, "texts tokens outputs"]
    logits: Float[Tensor, "texts classes"]
    bias: Float[Tensor, " outputs"]
    activation: Activation


@torch.inference_mode()
def observe(
    model: PreTrainedModel,
    ids: Int[Tensor, "texts tokens"],
    mask: Bool[Tensor, "texts tokens"],
    *,
    batch_size: int = 512,
) -> Observation:
    """Run the model over encoded texts, in batches, and keep what its attention output is made of.

    Raises:
        InputError: if the model has not one attention output whose parts can be seen.
    """
    if not isinstance(model, PooledClassifier):
        raise InputError(
            f"{type(model).__name__} has no single attention output to read; "
            "use the methods 'gradient' or 'erasure-delete'"
        )
    parts = [
        model(
            input_ids=ids[start : start + batch_size].to(model.device),
            attention_mask=mask[start : start + batch_size].to(model.device),
            output_attentions=True,
        )
        for start in range(0, len(ids), batch_size)
    ]
    scores, weights, polarity, logits = (
        torch.cat([getattr(part, name).cpu() for part in parts])
        for name in ("scores", "weights", "polarity", "logits")
    )
    bias = torch.zeros(polarity.shape[-1])
    if model.classifier.bias is not None:
        bias = model.classifier.bias.detach().cpu()
    return Observation(mask.cpu(), scores, weights, polarity, logits, bias.to(logits.dtype), model.activation)
