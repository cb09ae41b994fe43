"""A patch is removed from the image that the model reads: painted over, or hidden from all attention."""

from contextlib import AbstractContextManager
from typing import cast

from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.attention import AttentionInputs
from glasshead.data import Encoded, EncodedImages, EncodedTextsWithImages, Fill, Inputs
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.forward_observation import renormalise_weights
from glasshead.explainers.removals.photo import lack_pixels, logits_of_painted, no_pixels
from glasshead.explainers.removals.removal import Removal, logits_edited, register_removal
from glasshead.explainers.removals.text import InputRemoval
from glasshead.huggingface import PatchClassifier
from glasshead.trace import intervene


class Paint(InputRemoval):
    """Other pixels stand where the patch was."""

    citation = "Zeiler and Fergus 2014; Fong and Vedaldi 2017"

    def __init__(self, fill: Fill, what: str) -> None:
        self.fill = fill
        self.description = f"its pixels become {what}"

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        if isinstance(context.encoded, EncodedTextsWithImages):
            return no_pixels(context)
        return super().unsupported_reason(context)

    def remark(self, context: ExplanationContext) -> str | None:
        if isinstance(context.encoded, EncodedTextsWithImages):
            words = "words have no pixels, so a removed word becomes the average word"
            return "; ".join(filter(None, (words, lack_pixels(context))))
        return None

    def no_sets_reason(self, context: ExplanationContext) -> str | None:
        reason = self.unsupported_reason(context)
        if reason is not None or not isinstance(context.encoded, EncodedTextsWithImages):
            return reason
        shared = lack_pixels(context)
        return None if shared is None else f"{shared}: use 'mean-embedding'"

    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        if isinstance(context.encoded, EncodedTextsWithImages):
            return logits_of_painted(context, texts, removed, self.fill)
        return super().compute_logits(context, texts, removed)

    def variants(
        self, context: ExplanationContext, encoded: Encoded, removed: Bool[Tensor, "variants tokens"]
    ) -> Encoded:
        return cast(EncodedImages, encoded).fill_patches(removed, self.fill)


class Hide(Removal):
    """No layer attends to it: what is read is the rest of the image, where it stands."""

    description = "no layer attends to it, and the others share its weight"
    citation = "Jain et al. 2022"

    def unsupported_reason(self, context: ExplanationContext) -> str | None:
        reason = super().unsupported_reason(context) or context.unreadable_reason
        if reason is None and cast(PatchClassifier, context.model).reads_patches:
            return (
                "this model predicts from the vectors of the patches, so none can be hidden from it: use the "
                "method 'erasure-neutral-colour'"
            )
        return reason

    def compute_logits(
        self,
        context: ExplanationContext,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        model = context.model

        def hide_removed(rows: Tensor, inputs: Inputs) -> AbstractContextManager[None]:
            gone = removed[rows].to(model.device)[:, None, None, :]

            def hide(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
                return renormalise_weights(call, gone)

            return intervene(model, hide)

        return logits_edited(context, texts, hide_removed)


register_removal("neutral-colour", Paint("neutral-colour", "the colour that the image processor subtracts"))
register_removal("mean-colour", Paint("mean-colour", "the mean colour of the image"))
register_removal("blur", Paint("blur", "the colours around it, out of focus"))
register_removal("masked", Hide())
