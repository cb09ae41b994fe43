"""What texts have in common at their beginning, read once."""

from __future__ import annotations

import copy

from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from glasshead.generation.text import ReadText


class SharedPrefix:
    """Keys and values of the beginning of a text, which grows; of models that keep every token's.

    Exact: no token of a causal model sees what stands behind it.
    """

    def __init__(self, text: ReadText) -> None:
        self.text = text
        self.length = 0
        self.past: Cache | None = None
        self.is_possible = not text.source  # an encoder reads in both directions

    def read(self, length: int) -> int:
        """Read the text up to a place, from where it was read before; from which place texts go on."""
        if not self.is_possible or length <= self.length:
            return self.length
        before = DynamicCache(config=self.text.model.config) if self.past is None else self.past
        ids = self.text.ids[:, self.length : length]
        self.text.classifier.model.base_model(input_ids=ids, past_key_values=before, use_cache=True)
        # A layer that forgets (a window, a state) or keeps otherwise has no beginning to share.
        self.is_possible = all(type(layer) is DynamicLayer for layer in before.layers)
        self.is_possible &= before.get_seq_length() == length
        if self.is_possible:
            self.past, self.length = before, length
        return self.length

    def repeat(self, times: int) -> Cache | None:
        """The same for several texts; None where nothing was read."""
        if self.past is None:
            return None
        several = copy.deepcopy(self.past)
        several.batch_repeat_interleave(times)
        return several
