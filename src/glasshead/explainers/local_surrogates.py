"""LIME and KernelSHAP, by Captum: a linear model of what removing tokens does to one prediction."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any
from zlib import crc32

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from glasshead.data import batches
from glasshead.errors import InputError
from glasshead.explainers.embedding_path import rows_that_fit
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.removals import removable
from glasshead.explainers.targets import value_change
from glasshead.random_numbers import use_seed

SAMPLES_PER_TOKEN, LEAST_SAMPLES = 30, 200
ROWS_AT_ONCE = 64
Kept = Float[Tensor, "rows tokens"]


class LocalSurrogate(Explainer):
    """The coefficients of a linear model of ŷ over which tokens are kept, fitted on random removals.

    Removed tokens become [MASK], or the unknown or padding token where there is no such; special tokens stay.
    Draws are seeded by the tokens of the text alone.
    """

    family = "local surrogates"
    package = "captum"

    @abstractmethod
    def surrogate(self, forward: Callable[[Kept], Tensor]) -> Any:
        """Captum's method for a function of which tokens are kept."""

    def settings(self, context: ExplanationContext) -> str:
        return (
            f"{SAMPLES_PER_TOKEN} samples per token, at least {LEAST_SAMPLES}; removed tokens become "
            f"{replacement(context.tokenizer)[0]}"
        )

    def own_removal(self, context: ExplanationContext) -> str | None:
        tokenizer = context.tokenizer
        if tokenizer.mask_token_id is not None:
            return "mask-token"
        return None if tokenizer.unk_token_id is None else "unknown-token"

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
        if not {"mask-token", "unknown-token"} & {*context.encoded.removals}:
            raise InputError(
                f"{self.name!r} puts tokens in the place of words, and {context.encoded.nouns.texts} have "
                f"none: use {context.encoded.erasure!r}"
            )
        _, token_id = replacement(context.tokenizer)
        for text, places in enumerate(map(torch.Tensor.nonzero, removable(context))):
            tokens = places[:, 0]
            if len(tokens):
                result[text, tokens] = self._coefficients(context, text, tokens, token_id).to(result.dtype)
        return result

    def _coefficients(
        self, context: ExplanationContext, text: int, tokens: Tensor, token_id: int
    ) -> Float[Tensor, " tokens"]:
        import captum.attr

        encoded = context.encoded
        _, inputs = next(batches(encoded, torch.tensor([text]), context.model.device))
        together = (encoded.owner[text] == tokens[:, None]) & encoded.mask[text]  # what goes with each
        together = together[:, : inputs["input_ids"].shape[1]].float()

        @torch.inference_mode()
        def change(kept: Kept) -> Float[Tensor, " rows"]:
            """ŷ with these tokens kept, minus ŷ."""
            rows = {name: values.expand(len(kept), -1) for name, values in inputs.items()}
            gone = (kept < 0.5).float() @ together.to(kept.device) > 0
            ids = rows["input_ids"].masked_fill(gone.to(inputs["input_ids"].device), token_id)
            logits = context.model(**rows | {"input_ids": ids}).logits.cpu()
            before = context.logits[text].expand_as(logits)
            return -value_change(context.target_fn, before, logits, context.target[text].expand(len(kept)))

        kept = torch.ones(1, len(tokens))
        if len(tokens) == 1:  # Captum's samplers divide by the number of tokens less one
            return captum.attr.FeatureAblation(change).attribute(kept, baselines=0.0)[0].detach()
        ids = inputs["input_ids"][0].cpu()
        with use_seed(crc32(ids.numpy().tobytes())):
            coefficients: Tensor = self.surrogate(change).attribute(
                kept,
                baselines=0.0,
                n_samples=max(SAMPLES_PER_TOKEN * len(tokens), LEAST_SAMPLES),
                perturbations_per_eval=rows_that_fit(context, text, ROWS_AT_ONCE),
            )
        return coefficients[0].detach()


class Lime(LocalSurrogate):
    """Every token is kept with probability ½; samples weigh exp(−d²/2), d = 1 − cosine(kept, all), and the
    linear model is fitted by ridge regression (α = 1), as in the package of its authors."""

    description = "coefficients of a ridge regression on random removals near the text, by Captum"
    citation = "Ribeiro, Singh and Guestrin 2016"

    def surrogate(self, forward: Callable[[Kept], Tensor]) -> Any:
        import captum.attr
        from captum._utils.models.linear_model import SkLearnRidge

        return captum.attr.Lime(forward, interpretable_model=SkLearnRidge(alpha=1.0))


class KernelShap(LocalSurrogate):
    """Least squares under the Shapley kernel: an estimate of the Shapley values of the tokens, which add up
    to ŷ(x) minus ŷ of the text without any."""

    description = "Shapley values of removing tokens, estimated by weighted least squares, by Captum"
    citation = "Lundberg and Lee 2017"

    def surrogate(self, forward: Callable[[Kept], Tensor]) -> Any:
        import captum.attr

        return captum.attr.KernelShap(forward)


register("captum:lime", Lime())
register("captum:kernel-shap", KernelShap())


def replacement(tokenizer: PreTrainedTokenizerBase) -> tuple[str, int]:
    """The token that stands for a removed one, and its id.

    Raises:
        InputError: if the tokenizer has none.
    """
    for token, token_id in (
        (tokenizer.mask_token, tokenizer.mask_token_id),
        (tokenizer.unk_token, tokenizer.unk_token_id),
        (tokenizer.pad_token, tokenizer.pad_token_id),
    ):
        if token_id is not None:
            return str(token), token_id
    raise InputError(
        "this tokenizer has no token that could stand for a removed one: use the method 'erasure-delete'"
    )
