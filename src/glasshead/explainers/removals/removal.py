"""The shape of every meaning of "without": texts and sets of their tokens in, logits without them out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.data import Encoded, Inputs, batches, heads_of
from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.registry import Registry


class Removal(ABC):
    """The predictions of a model for texts without some of their tokens."""

    name: str
    description: str
    """What it does to a token, as a clause: "its attention weight becomes zero"."""
    citation: str
    edits_attention: ClassVar[bool] = False
    """Whether the selected attention is edited, and the text stays."""

    def fits(self, encoded: Encoded) -> bool:
        """Whether it applies to inputs of that kind."""
        return self.edits_attention or self.name in encoded.removals

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        """Why it has no meaning for this model or its inputs; None if it has."""
        if self.fits(context.encoded):
            return None
        if context.encoded.needs_words and self.name == "delete":
            return (
                "a language model needs a prompt, but without all "
                "its words nothing is "
                "left: use the method "
                "'erasure-mean-embedding'"
            )
        if context.encoded.asks_place and self.name == "delete":
            return (
                "deletion can remove the word in question and shifts the others: use the method "
                f"{context.encoded.erasure!r}"
            )
        return (
            f"{self.name!r} cannot remove a part of {context.encoded.nouns.texts}: use the method "
            f"{context.encoded.erasure!r}"
        )

    def no_sets_reason(self, context: ExplanationContext) -> str | None:
        """Why no set of tokens can be removed while all others stay; None: each can."""
        return self.unsupported_reason(context)

    def remark(self, context: ExplanationContext) -> str | None:
        """A remark for readers about such inputs; None: nothing."""
        return None

    def logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """Logits of variants of the texts, each without a set of tokens and the rest of their units.

        Special tokens and padding are not part of a text: the caller leaves them out of the sets.

        Raises:
            InputError: if that has no meaning for this model.
        """
        reason = self.unsupported_reason(context)
        if reason is not None:
            raise InputError(reason)
        removed = context.encoded.whole_units(removed, texts)
        return self.compute_logits(context, texts, removed)

    @abstractmethod
    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """Logits without what is removed."""

    def logits_of_each(self, context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each token alone, computed once; those of the whole text at padding."""
        if self.name not in context.logits_without_each:
            context.logits_without_each[self.name] = self.compute_logits_of_each(context)
        return context.logits_without_each[self.name]

    def compute_logits_of_each(self, context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each token; special tokens are not part of the text and stay."""
        return self.logits_of_units(context, removable(context))

    def logits_of_units(
        self, context: ExplanationContext, leads: Bool[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each unit, at all tokens of the unit, which is named by its first token; other
        tokens have the logits of the whole text."""
        text, token = leads.nonzero(as_tuple=True)
        result = context.logits[:, None, :].repeat(1, context.encoded.ids.shape[1], 1)
        result[text, token] = self.logits(context, text, one_each(token, result.shape[1])).to(result.dtype)
        owner = context.encoded.owner
        return result.gather(1, owner[..., None].expand_as(result))


@torch.no_grad()
def logits_edited(
    context: ExplanationContext,
    texts: Int[Tensor, " variants"],
    edit: Callable[[Tensor, Inputs], AbstractContextManager[None]],
) -> Float[Tensor, "variants classes"]:
    """Logits of variants of the texts, each batch within ``edit(rows, inputs)``, which changes what the model
    makes of it."""
    model = context.model
    result = context.logits.new_zeros(len(texts), context.logits.shape[1])
    done, total = 0, len(texts.unique())
    for rows, inputs in batches(context.encoded, texts, model.device, maps=heads_of(model.config)):
        with edit(rows, inputs):
            result[rows] = model(**inputs).logits.cpu().to(result.dtype)
        done += len(rows)
        context.progress(done * total / len(texts), total)
    return result


REMOVALS: Registry[Removal] = Registry("meaning of deleting", "removals")


def register_removal(name: str, removal: Removal) -> None:
    """File a removal under its name."""
    removal.name = name
    REMOVALS.register(name)(removal)


def removable(context: ExplanationContext) -> Bool[Tensor, "texts tokens"]:
    """Which tokens belong to the text itself, the first of each unit that is taken out as a whole."""
    return context.encoded.leads & torch.from_numpy(context.encoded.words >= 0)


def one_each(token: Int[Tensor, " variants"], length: int) -> Bool[Tensor, "variants tokens"]:
    """Sets of one token."""
    return token[:, None] == torch.arange(length, device=token.device)
