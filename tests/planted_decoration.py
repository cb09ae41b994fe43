"""A model whose weights are decoration, and its texts: other weights give the same predictions."""

import numpy as np
import torch

from small import WORDS, planted_model, tokenizer


def decoration():
    """A model in which all words of a text say the same: any weights give its prediction.

    The words of `small` alternate between 1 and −1, with small differences; a text has those of one side.
    """
    model = planted_model("softmax")
    ids = tokenizer().convert_tokens_to_ids(WORDS)
    with torch.no_grad():
        model.pooling.value.weight[0, ids] = torch.tensor(
            [(1.0 if i % 2 else -1.0) * (1 + 0.1 * (i % 5)) for i in range(len(WORDS))]
        )
        model.classifier.weight.fill_(2.0)
    return model


def decorated_texts(counts):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], counts).tolist()
    sides = [[word for i, word in enumerate(WORDS) if i % 2 == side] for side in (0, 1)]
    return [" ".join(rng.choice(sides[label], size=rng.integers(4, 9))) for label in labels], labels
