"""What a classifier is trained to make small: one function of logits and classes each."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.registry import Registry

Loss = Callable[[Tensor, Tensor], Tensor]
LOSSES: Registry[Loss] = Registry("loss")
USUAL_LOSS = "cross-entropy"


@LOSSES.register(USUAL_LOSS)
def cross_entropy(logits: Float[Tensor, "b k"], labels: Int[Tensor, " b"]) -> Float[Tensor, ""]:
    """ℓ = −log p_y, a mean over texts."""
    return torch.nn.functional.cross_entropy(logits, labels)


@LOSSES.register("squared")
def squared_error(logits: Float[Tensor, "b k"], labels: Int[Tensor, " b"]) -> Float[Tensor, ""]:
    """ℓ = ½ Σ_k (p_k − I[k = y])², a mean over texts; (σ(z) − y)² for two classes."""
    truth = torch.nn.functional.one_hot(labels, logits.shape[1])
    return (logits.softmax(dim=1) - truth).square().sum(dim=1).mean() / 2


@LOSSES.register("hinge")
def hinge(logits: Float[Tensor, "b k"], labels: Int[Tensor, " b"]) -> Float[Tensor, ""]:
    """ℓ = max(0, 1 + max_{k ≠ y} z_k − z_y), a mean over texts (Crammer and Singer 2001)."""
    own = logits.gather(1, labels[:, None])[:, 0]
    others = logits.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
    return (1 + others - own).clamp(min=0).mean()
