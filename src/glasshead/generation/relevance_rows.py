"""Relevance of every token before an answer's, passed down all layers from the target of each token.

Source: Achtibat et al. (2024), AttnLRP; Ali et al. (2022), with attention held constant.
"""

from __future__ import annotations

import torch
from torch import Tensor

from glasshead.errors import InputError
from glasshead.explainers import relevance_rules, word_embeddings
from glasshead.generation.gradient_rows import value_gradients
from glasshead.generation.method import RowMethod, target_map
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.huggingface import class_name
from glasshead.results import WrittenMap
from glasshead.trace import AttentionSelector


class RelevanceRows(RowMethod):
    """e_jᵀ ∂y_t/∂e_j with gradients by the rules of relevance below the logits, and the derivative of the
    target above them: together with places and biases it adds up to Σ_v (∂y_t/∂z_v) z_v."""

    def __init__(self, *, holds_attention: bool) -> None:
        self.holds_attention = holds_attention
        where = "attention held constant" if holds_attention else "through attention too"
        self.description = f"relevance passed back through all layers, {where}"
        self.citation = "Ali et al. 2022" if holds_attention else "Achtibat et al. 2024"

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        if text.sees:
            raise InputError(
                f"{name!r} follows relevance to words that are looked up, which image tokens are not: use "
                "'gradient' or 'erasure-mean-embedding'"
            )
        values, leaves = self.run(text, target)[:2]
        scores = torch.stack(
            [
                (own * torch.cat(leaves, dim=1)[0].detach()).sum(dim=-1)
                for own in value_gradients(text, values, leaves)
            ]
        )
        return target_map(text, target, scores.cpu(), values.detach().cpu(), name=name, signed=True)

    def run(self, text: ReadText, target: AnswerTarget) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The values of the target, the vectors of all tokens, and what else relevance ends in: places and
        biases.

        Raises:
            InputError: if the model looks up no vector for each token.
        """
        weights = [
            weight
            for module in word_embeddings(text.model)
            if isinstance(weight := getattr(module, "weight", None), Tensor)
        ]
        if weights:
            with relevance_rules(text.model, weights, held_attention=self.holds_attention) as rules:
                logits = text.logits()
            if [len(ids[0]) for ids, _ in rules.words] == text.sizes:
                with torch.enable_grad():
                    values = target(logits)[0]
                return values, [vectors for _, vectors in rules.words], [rules.places, rules.biases]
        raise InputError(
            f"{class_name(text.model)} does not look up one vector for each token, so tokens have no "
            "separate relevance: use the method 'erasure-mean-embedding'"
        )
