"""Layer-wise relevance propagation through all layers, attention included or held constant."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from glasshead.data import EncodedTextsWithImages, Inputs, heads_of, layers_of, length_of
from glasshead.errors import InputError
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.gradient import (
    fill_texts,
    lookup_shifts,
    sum_shifted,
    word_embeddings,
)
from glasshead.explainers.relevance_rules import relevance_rules
from glasshead.huggingface import class_name, has_packed_weights
from glasshead.models import PooledClassifier
from glasshead.trace import decodes_answer, slopes_of, target_score

LRP_TOLERANCE = 0.01
"""Relevance that misses the score by more than this share of it is incomplete."""


@dataclass(frozen=True)
class Relevance:
    """The relevance of every token, and that of everything by its end, summed over texts, each with the sign
    of its score: ``total`` is Σ|z|."""

    tokens: Float[Tensor, "texts tokens"]
    words: float
    places: float
    biases: float
    total: float

    @property
    def rest(self) -> float:
        """What is in none of the three, as a share."""
        return 1 - self.share(self.words) - self.share(self.places) - self.share(self.biases)

    def share(self, part: float) -> float:
        """A part of Σ|z|."""
        return part / self.total if self.total else 0.0


class LayerwiseRelevance(Explainer):
    """e_iᵀ ∂z/∂e_i, z being the score of the target, with gradients by rules instead of derivatives: a norm
    divides by a constant, f(x) is x times the constant f(x)/x, and each factor of a product gets half of its
    relevance.

    ``holds_attention``: weights of attention are constants (Ali et al.), and the relevance of words, places,
    types and biases together is z. Otherwise (Achtibat et al.) the scores have a part by the derivative of
    the activation, which leaves a rest.
    """

    family = "relevance"
    reads_target_fn = False

    def __init__(self, *, holds_attention: bool) -> None:
        self.holds_attention = holds_attention
        if holds_attention:
            self.description = "relevance passed back through all layers, with attention held constant"
            self.citation = "Ali et al. 2022"
        else:
            self.description = "relevance passed back through all layers, also through attention"
            self.citation = "Achtibat et al. 2024"

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return self.relevance(context).tokens

    def settings(self, context: ExplanationContext) -> str:
        """What is explained, and where its relevance ends, for the texts that were explained together."""
        relevance = self.relevance(context)
        places = "positions, types and the answer" if decodes_answer(context.model) else "positions and types"
        named = {
            context.encoded.nouns.tokens: relevance.share(relevance.words),
            places: relevance.share(relevance.places),
            "biases": relevance.share(relevance.biases),
            "rest": relevance.rest,
        }
        shares = ", ".join(f"{name} {round(share, 3) + 0.0:.1%}" for name, share in named.items())
        return f"relevance of the score of the target (its logit against the others), which ends in: {shares}"

    def caveat(self, context: ExplanationContext) -> str | None:
        """A pass with attention held constant, which has no rest, shows what the rest of ``attn-lrp`` may
        hide."""
        if abs(HELD.relevance(context).rest) < LRP_TOLERANCE:
            return None
        if has_packed_weights(context.model):
            why = "multiplies by quantised weights, which rounds"
        else:
            why = "has a function that the rules do not cover"
        return (
            f"{class_name(context.model)} {why}, so relevance does not add up to the score: use "
            f"'gradient-after-norm' or {context.encoded.erasure!r}"
        )

    def relevance(self, context: ExplanationContext) -> Relevance:
        """The relevance of all texts, computed once."""
        if self.name not in context.cache:
            context.cache[self.name] = self._relevance(context)
        result: Relevance = context.cache[self.name]
        return result

    def _relevance(self, context: ExplanationContext) -> Relevance:
        if isinstance(context.encoded, EncodedTextsWithImages):
            raise InputError(
                f"{self.name!r} follows relevance to word embeddings, "
                "which image tokens do not "
                "have: use 'gradient' or "
                f"{context.encoded.erasure!r}"
            )
        if isinstance(context.model, PooledClassifier):
            raise InputError(
                f"{class_name(context.model)} has one attention with one learned query, so {self.name!r} "
                "has no layers to go down: use 'contribution'"
            )
        maps = heads_of(context.model.config) * layers_of(context.model.config)
        parts = [(texts, *self._batch(context, texts, inputs)) for texts, inputs in context.in_batches(maps)]
        tokens = fill_texts(context, (part[:2] for part in parts))
        words, places, biases, total = (sum(part[2][end] for part in parts) for end in range(4))
        return Relevance(tokens, words, places, biases, total)

    def _batch(
        self, context: ExplanationContext, texts: Tensor, inputs: Inputs
    ) -> tuple[Float[Tensor, "b n"], list[float]]:
        """The relevance of the tokens of a batch, and that of all words, all places, all biases, and Σ|z|."""
        model = context.model
        weights = [
            weight
            for module in word_embeddings(model)
            if isinstance(weight := getattr(module, "weight", None), Tensor)
        ]
        if not weights:
            raise InputError(
                f"{class_name(model)} has no word embeddings to which relevance "
                "could be traced: use "
                "'gradient'"
            )
        with relevance_rules(model, weights, held_attention=self.holds_attention) as rules:
            logits = model(**inputs).logits
        shifts = lookup_shifts(model, rules.words, inputs)
        scores = target_score(logits, context.target[texts].to(logits.device))
        sign = scores.detach().sign()
        leaves = [vectors for _, vectors in rules.words]
        sources = [*leaves, rules.places, rules.biases]
        gradients = slopes_of(model, (sign * scores).sum(), sources, materialize_grads=True)
        along = [
            (leaf.detach() * g).sum(-1, keepdim=True) for leaf, g in zip(leaves, gradients, strict=False)
        ]
        tokens = sum_shifted(along, shifts, length_of(inputs)).squeeze(-1)
        ends = [sum(part.sum() for part in along), *gradients[len(leaves) :], scores.detach().abs().sum()]
        return (sign[:, None] * tokens).cpu(), [float(end) for end in ends]


HELD = LayerwiseRelevance(holds_attention=True)

register("attn-lrp", LayerwiseRelevance(holds_attention=False))
register("cp-lrp", HELD)
