"""The derivative of the prediction with respect to each token's embedding, reduced to one number."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explain.explainer import Explainer, View, register
from glasshead.explain.targets import log_odds, probability

Reduction = Callable[[Tensor, Tensor], Tensor]
REDUCTIONS: dict[str, tuple[Reduction, bool, str]] = {
    "input": (lambda g, e: (g * e).sum(dim=-1), True, "derivative along the token itself, e·∂ŷ/∂e"),
    "mean": (lambda g, e: g.mean(dim=-1), True, "mean entry of ∂ŷ/∂e"),
    "l1": (lambda g, e: g.abs().mean(dim=-1), False, "mean absolute entry of ∂ŷ/∂e"),
    "l2": (lambda g, e: g.norm(dim=-1), False, "Euclidean norm of ∂ŷ/∂e"),
}


def embedding_gradients(view: View, *, batch_size: int = 512) -> Iterator[tuple[Tensor, Tensor]]:
    """∂ŷ/∂e_i and e_i, both [b, n, d], batch after batch; nothing is detached, attention moves with e_i."""
    lookup = view.model.get_input_embeddings()
    for start in range(0, len(view.encoded.ids), batch_size):
        rows = slice(start, start + batch_size)
        with torch.enable_grad():
            embedded = lookup(view.encoded.ids[rows].to(view.model.device)).detach().requires_grad_()
            logits = view.model(
                inputs_embeds=embedded, attention_mask=view.encoded.mask[rows].to(view.model.device)
            ).logits
            # ∂ŷ = ŷ (1 − ŷ) ∂(log-odds): the softmax's own derivative is 0 as soon as ŷ rounds to 1.
            of = log_odds if view.of is probability else view.of
            value = of(logits, view.target[rows].to(logits.device))
            # Only the embeddings' gradient: parameters of the caller's model stay untouched.
            (gradient,) = torch.autograd.grad(value.sum(), embedded)
        if view.of is probability:
            gradient *= (torch.sigmoid(value) * torch.sigmoid(-value)).detach()[:, None, None]
        yield gradient.cpu(), embedded.detach().cpu()


class Gradient(Explainer):
    """``input``: e_iᵀ ∂ŷ/∂e_i; ``mean``, ``l1``: mean of (|·| of) the entries; ``l2``: Euclidean norm."""

    citation = "Atanasova et al. 2020; Li et al. 2016; Denil et al. 2014"

    def __init__(self, reduction: str) -> None:
        self.reduce, self._signed, self.description = REDUCTIONS[reduction]

    def signed(self, view: View) -> bool:
        return self._signed

    def importance(self, view: View) -> Float[Tensor, "texts tokens"]:
        return torch.cat([self.reduce(gradient, e) for gradient, e in embedding_gradients(view)])


register("gradient", Gradient("input"))
register("gradient-mean", Gradient("mean"))
register("gradient-l1", Gradient("l1"))
register("gradient-l2", Gradient("l2"))
