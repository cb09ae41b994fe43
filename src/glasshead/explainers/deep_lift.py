"""DeepLift, by Captum, of the models that its rules cover."""

from __future__ import annotations

from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.errors import InputError
from glasshead.explainers.embedding_path import BASELINES, EmbeddingPath, baseline_name, embedding_paths
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.explainers.targets import log_odds, probability
from glasshead.quiet import without_warnings

GAP_TOLERANCE = 0.01
"""Contributions that miss ŷ(x) − ŷ(x′) by more than this share are not DeepLift's."""
NEGLIGIBLE_GAP = 1e-4
"""A gap this small next to the contributions is rounding."""
NOT_COVERED = (
    "the rules of DeepLift do not cover this model, so its contributions would not add up; use the method "
    "'captum:integrated-gradients'"
)


class Prediction(nn.Module):
    """The explained number as a module, with its last curve as a module too: DeepLift knows no functions."""

    def __init__(self, path: EmbeddingPath) -> None:
        super().__init__()
        self.model = path.context.model
        is_probability = path.context.target_fn is probability
        self.score = partial(path.predict, log_odds if is_probability else path.context.target_fn)
        self.curve = nn.Sigmoid() if is_probability else nn.Identity()

    def forward(self, *arguments: Tensor) -> Float[Tensor, " rows"]:
        return self.curve(self.score(*arguments))


class DeepLift(Explainer):
    """Σ over a token's vector of (e − e′) times the multipliers Δout/Δin of the rescale rule, chained.

    A function that Captum has no rule for is passed by its gradient, and the contributions then do not add up
    to ŷ(x) − ŷ(x′): such a model is refused.
    """

    family = "relevance"
    description = "contributions by the rescale rule, against a baseline of padding, by Captum"
    citation = "Shrikumar, Greenside and Kundaje 2017"
    package = "captum"

    def __init__(self, baselines: str = "pad") -> None:
        self.baseline = baselines

    def with_options(self, options: dict[str, float | str]) -> DeepLift:
        return DeepLift(**take_options(self.name, options, {"baselines": self.baseline}, BASELINES))

    def settings(self, context: ExplanationContext) -> str:
        return f"against {baseline_name(context, self.baseline)}; special tokens stay"

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
        for path in embedding_paths(context, self.baseline):
            attributions, gap = self._contributions(path)
            by_token = path.by_token(attributions).to(result.dtype)
            change = float(by_token.sum()) - gap
            if abs(gap) > GAP_TOLERANCE * abs(change) + NEGLIGIBLE_GAP * float(by_token.abs().sum()):
                raise InputError(NOT_COVERED)
            result[path.text, : len(by_token)] = by_token
        return result

    def _contributions(self, path: EmbeddingPath) -> tuple[tuple[Tensor, ...], float]:
        import captum.attr

        prediction = Prediction(path).eval()
        try:
            with torch.enable_grad(), without_warnings("Setting forward, backward hooks"):
                attributions, gap = captum.attr.DeepLift(prediction).attribute(
                    path.vectors,
                    path.baselines,
                    additional_forward_args=path.arguments,
                    return_convergence_delta=True,
                )
        except (RuntimeError, AssertionError) as error:
            raise InputError(NOT_COVERED) from error
        finally:
            forget_activations(prediction)
        return attributions, float(gap)


def forget_activations(model: nn.Module) -> None:
    """Take off the modules what Captum left there."""
    for module in model.modules():
        for name in ("input", "output", "input_ref", "output_ref"):
            module.__dict__.pop(name, None)


register("captum:deep-lift", DeepLift())
