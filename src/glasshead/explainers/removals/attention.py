"""A token is removed from the selected attention: the text stays as it is, also for all other layers."""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.explainers.attention_observation import AttentionChange
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.linear_readout import LinearReadout
from glasshead.explainers.removals.removal import Removal, register_removal


class AttentionRemoval(Removal):
    """An edit of the weights of one layer."""

    edits_attention = True

    def __init__(self, change: AttentionChange, description: str, citation: str) -> None:
        self.change, self.description, self.citation = change, description, citation

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        return context.unreadable_reason

    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        return context.observation.without(self.change, texts, removed)

    def compute_logits_of_each(self, context: ExplanationContext) -> Float[Tensor, "texts tokens classes"]:
        """Logits without each token, without special tokens too, which attention reads as any other."""
        readout, encoded = context.observation, context.encoded
        if isinstance(readout, LinearReadout) and encoded.has_larger_units:
            return self.logits_of_units(context, encoded.leads)
        return readout.without_each(self.change)


register_removal(
    "zero-weight",
    AttentionRemoval(
        "zero-weight",
        "its attention weight becomes zero, and the others stay",
        "Huang, Yang and Wang 2024, section 5.2",
    ),
)
register_removal(
    "renormalise",
    AttentionRemoval(
        "renormalise", "it gets no attention, and the others share its weight", "Jain and Wallace 2019"
    ),
)
register_removal(
    "zero-value",
    AttentionRemoval(
        "zero-value", "its value vector becomes zero in all heads of the layer", "Mohebbi et al. 2023"
    ),
)
