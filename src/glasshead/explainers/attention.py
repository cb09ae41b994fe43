"""Attention weights as an explanation, and the contribution that does not depend on their sign gauge."""

from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.forward_observation import canonical_weights, observe_weights
from glasshead.explainers.row_caveat import row_caveat
from glasshead.nouns import TEXTS
from glasshead.trace import LayerRecord


class Attention(Explainer):
    """The weights a_i in the canonical gauge; the map is coloured by the contribution."""

    family = "attention of one layer"
    template = "attention weights, and the contribution of each {token} where the model has one"
    description = TEXTS.fill(template)
    citation = "Huang, Yang and Wang 2024, section 5.2"
    reads_attention = True
    reads_target_fn = False
    reads_weights = True
    sign_is_gauge = True
    combines_heads = True

    def caveat(self, context: ExplanationContext) -> str | None:
        return zero_contribution_reason(context)

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.canonical

    def word_importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"] | None:
        """What each head has of the whole word, where heads are combined other than by sums."""
        site = context.site
        if site is None or site.key_unit != "token" or site.heads_add_up:
            return None
        weigh = partial(canonical_weights, context.model)
        dtype = context.logits.dtype
        return observe_weights(
            context.model, context.encoded, site, context.rows, dtype, weigh, by_word=True
        )[0]

    def contributions(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.contributions(context.target)

    def halves(
        self, context: ExplanationContext
    ) -> tuple[Float[Tensor, "texts tokens"], Float[Tensor, "texts tokens"]] | None:
        """Σ_h max(±g_h a_h, 0) / H of several heads in the canonical gauge g: heads of two signs cancel in
        their mean."""
        site = context.site
        mixes = site is not None and site.head is None and site.num_heads > 1 and site.heads == "mean"
        if not mixes or not context.encoded.shows_halves or not context.observation.signed:
            return None
        assert site is not None
        dtype = context.logits.dtype
        functions = [partial(canonical_half, context.model, sign) for sign in (1.0, -1.0)]
        positive, negative = observe_weights(
            context.model, context.encoded, site, context.rows, dtype, *functions
        )
        return positive, negative

    def signed(self, context: ExplanationContext) -> bool:
        return context.observation.signed


def canonical_half(
    model: PreTrainedModel, sign: float, layer: LayerRecord, pairs: Bool[Tensor, "r q k"]
) -> Float[Tensor, "r h q k"]:
    """The weights of one sign in the canonical gauge of each head, as sizes."""
    return (sign * canonical_weights(model, layer, pairs)).clamp(min=0)


class Contribution(Explainer):
    """a_i · o_i with o_i = v_iᵀ W, exact where one attention is read out: Σ_i a_i o_i + b = z; elsewhere the
    first order of it, a ∂z/∂a."""

    family = "attention of one layer"
    template = "attention weight × its effect on the class score: the contribution of the {token}"
    description = TEXTS.fill(template)
    citation = "this project; polarity: Sun and Lu 2020"
    reads_attention = True
    reads_target_fn = False

    def caveat(self, context: ExplanationContext) -> str | None:
        return zero_contribution_reason(context)

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.contributions(context.target)


def zero_contribution_reason(context: ExplanationContext) -> str | None:
    """Why no contribution is other than 0: nothing after this layer reads the row."""
    if context.site is None or not len(context.encoded.ids) or row_caveat(context) is not None:
        return None
    if context.observation.contributions(context.target)[context.encoded.mask].any():
        return None
    return (
        f"the prediction does not depend on what was read ({context.reading}), so all contributions "
        "are 0: choose another row or layer"
    )


register("attention", Attention())
register("contribution", Contribution())
