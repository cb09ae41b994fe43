"""The derivative of the prediction with respect to each token's embedding, reduced to one number."""

from collections.abc import Callable, Iterator, Sequence
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


def embedding_gradients(context: ExplanationContext) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Texts [b], ∂ŷ/∂e_i and e_i, both [b, n, d], batch after batch; nothing is detached, attention moves.

    A token that the model reads twice, in its encoder and one place further in its decoder (BART, T5), has
    the sum of both gradients.

    Raises:
        InputError: if the model does not look up one vector for each token.
    """
    maps = heads_of(context.model.config) * layers_of(context.model.config)
    for rows, inputs in batches(context.encoded, device=context.model.device, maps=maps):
        with torch.enable_grad(), embedding_leaves(context.model) as lookups:
            logits = context.model(**inputs).logits
        shifted = [(leaf, shift_of(ids, inputs["input_ids"])) for ids, leaf in lookups]
        if not shifted or any(shift is None for _, shift in shifted):
            raise InputError(
                f"{type(context.model).__name__} does not look up one vector for each token of a text, so no "
                "gradient belongs to a token alone: use the method 'erasure-delete'"
            )
        # ∂ŷ = ŷ (1 − ŷ) ∂(log-odds): the softmax's own derivative is 0 as soon as ŷ rounds to 1.
        target_fn = log_odds if context.target_fn is probability else context.target_fn
        value = target_fn(logits, context.target[rows].to(logits.device))
        # Only the embeddings' gradient: parameters of the caller's model stay untouched.
        gradients = torch.autograd.grad(value.sum(), [leaf for leaf, _ in shifted])
        n = inputs["input_ids"].shape[1]
        gradient = sum_shifted(gradients, [shift or 0 for _, shift in shifted], n)
        if context.target_fn is probability:
            gradient *= (torch.sigmoid(value) * torch.sigmoid(-value)).detach()[:, None, None]
        yield rows, gradient.cpu(), shifted[0][0].detach()[:, :n].cpu()


@contextmanager
def embedding_leaves(model: PreTrainedModel) -> Iterator[list[tuple[Tensor, Tensor]]]:
    """The ids and the vectors of every look-up of word embeddings in the block; the vectors are leaves that
    gradients are taken of."""
    lookups: list[tuple[Tensor, Tensor]] = []

    def leaf(module: nn.Module, args: tuple[Tensor, ...], embedded: Tensor) -> Tensor:
        lookups.append((args[0], embedded.detach().requires_grad_()))
        return lookups[-1][1]

    hooks = [module.register_forward_hook(leaf) for module in word_embeddings(model)]
    try:
        yield lookups
    finally:
        for hook in hooks:
            hook.remove()


def word_embeddings(model: PreTrainedModel) -> list[nn.Module]:
    """The modules that know the words: the one that the model names, and those that share its vectors."""
    named = model.get_input_embeddings()
    weight = getattr(named, "weight", None)
    tied = [
        module
        for module in model.modules()
        if isinstance(module, nn.Embedding) and module is not named and module.weight is weight
    ]
    return [named, *tied]


def shift_of(ids: Tensor, input_ids: Tensor) -> int | None:
    """By how many places a look-up is behind the text: 0, or 1 in a decoder; None where it is another text.

    What a model appends to fill a window does not count.
    """
    n = input_ids.shape[1]
    if ids.shape[0] != input_ids.shape[0] or ids.shape[1] < n:
        return None
    if torch.equal(ids[:, :n], input_ids):
        return 0
    return 1 if torch.equal(ids[:, 1:n], input_ids[:, : n - 1]) else None


def sum_shifted(gradients: Sequence[Tensor], shifts: Sequence[int], n: int) -> Tensor:
    """Gradients of several look-ups of the same n tokens, added up token by token."""
    total = torch.zeros_like(gradients[0][:, :n])
    for gradient, shift in zip(gradients, shifts, strict=True):
        total[:, : n - shift] += gradient[:, shift:n]
    return total


class Gradient(Explainer):
    """``input``: e_iᵀ ∂ŷ/∂e_i; ``mean``, ``l1``: mean of (|·| of) the entries; ``l2``: Euclidean norm."""

    citation = "Atanasova et al. 2020; Li et al. 2016; Denil et al. 2014"

    def __init__(self, reduction: str) -> None:
        self.reduce, self._signed, self.description = REDUCTIONS[reduction]

    def signed(self, context: ExplanationContext) -> bool:
        return self._signed

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
        for texts, gradient, e in embedding_gradients(context):
            result[texts, : e.shape[1]] = self.reduce(gradient, e).to(result.dtype)
        return result


register("gradient", Gradient("input"))
register("gradient-mean", Gradient("mean"))
register("gradient-l1", Gradient("l1"))
register("gradient-l2", Gradient("l2"))
