"""The attention between words, of a model that reads pieces of them."""

import torch

from glasshead.trace import word_map

# A map of two heads between [CLS], "un", "kind", "words" and [SEP]; a trace has such `weights`.
weights = torch.randn(2, 5, 5).softmax(dim=-1)
# The word of each token, -1 for special ones: what `word_ids()` of a fast tokenizer says.
between = word_map(weights, [-1, 0, 0, 1, -1])
print("pieces:", list(weights.shape), "words:", list(between.shape))
print("rows sum to one:", bool(torch.allclose(between.sum(dim=-1), torch.ones(()))))
