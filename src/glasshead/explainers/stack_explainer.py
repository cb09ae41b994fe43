"""The shape of methods that follow a prediction through all layers of attention."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.data import Inputs
from glasshead.errors import InputError
from glasshead.explainers.explainer import Explainer
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.huggingface import class_name
from glasshead.models import PooledClassifier
from glasshead.trace import (
    AttentionSite,
    AttentionStack,
    ReadRows,
    record_stack,
    target_score,
    token_layout,
)

ReadTokens = Callable[[ExplanationContext, AttentionStack, Int[Tensor, " b"]], Float[Tensor, "b n"]]
"""(context, stack of a batch, its texts) → the numbers of its tokens."""


class StackExplainer(Explainer):
    """A method that reads the attention calls up to the chosen one (default: the last one that the
    prediction uses).

    ``relevance`` is the method: the share of every key in the selected rows of the last call [r, k]. The
    selected rows are those of every explanation by attention; the shares of sentences are in a separate
    stack.
    """

    family = "attention through all layers"
    reads_attention = True
    reads_target_fn = False
    combines_heads = True
    needs_gradients = False
    """Whether it reads ∂z/∂A of every layer, z being the score of the target."""
    needs_norms = False
    """Whether it reads the layer norms behind the calls."""

    @abstractmethod
    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        """The share of every key of the text in the selected rows of the last call."""

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        """Numbers for a classifier with one attention and one learned query: there are no layers to follow.

        Raises:
            InputError: if it does not apply.
        """
        raise InputError(
            f"{class_name(context.model)} has one attention with one learned query, so {self.name!r} "
            "has no layers to follow: use 'contribution'"
        )

    def reading(self, context: ExplanationContext) -> str | None:
        site = context.site
        if site is None:
            return None
        combined = f"{site.heads} of the heads" if site.head is None else f"head {site.head}"
        if site.head is None and not self.combines_heads:
            combined = "all heads"
        layers = f"layers 0 to {site.layer}" if site.layer else "layer 0"
        text = f"{layers} (up to {site.name}), {combined}, {self.read_in_words(context)}"
        return text if site.above is None else f"{text}, times that of the sentence"

    def read_in_words(self, context: ExplanationContext) -> str:
        """The rows of the last map that are used."""
        return context.rows.in_words

    def signed(self, context: ExplanationContext) -> bool:
        return False

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        if self.name not in context.cache:
            context.cache[self.name] = self.compute(context, self.tokens)
        result: Tensor = context.cache[self.name]
        return result

    def adds_up(self, context: ExplanationContext) -> bool:
        """Whether the number of a divided word is the sum of those of its tokens: the method is linear in the
        columns of every map."""
        return context.site is None or context.site.heads_add_up

    def word_importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        """Otherwise the result of the method on the joined columns of each word, in equal shares."""
        if context.site is None or context.site.key_unit != "token" or self.adds_up(context):
            return None  # models that pool, or pack texts and sentences, read whole words
        divided = context.has_divided_words
        result = self.importance(context).clone()
        if divided.any():
            some = context.some(divided.nonzero()[:, 0])
            words = self.compute(some, self.words)
            result[divided, : words.shape[1]] = words
        return result

    def compute(self, context: ExplanationContext, read: ReadTokens) -> Float[Tensor, "texts tokens"]:
        """The result of ``read`` on the stacks of all texts."""
        if isinstance(context.model, PooledClassifier):
            return self.explain_pooled(context)
        assert context.site is not None
        result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
        maps = context.site.num_heads * context.site.num_layers
        for texts, inputs in context.in_batches(maps):
            tokens = self._read(context, context.site, context.rows, texts, inputs, read)
            if context.site.above is not None:
                assert context.rows.above is not None
                share = self._read(context, context.site.above, context.rows.above, texts, inputs, read)
                sentences = token_layout(context.model, inputs, context.site.above.key_unit)
                tokens = tokens * share / sentences.shares(share.dtype).clamp(min=1e-9)
            result[texts, : tokens.shape[1]] = tokens.detach().cpu().to(result.dtype)
        return result

    def _read(
        self,
        context: ExplanationContext,
        site: AttentionSite,
        rows: ReadRows,
        texts: Tensor,
        inputs: Inputs,
        read: ReadTokens,
    ) -> Float[Tensor, "b n"]:
        """The numbers of a batch, from the calls below a site."""
        score = partial(_score, targets=context.target[texts]) if self.needs_gradients else None
        kept = context.first_pass
        run = None if kept is None else (kept.logits, kept.calls)
        stack = record_stack(context.model, inputs, site, rows, texts, score, norms=self.needs_norms, run=run)
        with torch.no_grad():
            return read(context, stack, texts)

    def tokens(
        self, context: ExplanationContext, stack: AttentionStack, texts: Tensor
    ) -> Float[Tensor, "b n"]:
        """The numbers of the tokens of a batch."""
        return stack.layout.tokens(self.relevance(stack))

    def words(
        self, context: ExplanationContext, stack: AttentionStack, texts: Tensor
    ) -> Float[Tensor, "b n"]:
        """The numbers of its words."""
        joined = stack.by_word(context.encoded.words[texts.numpy()].tolist())
        return stack.layout.tokens(self.relevance(joined))


def _score(logits: Tensor, targets: Tensor) -> Tensor:
    return target_score(logits, targets.to(logits.device))


def refuse_decoder(stack: AttentionStack, method: str, instead: str) -> None:
    """Raise InputError where a decoder reads what the encoder says of a text."""
    if stack.has_decoder:
        raise InputError(
            f"{class_name(stack.model)} has an encoder and a decoder, and {method!r} "
            f"is defined for one stack of layers: use {instead!r}"
        )
