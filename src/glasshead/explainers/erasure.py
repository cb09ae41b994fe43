"""Leave one out: ŷ(x) − ŷ(x without token i), for four meanings of "without"."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.data import Inputs, batches, heads_of
from glasshead.errors import InputError
from glasshead.explainers.explainer import Explainer, ExplanationContext, register
from glasshead.explainers.targets import log_odds, probability, probability_change


def zero_weight(context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
    """The removed token weighs nothing, all others stay (Huang et al. 2024, section 5.2)."""
    return context.observation.zero_weight()


def renormalise(context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
    """The removed token is masked before the activation, so the other weights share its place."""
    return context.observation.renormalise()


def delete(context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
    """The token is cut out of the sequence and the model reads the rest."""

    def cut(inputs: Inputs, token: Int[Tensor, " b"]) -> Inputs:
        length = inputs["input_ids"].shape[1]
        # All positions but that of the token, which goes to the end and becomes padding.
        position = torch.arange(length, device=token.device).expand(len(token), length)
        keep = (position + (position >= token[:, None])).where(position < length - 1, token[:, None])
        shorter = {name: values.gather(1, keep) for name, values in inputs.items()}
        # Some models look for padding among the ids.
        for name, padding in (("attention_mask", 0), ("input_ids", context.tokenizer.pad_token_id)):
            shorter[name][:, -1] = padding
        return shorter

    return _logits_of_removals(context, cut)


def mask_token(context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
    """The token's id becomes that of [MASK].

    Raises:
        InputError: if the tokenizer has no mask token.
    """
    mask_id = context.tokenizer.mask_token_id
    if mask_id is None:
        raise InputError("this tokenizer has no mask token: use the method 'erasure-delete'")

    def hide(inputs: Inputs, token: Int[Tensor, " b"]) -> Inputs:
        return inputs | {"input_ids": inputs["input_ids"].scatter(1, token[:, None], mask_id)}

    return _logits_of_removals(context, hide)


@torch.inference_mode()
def _logits_of_removals(
    context: ExplanationContext, remove: Callable[[Inputs, Tensor], Inputs]
) -> Float[Tensor, "texts tokens classes"]:
    """Logits of all variants of the texts in which a token is removed; the rest stay as they were.

    Special tokens are never removed: they are no part of the text, and models are not made to read without.
    """
    removable = context.encoded.mask & torch.from_numpy(context.encoded.words >= 0)
    text, token = removable.nonzero(as_tuple=True)
    results = context.logits[:, None, :].repeat(1, context.encoded.ids.shape[1], 1)
    for variants, inputs in batches(
        context.encoded, text, context.model.device, maps=heads_of(context.model.config)
    ):
        logits = context.model(**remove(inputs, token[variants].to(context.model.device))).logits
        results[text[variants], token[variants]] = logits.cpu().to(results.dtype)
    return results


OPERATORS: dict[str, tuple[Callable[[ExplanationContext], Tensor], str]] = {
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
        self.reads_attention = operator in ("zero-weight", "renormalise")

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        logits = self.without(context)  # [t, removed, classes]
        target = context.target[:, None].expand(logits.shape[:-1])
        target_fn = log_odds if context.target_fn is probability else context.target_fn
        before, after = target_fn(context.logits, context.target)[:, None], target_fn(logits, target)
        change = probability_change(before, after) if context.target_fn is probability else before - after
        return change * context.observation.shares() if self.reads_attention else change


register("erasure", Erasure("zero-weight"))
register("erasure-renormalise", Erasure("renormalise"))
register("erasure-delete", Erasure("delete"))
register("erasure-mask-token", Erasure("mask-token"))
