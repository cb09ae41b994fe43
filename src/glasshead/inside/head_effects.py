"""What each head adds to the logit that a language model makes largest, before many texts at once."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.huggingface import TaskModel, arithmetic_of
from glasshead.inside.direct_path import direct_path


def predicts_next_tokens(model: PreTrainedModel) -> bool:
    """Whether every token of a text has a prediction: that of the next token."""
    return isinstance(model, TaskModel) and model.predicts_next_tokens


def head_effects(model: PreTrainedModel, inputs: Inputs) -> dict[int, Float[Tensor, "b h"]]:
    """By attention call, what each head adds by the direct path to z_t − mean_v z_v of each text, t being
    its predicted token. What a head adds to all logits alike changes no probability.

    Raises:
        InputError: if the model has no list of layers with attention.
    """
    with direct_path(model, (), torch.promote_types(arithmetic_of(model), torch.float32)) as path:
        logits = model(**inputs).logits
    score = (logits.amax(dim=-1) - logits.mean(dim=-1)).sum()
    slopes = torch.autograd.grad(
        score, [one.weights for one in path.heads], allow_unused=True, materialize_grads=True
    )
    return {
        one.call: (one.weights * slope).sum(dim=(2, 3)).detach()
        for one, slope in zip(path.heads, slopes, strict=True)
    }
