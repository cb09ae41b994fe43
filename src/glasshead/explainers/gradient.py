"""The derivative of the prediction with respect to each token's embedding, reduced to one number."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import batches, heads_of, layers_of
from glasshead.errors import InputError
from glasshead.explainers.explainer import Explainer, ExplanationContext, register
from glasshead.explainers.targets import log_odds, probability

Reduction = Callable[[Tensor, Tensor], Tensor]
REDUCTIONS: dict[str, tuple[Reduction, bool, str]] = {
    "input": (lambda g, e: (g * e).sum(dim=-1), True, "derivative along the token itself, e·∂ŷ/∂e"),
    "mean": (lambda g, e: g.mean(dim=-1), True, "mean entry of ∂ŷ/∂e"),
    "l1": (lambda g, e: g.abs().mean(dim=-1), False, "mean absolute entry of ∂ŷ/∂e"),
    "l2": (lambda g, e: g.norm(dim=-1), False, "Euclidean norm of ∂ŷ/∂e"),
}


def embedding_gradients(view: ExplanationContext) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Texts [b], ∂ŷ/∂e_i and e_i, both [b, n, d], batch after batch; nothing is detached, attention moves.

    Raises:
        InputError: if the model looks up the embeddings of a text more than once.
    """
    maps = heads_of(view.model.config) * layers_of(view.model.config)
    for places, inputs in batches(view.encoded, device=view.model.device, maps=maps):
        with torch.enable_grad(), leaves(view.model) as found:
            logits = view.model(**inputs).logits
        if len(found) != 1:
            raise InputError(
                f"{type(view.model).__name__} looks up embeddings {len(found)} times in a pass, so no "
                "gradient belongs to a token alone: use the method 'erasure-delete'"
            )
        # ∂ŷ = ŷ (1 − ŷ) ∂(log-odds): the softmax's own derivative is 0 as soon as ŷ rounds to 1.
        target_fn = log_odds if view.target_fn is probability else view.target_fn
        value = target_fn(logits, view.target[places].to(logits.device))
        # Only the embeddings' gradient: parameters of the caller's model stay untouched.
        (gradient,) = torch.autograd.grad(value.sum(), found[0])
        if view.target_fn is probability:
            gradient *= (torch.sigmoid(value) * torch.sigmoid(-value)).detach()[:, None, None]
        yield places, gradient.cpu(), found[0].detach().cpu()


@contextmanager
def leaves(model: PreTrainedModel) -> Iterator[list[Tensor]]:
    """Every look-up of embeddings in the block, as a leaf that gradients are taken of; ids still go in."""
    found: list[Tensor] = []

    def leaf(module: nn.Module, given: tuple[object, ...], embedded: Tensor) -> Tensor:
        found.append(embedded.detach().requires_grad_())
        return found[-1]

    hook = model.get_input_embeddings().register_forward_hook(leaf)
    try:
        yield found
    finally:
        hook.remove()


class Gradient(Explainer):
    """``input``: e_iᵀ ∂ŷ/∂e_i; ``mean``, ``l1``: mean of (|·| of) the entries; ``l2``: Euclidean norm."""

    citation = "Atanasova et al. 2020; Li et al. 2016; Denil et al. 2014"

    def __init__(self, reduction: str) -> None:
        self.reduce, self._signed, self.description = REDUCTIONS[reduction]

    def signed(self, view: ExplanationContext) -> bool:
        return self._signed

    def importance(self, view: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(view.encoded.mask.shape, dtype=view.logits.dtype)
        for texts, gradient, e in embedding_gradients(view):
            result[texts, : e.shape[1]] = self.reduce(gradient, e).to(result.dtype)
        return result


register("gradient", Gradient("input"))
register("gradient-mean", Gradient("mean"))
register("gradient-l1", Gradient("l1"))
register("gradient-l2", Gradient("l2"))
