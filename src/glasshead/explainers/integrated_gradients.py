"""Integrated gradients, by Captum: the gradient along the way from a baseline to the text, added up."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import pluralise
from glasshead.explainers.embedding_path import (
    BASELINES,
    EmbeddingPath,
    baseline_name,
    embedding_paths,
    rows_that_fit,
)
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.trace import gradients_that_pass

PATH_STEPS = 50
LARGE_GAP = 0.05
"""From this share of ŷ(x) − ŷ(x′) on, what the steps leave out is worth a word."""


class IntegratedGradients(Explainer):
    """(e_i − e′_i)ᵀ ∫₀¹ ∂ŷ/∂e_i (x′ + α (x − x′)) dα, summed over the vector of a token; 50 Gauss-Legendre
    steps. Complete: Σ_i = ŷ(x) − ŷ(x′), but for the gap that the steps leave."""

    family = "gradients"
    description = (
        "gradients between a baseline (padding, or the neutral colour for images) and the input, by Captum"
    )
    citation = "Sundararajan, Taly and Yan 2017"
    package = "captum"

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return self._integrate(context)[0]

    def completeness_gaps(self, context: ExplanationContext) -> Float[Tensor, " texts"]:
        return self._integrate(context)[1]

    def __init__(self, n_steps: int = PATH_STEPS, baselines: str = "pad") -> None:
        self.steps, self.baseline = n_steps, baselines

    def with_options(self, options: dict[str, float | str]) -> IntegratedGradients:
        defaults = {"n_steps": self.steps, "baselines": self.baseline}
        return IntegratedGradients(**take_options(self.name, options, defaults, BASELINES))

    def settings(self, context: ExplanationContext) -> str:
        steps = pluralise(self.steps, "step")
        return f"{steps} from {baseline_name(context, self.baseline)}; special tokens stay"

    def caveat(self, context: ExplanationContext) -> str | None:
        _, gaps, changes = self._integrate(context)
        large = int((gaps.abs() > LARGE_GAP * changes.abs()).sum())
        if not large:
            return None
        return (
            f"in {large} of {len(gaps)} {context.encoded.nouns.texts} the numbers miss the change from the "
            f"baseline by more than {LARGE_GAP:.0%}: {pluralise(self.steps, 'step')} "
            f"{'is' if self.steps == 1 else 'are'} too few there, or the change is almost zero"
        )

    def _integrate(self, context: ExplanationContext) -> tuple[Tensor, Tensor, Tensor]:
        """Attributions [texts, tokens], and of each text the gap and ŷ(x) − ŷ(x′)."""
        if self.name not in context.cache:
            context.cache[self.name] = self._compute(context)
        return context.cache[self.name]

    def _compute(self, context: ExplanationContext) -> tuple[Tensor, Tensor, Tensor]:
        import captum.attr

        dtype = context.logits.dtype
        result = torch.zeros(context.encoded.mask.shape, dtype=dtype)
        gaps = torch.zeros(len(result), dtype=dtype)
        for path in embedding_paths(context, self.baseline):
            with torch.enable_grad(), gradients_that_pass(context.model):
                integrated = captum.attr.IntegratedGradients(Steps(path, self.steps))
                attributions, gap = integrated.attribute(
                    path.vectors,
                    path.baselines,
                    additional_forward_args=path.arguments,
                    n_steps=self.steps,
                    internal_batch_size=rows_that_fit(context, path.text, self.steps),
                    return_convergence_delta=True,
                )
            by_token = path.by_token(attributions).to(dtype)
            result[path.text, : len(by_token)] = by_token
            gaps[path.text] = gap.item()
        return result, gaps, result.sum(dim=1) - gaps


class Steps:
    """Predictions on the way from a baseline, which say how many of the steps are done."""

    def __init__(self, path: EmbeddingPath, steps: int) -> None:
        self.path, self.steps, self.done = path, steps, 0

    def __call__(self, *arguments: Tensor) -> Float[Tensor, " rows"]:
        """The explained number at some steps."""
        context = self.path.context
        predicted = self.path.predict(context.target_fn, *arguments)
        self.done += len(predicted)
        context.progress(self.path.text + min(self.done / self.steps, 1.0), len(context.encoded.ids))
        return predicted


register("captum:integrated-gradients", IntegratedGradients())
