"""Leave one out: ŷ(x) − ŷ(x without token i), for four meanings of "without"."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError
from glasshead.explain.explainer import Explainer, View, register
from glasshead.explain.targets import log_odds, probability, probability_change
from glasshead.models import as_logits

# Elements of the largest intermediate; a batch is cut so that memory stays bounded at any length.
BUDGET = 8_000_000


def zero_weight(view: View) -> Float[Tensor, "texts tokens classes"]:
    """z − a_i o_i: the removed token weighs nothing, all others stay (Huang et al. 2024, section 5.2)."""
    seen = view.observation
    # Subtracting o·a from z − b, not from the logits: the binary logit of class 0 stays 0.
    outputs = torch.einsum("tk,tko->to", seen.weights, seen.polarity) + seen.bias
    return as_logits(outputs[:, None, :] - seen.weights[..., None] * seen.polarity)


def renormalise(view: View) -> Float[Tensor, "texts tokens classes"]:
    """The removed token is masked before the activation, so the other weights share its place."""
    seen = view.observation
    n = seen.mask.shape[1]
    others = ~torch.eye(n, dtype=torch.bool)
    step = max(BUDGET // (n * n), 1)
    results = []
    for start in range(0, len(seen.mask), step):
        rows = slice(start, start + step)
        mask = seen.mask[rows, None, :] & others  # [t, removed, tokens]
        weights = seen.activation.weights(seen.scores[rows, None, :].expand(mask.shape), mask)
        results.append(as_logits(weights @ seen.polarity[rows] + seen.bias))
    return torch.cat(results)


def delete(view: View) -> Float[Tensor, "texts tokens classes"]:
    """The token is cut out of the sequence and the model reads the rest."""
    ids, mask = view.encoded.ids, view.encoded.mask
    n = ids.shape[1]
    # Row i of `keep` lists all positions but i; the freed place at the end becomes padding.
    keep = torch.stack(
        [torch.cat([torch.arange(i), torch.arange(i + 1, n), torch.tensor([i])]) for i in range(n)]
    )
    last = torch.arange(n) < n - 1
    return _every_removal(view, ids[:, keep], mask[:, keep] & last)


def mask_token(view: View) -> Float[Tensor, "texts tokens classes"]:
    """The token's id becomes that of [MASK].

    Raises:
        InputError: if the tokenizer has no mask token.
    """
    if view.tokenizer.mask_token_id is None:
        raise InputError("this tokenizer has no mask token: use the method 'erasure-delete'")
    ids, mask = view.encoded.ids, view.encoded.mask
    n = ids.shape[1]
    replaced = torch.where(torch.eye(n, dtype=torch.bool), view.tokenizer.mask_token_id, ids[:, None, :])
    return _every_removal(view, replaced, mask[:, None, :].expand(replaced.shape))


@torch.inference_mode()
def _every_removal(view: View, ids: Tensor, mask: Tensor) -> Float[Tensor, "texts tokens classes"]:
    """Logits of all [t, removed, tokens] variants that remove a real token; the rest stay as they were."""
    real = view.encoded.mask
    wanted_ids, wanted_mask = ids[real], mask[real]
    step = max(BUDGET // (100 * ids.shape[-1]), 1)
    results = view.logits[:, None, :].repeat(1, ids.shape[1], 1)
    parts = [
        view.model(
            input_ids=wanted_ids[start : start + step].to(view.model.device),
            attention_mask=wanted_mask[start : start + step].to(view.model.device),
        ).logits.cpu()
        for start in range(0, len(wanted_ids), step)
    ]
    if parts:
        results[real] = torch.cat(parts).to(results.dtype)
    return results


OPERATORS: dict[str, tuple[Callable[[View], Tensor], str]] = {
    "zero-weight": (zero_weight, "change of ŷ when the token's attention weight becomes zero"),
    "renormalise": (renormalise, "change of ŷ when attention may not go to the token"),
    "delete": (delete, "change of ŷ when the token is cut out"),
    "mask-token": (mask_token, "change of ŷ when the token becomes [MASK]"),
}


class Erasure(Explainer):
    """ŷ(x) − ŷ(x₋ᵢ): positive where the token speaks for the target."""

    citation = "Li, Monroe and Jurafsky 2016; Jain and Wallace 2019"

    def __init__(self, operator: str) -> None:
        self.without, self.description = OPERATORS[operator]

    def importance(self, view: View) -> Float[Tensor, "texts tokens"]:
        logits = self.without(view)  # [t, removed, classes]
        target = view.target[:, None].expand(logits.shape[:-1])
        of = log_odds if view.of is probability else view.of
        before, after = of(view.logits, view.target)[:, None], of(logits, target)
        return probability_change(before, after) if view.of is probability else before - after


register("erasure", Erasure("zero-weight"))
register("erasure-renormalise", Erasure("renormalise"))
register("erasure-delete", Erasure("delete"))
register("erasure-mask-token", Erasure("mask-token"))
