"""A token is removed from the text that the model reads: cut out, or replaced by another."""

from abc import abstractmethod
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.data import Encoded, Inputs, batches, heads_of, length_of
from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.removals.removal import Removal, register_removal
from glasshead.huggingface import class_name

TOKENS_PER_CHUNK = 4_000_000
"""Tokens of variants that are written out at once, which bounds memory for long texts."""


class InputRemoval(Removal):
    """The model reads another input."""

    @abstractmethod
    def variants(
        self,
        context: ExplanationContext,
        encoded: Encoded,
        removed: Bool[Tensor, "variants tokens"],
    ) -> Encoded:
        """Encoded texts without their sets of tokens."""

    @torch.no_grad()
    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        model = context.model
        result = context.logits.new_zeros(len(texts), context.logits.shape[1])
        step = max(TOKENS_PER_CHUNK // max(removed.shape[1], 1), 1)
        done, total = 0, len(texts.unique())
        for start in range(0, len(texts), step):
            some = slice(start, start + step)
            variants = self.variants(context, context.encoded.take(texts[some]), removed[some])
            for rows, inputs in batches(variants, device=model.device, maps=heads_of(model.config)):
                result[start + rows] = logits_of_rest(context, inputs).cpu().to(result.dtype)
                done += len(rows)
                context.progress(done * total / len(texts), total)
        return result


def logits_of_rest(context: ExplanationContext, inputs: Inputs) -> Float[Tensor, "b classes"]:
    """What the model says of changed texts.

    Raises:
        InputError: if they are too short for it, where the whole ones are not.
    """
    try:
        logits: Tensor = context.model(**inputs).logits
    except (RuntimeError, IndexError) as error:
        left, full = length_of(inputs), int(context.encoded.mask.sum(dim=1).min())
        if left >= full or isinstance(error, torch.OutOfMemoryError):
            raise
        raise InputError(
            f"{class_name(context.model)} fails on a text of {left} "
            "tokens, as left after "
            "a deletion: use the method "
            "'erasure-zero-value'"
        ) from error
    return logits


class Delete(InputRemoval):
    """x₋S: the text without the tokens, shorter by so many."""

    description = "it is cut out, and the model reads the rest"
    citation = "Li, Monroe and Jurafsky 2016"

    def variants(
        self, context: ExplanationContext, encoded: Encoded, removed: Bool[Tensor, "variants tokens"]
    ) -> Encoded:
        # A stable sort moves what is removed behind all that stays, in order.
        order = removed.long().argsort(dim=1, stable=True)
        gone = removed.gather(1, order)
        ids = encoded.ids.gather(1, order).masked_fill(gone, context.tokenizer.pad_token_id or 0)
        return replace(
            encoded,
            ids=ids,
            mask=encoded.mask.gather(1, order) & ~gone,
            types=None if encoded.types is None else encoded.types.gather(1, order).masked_fill(gone, 0),
            question=None if encoded.question is None else encoded.question.gather(1, order),
        )


class Replace(InputRemoval):
    """The token's id becomes that of a special token of the tokenizer."""

    citation = "DeYoung et al. 2020; Hase, Xie and Bansal 2021"

    def __init__(self, token: str, what: str) -> None:
        self.token, self.what = token, what
        self.description = f"it becomes {what}"

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        reason = super().unsupported_reason(context)
        if reason is None and getattr(context.tokenizer, f"{self.token}_id") is None:
            return f"this tokenizer has no {self.what}: use the method 'erasure-delete'"
        return reason

    def variants(
        self, context: ExplanationContext, encoded: Encoded, removed: Bool[Tensor, "variants tokens"]
    ) -> Encoded:
        return replace(
            encoded, ids=encoded.ids.masked_fill(removed, getattr(context.tokenizer, f"{self.token}_id"))
        )


register_removal("delete", Delete())
register_removal("mask-token", Replace("mask_token", "[MASK]"))
register_removal("unknown-token", Replace("unk_token", "[UNK]"))
