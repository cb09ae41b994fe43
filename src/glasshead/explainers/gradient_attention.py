"""Attention weighted by its gradient, layer by layer."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.bimodal_rules import follow_streams
from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.trace import AttentionStack, StackLayer

BIMODAL = "bimodal"


class GradientAttention(StackExplainer):
    """R_ℓ = R_{ℓ−1} + Ā_ℓ R_{ℓ−1} with R_0 = I and Ā = comb_h (A_h ⊙ ∂z/∂A_h)⁺, z the score of the target;
    the result is R_L − I, without what a vector knows of its own token from the start.

    ``keeps_signs``: Ā = comb_h A_h ⊙ ∂z/∂A_h, which does not depend on the sign gauge of signed weights,
    since A and ∂z/∂A change their signs together. Through one layer it speaks for and against the target; a
    path through k layers multiplies k such signs, so that one of even length has the same sign for both of
    two classes. Therefore neither rule mirrors classes: the class that is predicted is explained, unless
    another is named. What a learned query gives begins with Ā alone.

    In a decoder, R knows of the tokens of the text from the start, by the token before each place, and
    cross-attention adds Ā_cross R_encoder; where a decoder reads an answer, R starts from nothing. With
    ``rules`` "bimodal" the two streams are followed apart, as Chefer et al. do: cross-attention adds
    R̄_decoderᵀ Ā_cross R̄_encoder (rule 10), R̄ with rows scaled to one next to the diagonal (rules 8, 9). In
    one stream both are the same.
    """

    needs_gradients = True
    mirrors_classes = False

    def __init__(self, *, keeps_signs: bool = False, bimodal: bool = False) -> None:
        self.keeps_signs, self.bimodal = keeps_signs, bimodal
        self.description = "attention × its gradient through all layers, " + (
            "with signs" if keeps_signs else "positive part"
        )
        self.citation = "Chefer, Gur and Wolf 2021" + (
            "; signs: Huang, Yang and Wang 2024, section 6" if keeps_signs else ""
        )

    def with_options(self, options: dict[str, float | str]) -> GradientAttention:
        if self.keeps_signs:
            super().with_options(options)  # raises, since it has none
        take_options(self.name, options, {"rules": BIMODAL}, (BIMODAL,))
        return GradientAttention(bimodal=True)

    def signed(self, context: ExplanationContext) -> bool:
        return self.keeps_signs

    def settings(self, context: ExplanationContext) -> str:
        words = "gradients of the target's logit against the others"
        return f"{words}; bi-modal rules" if self.bimodal else words

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        products = context.observation.contributions(context.target)
        return products if self.keeps_signs else products.clamp(min=0)

    def adds_up(self, context: ExplanationContext) -> bool:
        return super().adds_up(context) and self.keeps_signs

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        def combined(layer: StackLayer) -> Tensor:
            assert layer.gradient is not None
            products = stack.join(layer, layer.weights * layer.gradient)
            maps = stack.combine(products if self.keeps_signs else products.clamp(min=0))
            return stack.spread(layer, maps)

        def step(layer: StackLayer, states: dict[str, Tensor]) -> Tensor:
            weights = combined(layer)
            attended = weights @ states[layer.source].to(weights)
            return attended if layer.is_first else states[layer.target].to(weights) + attended

        if self.bimodal:
            return stack.read(follow_streams(stack, combined))
        result = stack.follow(step)
        own = 0.0 if stack.top.is_first else stack.start[stack.top.target].to(result)
        return stack.read(result - own)


register("gradient-attention", GradientAttention())
register("gradient-attention-signed", GradientAttention(keeps_signs=True))
