"""Attention weights as an explanation, and the contribution that does not depend on their sign gauge."""

from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.explainer import Explainer, ExplanationContext, register


class Attention(Explainer):
    """The weights a_i in the canonical gauge; the map is coloured by the contribution."""

    description = "attention weights (canonical sign), coloured by contribution"
    citation = "Huang, Yang and Wang 2024, section 5.2"
    reads_attention = True
    reads_weights = True

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.canonical

    def contributions(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.contributions(context.target)

    def signed(self, context: ExplanationContext) -> bool:
        return context.observation.signed


class Contribution(Explainer):
    """a_i · o_i with o_i = v_iᵀ W, exact where one attention is read out: Σ_i a_i o_i + b = z; elsewhere the
    first order of it, a ∂z/∂a."""

    description = "attention weight × what it does to the class score: the token's share of it"
    citation = "this project; polarity: Sun and Lu 2020"
    reads_attention = True

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.contributions(context.target)


register("attention", Attention())
register("contribution", Contribution())
