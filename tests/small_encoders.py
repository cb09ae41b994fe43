"""Small encoder models with random weights, and batches for them."""

import numpy as np
import torch

from glasshead.data.encode import Encoded
from glasshead.models import (
    CrossEncoderClassifier,
    CrossEncoderConfig,
    EncoderClassifier,
    EncoderConfig,
    HierarchicalClassifier,
    HierarchicalConfig,
    PairEncoderClassifier,
    PairEncoderConfig,
)

SMALL = {
    "vocab_size": 30,
    "hidden_size": 12,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_length": 16,
    "dropout": 0.0,
}
STOP = 9
FAMILIES = {
    "encoder": (EncoderClassifier, EncoderConfig),
    "pair-encoder": (PairEncoderClassifier, PairEncoderConfig),
    "cross-encoder": (CrossEncoderClassifier, CrossEncoderConfig),
    "hierarchical": (HierarchicalClassifier, HierarchicalConfig),
}
LENGTHS = (11, 4, 7, 2)


def small(family="encoder", labels=3, **options):
    """A model in evaluation mode; every parameter is random, so that none hides behind its initial value."""
    torch.manual_seed(0)
    kind, config = FAMILIES[family]
    if family == "hierarchical":
        options = {"sentence_ends": [STOP], "sentence_length": 4} | options
    model = kind(config(**SMALL | {"num_labels": labels} | options)).eval()
    with torch.no_grad():
        for name, each in model.named_parameters():
            if "norm" not in name and not name.startswith("embedding"):
                each.copy_(torch.randn_like(each) / 3)
    return model


def batch(family="encoder", lengths=LENGTHS, seed=1, width=None):
    """Right-padded ids; of a pair the second text begins in the middle."""
    generator = torch.Generator().manual_seed(seed)
    width = width or max(lengths)
    ids = torch.randint(5, 30, (len(lengths), width), generator=generator)
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    given = {"input_ids": ids.masked_fill(~mask, 0), "attention_mask": mask.long()}
    if FAMILIES[family][0].texts_per_example == 2:
        half = (torch.tensor(lengths)[:, None] + 1) // 2
        given["token_type_ids"] = ((torch.arange(width) >= half) & mask).long()
    return given


def one(given, row, length):
    """A text of a batch, alone and without padding."""
    return {name: each[row : row + 1, :length] for name, each in given.items()}


def moved(given, before):
    """The same batch with padding in front of all texts."""
    return {name: torch.nn.functional.pad(each, (before, 0)) for name, each in given.items()}


def encoded(given) -> Encoded:
    """A batch of ids as encoded texts; every token is a word."""
    mask = given["attention_mask"].bool()
    words = np.where(mask.numpy(), np.arange(mask.shape[1]), -1)
    return Encoded(
        given["input_ids"], mask, words, np.zeros((*mask.shape, 2), dtype=int), given.get("token_type_ids")
    )
