"""What is seen of a language model in training: the same of its layers, on blocks of the corpus."""

from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import as_encoded
from glasshead.huggingface import NextTokenClassifier, readable_copy, vocabulary_names
from glasshead.language import BlockDataset, LanguageModelConfig
from glasshead.papers.dynamics.observers.transformer import SAMPLE, agreement_curve, layer_curves, layer_facts
from glasshead.papers.dynamics.snapshots import Snapshot
from glasshead.papers.results import Columns


class LanguageObserver:
    """Entropy and residual of every layer as `TransformerObserver` has them, over blocks of train; an encoder
    reads them with the same tokens hidden each time. ``agreement``, of models that write from left to right,
    is that of the attention and the gradients of the token that the model holds most probable next.

    Any model is read, also one that computes its attention itself: a readable copy shares its weights.
    """

    def __init__(
        self,
        *,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        rows: BlockDataset,
        recipe: LanguageModelConfig,
    ) -> None:
        self.model = readable_copy(model)
        self.tokenizer = tokenizer
        generator = torch.Generator().manual_seed(0)
        chosen = torch.randperm(len(rows), generator=generator)[:SAMPLE].sort().values
        blocks = rows.blocks[chosen]
        self.writer: PreTrainedModel | None = None
        if rows.masking is None:
            names = vocabulary_names(tokenizer, model.config.get_text_config().vocab_size)
            self.writer = NextTokenClassifier(self.model, names).eval()
        else:
            blocks = rows.masking.hide(blocks, generator)["input_ids"]
        self.encoded = as_encoded(blocks)
        self.token_facts: Columns = {}
        self.facts: dict[str, Any] = layer_facts(recipe, len(blocks)) | {"optimizer": "adamw"}

    def snapshot(self, model: PreTrainedModel) -> Snapshot:
        """What there is to see now; the copy neither drops out nor is trained."""
        curves = layer_curves(self.model, self.encoded)
        if self.writer is not None:
            curves += agreement_curve(self.writer, self.encoded, self.tokenizer)
        return Snapshot(curves)
