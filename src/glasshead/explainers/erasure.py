"""Leave one out: ŷ(x) − ŷ(x without token i), for every type of deletion."""

from jaxtyping import Float
from torch import Tensor

from glasshead.data import EncodedImages
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.removals import REMOVALS
from glasshead.explainers.targets import value_change
from glasshead.nouns import TEXTS, Nouns


class Erasure(Explainer):
    """ŷ(x) − ŷ(x₋ᵢ): positive where the token speaks for the target."""

    family = "erasure"
    citation = "Li, Monroe and Jurafsky 2016; Jain and Wallace 2019"

    def __init__(self, removal: str) -> None:
        self.removal = REMOVALS[removal]
        self.description = self.describe(TEXTS)
        self.reads_attention = self.removal.edits_attention
        self.for_images = removal in EncodedImages.edits

    def describe(self, nouns: Nouns) -> str:
        return f"change of ŷ when the {nouns.token} is removed: {self.removal.description}"

    def own_removal(self, context: ExplanationContext) -> str:
        return self.removal.name

    def caveat(self, context: ExplanationContext) -> str | None:
        return self.removal.remark(context)

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        change = value_changes(context, self.removal.logits_of_each(context))
        change = change * context.encoded.shares.to(change)
        return change * context.observation.shares() if self.reads_attention else change


def value_changes(
    context: ExplanationContext, logits: Float[Tensor, "texts variants classes"]
) -> Float[Tensor, "texts variants"]:
    """ŷ(x) − ŷ of variants of each text."""
    target = context.target[:, None].expand(logits.shape[:-1])
    return value_change(context.target_fn, context.logits[:, None].expand_as(logits), logits, target)


register("erasure", Erasure("zero-weight"))
for name in REMOVALS:
    if name != "zero-weight":
        register(f"erasure-{name}", Erasure(name))
