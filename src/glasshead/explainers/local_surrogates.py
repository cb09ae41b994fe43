"""LIME and KernelSHAP, by Captum: a linear model of what removing tokens does to one prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any
from zlib import crc32

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from glasshead.data import batches
from glasshead.errors import InputError, pluralise
from glasshead.explainers.embedding_path import rows_that_fit
from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
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

    def __init__(self, n_samples: int | None = None, baselines: str | None = None) -> None:
        self.samples, self.baseline = n_samples, baselines

    def with_options(self, options: dict[str, float | str]) -> LocalSurrogate:
        defaults = {"n_samples": self.samples or LEAST_SAMPLES, "baselines": self.baseline or "mask"}
        own = take_options(self.name, options, defaults, ("mask", "unk", "pad"))
        return type(self)(**{name: own[name] for name in options})

    def samples_of(self, tokens: int) -> int:
        """How many samples a text of so many tokens gets.

        Raises:
            InputError: if so few were chosen that no linear model of the tokens can be fitted.
        """
        if self.samples is not None and 1 < tokens > self.samples - 2:
            raise InputError(
                f"{pluralise(self.samples, 'sample')} cannot rank {tokens} tokens: 'n_samples' has to be at "
                f"least {tokens + 2}, two more than the tokens"
            )
        return self.samples or max(SAMPLES_PER_TOKEN * tokens, LEAST_SAMPLES)

    @abstractmethod
    def surrogate(self, forward: Callable[[Kept], Tensor]) -> Any:
        """Captum's method for a function of which tokens are kept."""

    def settings(self, context: ExplanationContext) -> str:
        samples = (
            f"{SAMPLES_PER_TOKEN} samples per token, at least {LEAST_SAMPLES}"
            if self.samples is None
            else pluralise(self.samples, "sample")
        )
        return f"{samples}; removed tokens become {replacement(context.tokenizer, self.baseline)[0]}"

    def own_removal(self, context: ExplanationContext) -> str | None:
        removals = {"mask": "mask-token", "unk": "unknown-token"}
        names = removals if self.baseline is None else {self.baseline} & {*removals}
        known = (name for name in names if getattr(context.tokenizer, f"{name}_token_id") is not None)
        return next((removals[name] for name in known), None)

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
        if not {"mask-token", "unknown-token"} & {*context.encoded.removals}:
            raise InputError(
                f"{self.name!r} replaces words by tokens, but {context.encoded.nouns.texts} have none: use "
                f"{context.encoded.erasure!r}"
            )
        _, token_id = replacement(context.tokenizer, self.baseline)
        for text, places in enumerate(map(torch.Tensor.nonzero, removable(context))):
            tokens = places[:, 0]
            if len(tokens):
                result[text, tokens] = self._coefficients(context, text, tokens, token_id).to(result.dtype)
            context.progress(text + 1, len(result))
        return result

    def _coefficients(
        self, context: ExplanationContext, text: int, tokens: Tensor, token_id: int
    ) -> Float[Tensor, " tokens"]:
        import captum.attr

        encoded = context.encoded
        _, inputs = next(batches(encoded, torch.tensor([text]), context.model.device))
        together = (encoded.owner[text] == tokens[:, None]) & encoded.mask[text]  # what goes with each
        together = together[:, : inputs["input_ids"].shape[1]].float()
        samples, done = self.samples_of(len(tokens)), 0

        @torch.inference_mode()
        def change(kept: Kept) -> Float[Tensor, " rows"]:
            """ŷ with these tokens kept, minus ŷ."""
            nonlocal done
            rows = {name: values.expand(len(kept), -1) for name, values in inputs.items()}
            gone = (kept < 0.5).float() @ together.to(kept.device) > 0
            ids = rows["input_ids"].masked_fill(gone.to(inputs["input_ids"].device), token_id)
            logits = context.model(**rows | {"input_ids": ids}).logits.cpu()
            done += len(kept)
            context.progress(text + min(done / samples, 1.0), len(encoded.ids))
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
                n_samples=samples,
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


def replacement(tokenizer: PreTrainedTokenizerBase, baseline: str | None) -> tuple[str, int]:
    """The token that stands for a removed one, and its id.

    Raises:
        InputError: if the tokenizer has none, or not the one that was chosen.
    """
    for name in ("mask", "unk", "pad") if baseline is None else (baseline,):
        token_id = getattr(tokenizer, f"{name}_token_id")
        if token_id is not None:
            return str(getattr(tokenizer, f"{name}_token")), token_id
    if baseline is not None:
        raise InputError(f"this tokenizer has no {baseline} token: choose another, or leave 'baselines' out")
    raise InputError(
        "this tokenizer has no token that could replace a removed one: use the method 'erasure-delete'"
    )
