"""The shape of every meaning of "without": texts and sets of their tokens in, logits without them out."""

from abc import ABC, abstractmethod
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.registry import Registry


class Removal(ABC):
    """What a model says of texts without some of their tokens."""

    name: str
    description: str
    """What it does to a token, as a clause: "its attention weight becomes zero"."""
    citation: str
    edits_attention: ClassVar[bool] = False
    """Whether the attention that is read is edited, and the text stays."""

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        """Why it has no meaning for this model; None if it has."""
        return None

    def is_product(self, context: ExplanationContext) -> bool:
        """Whether the model need not be run again, so that it is sooner done than sent."""
        return False

    def logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """Logits of variants of the texts, each without its set of tokens.

        Special tokens and padding are no part of a text: who asks leaves them out of the sets.

        Raises:
            InputError: if that has no meaning for this model.
        """
        reason = self.unsupported_reason(context)
        if reason is not None:
            raise InputError(reason)
        if self.is_product(context):
            return self.compute_logits(context, texts, removed)
        return context.in_parts(partial(logits_without, self.name), context, texts, removed)

    @abstractmethod
    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """The same, here."""

    def logits_of_each(self, context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each token alone, computed once; those of the whole text at padding."""
        if self.name not in context.logits_without_each:
            context.logits_without_each[self.name] = self.compute_logits_of_each(context)
        return context.logits_without_each[self.name]

    def compute_logits_of_each(self, context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
        """The same; special tokens are no part of the text and stay."""
        text, token = words_of(context).nonzero(as_tuple=True)
        result = context.logits[:, None, :].repeat(1, context.encoded.ids.shape[1], 1)
        result[text, token] = self.logits(context, text, one_each(token, result.shape[1])).to(result.dtype)
        return result


REMOVALS: Registry[Removal] = Registry("meaning of deleting")


def register(name: str, removal: Removal) -> None:
    """File a removal under its name."""
    removal.name = name
    REMOVALS.register(name)(removal)


def logits_without(
    name: str,
    context: ExplanationContext,
    texts: Int[Tensor, " variants"],
    removed: Bool[Tensor, "variants tokens"],
) -> Float[Tensor, "variants classes"]:
    """Logits of variants by the removal of that name, which other computers know too."""
    return REMOVALS[name].compute_logits(context, texts, removed)


def words_of(context: ExplanationContext) -> Bool[Tensor, "texts tokens"]:
    """Which tokens belong to the text itself."""
    return context.encoded.mask & torch.from_numpy(context.encoded.words >= 0)


def one_each(token: Int[Tensor, " variants"], length: int) -> Bool[Tensor, "variants tokens"]:
    """Sets of one token."""
    return token[:, None] == torch.arange(length, device=token.device)
