"""Two exact solutions of the histogram task: a map that says nothing, and one that finds the letter."""

import torch
from transformers import PreTrainedTokenizerBase

from glasshead.papers.models import TokenClassifier, TokenClassifierConfig

SHARP = 1.5
"""Score of an equal letter in the semantic solution: e^1.5 times the weight of another letter."""
UNEVEN = 0.2
"""Standard deviation of what places add to queries and keys in the positional one: hardly uneven weights."""
PLACE = 3
"""Numbers of a place; the last one is free for the answer."""


def histogram_solution(tokenizer: PreTrainedTokenizerBase, scores: str, *, length: int) -> TokenClassifier:
    """A token classifier of one tied head that counts without a mistake.

    Letters are one-hot. The head writes Σ_j a_ij e(x_j) beside the letter e(x_i) of the token that is asked
    about; a unit per letter, max(0, share of the letter − 1 if another one is asked about), reads off the
    share p of the own letter: count/n with equal weights, count·e^1.5/(count·e^1.5 + n − count) with
    "semantic" ones. The logits 2 β p_k p − β p_k² are largest for the count k whose share p_k is the nearest.
    """
    size = len(tokenizer)
    config = TokenClassifierConfig(
        embedding_size=size,
        position_size=size + PLACE,
        max_length=length,
        head_dim=size + PLACE,
        value_dim=size,
        intermediate_size=size,
        tied=True,
        scores=scores,
        id2label={index: str(index + 1) for index in range(length)},
        **TokenClassifier.tokenizer_settings(tokenizer),
    )
    model = TokenClassifier(config)
    layer, letter, share = model.layers[0], slice(0, size), slice(size, 2 * size)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        one = torch.eye(size)
        model.embedding.weight.copy_(one)
        query = layer.attention.query.weight  # s_ij = |W x_i · W x_j| / √head_dim
        if scores == "semantic":
            query[letter, letter] = one * (SHARP * config.head_dim**0.5) ** 0.5
        else:
            model.positions.weight[:, size:-1].normal_(0.0, 1.0, generator=torch.Generator().manual_seed(0))
            query[size:-1, 2 * size : -1] = UNEVEN * torch.eye(PLACE - 1)
        layer.attention.value.weight[:, letter] = one
        layer.attention.output.weight[share] = one
        first, _, second = layer.feed_forward
        first.weight[:, share] = one
        first.weight[:, letter] = one
        first.bias.fill_(-1.0)
        second.weight[-1] = 1.0
        counts = torch.arange(1, length + 1)
        strength = torch.e**SHARP if scores == "semantic" else 1.0
        shares = counts * strength / (counts * strength + length - counts)
        sharpness = 4.0 / shares.diff().min() ** 2
        model.classifier.weight[:, -1] = 2 * sharpness * shares
        model.classifier.bias.copy_(-sharpness * shares**2)
    return model.eval()
