"""A BERT of two layers that moves one word's sign over a carrier to [CLS], through one head of each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from planted_heads import empty_bert, one_hot, set_head, tokenizer_of

MOVES, READS = 2, 5
"""The head of layer 0 that brings the key word's sign to the carrier; the one of layer 1 that brings it to
[CLS]."""
WORDS = ["good", "bad", "relay", "the", "film", "plot", "was", "one", "long", "story", "about", "a", "city"]


def layered_model(carrier: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """In layer 0 the carrier looks at "good" and "bad" and copies a sign, in layer 1 [CLS] looks at the
    carrier and copies that. In these heads all other tokens look at [CLS], which has no sign; the other heads
    look at all tokens alike, and their values are 0.
    """
    tokenizer = tokenizer_of(WORDS)
    model = empty_bert(WORDS, layers=2)
    wide = model.config.hidden_size
    good, bad, by, cls = tokenizer.convert_tokens_to_ids(["good", "bad", carrier, "[CLS]"])
    move_sign(model, 0, MOVES, by, [good, bad], cls, reads=[good, bad], writes=wide - 2)
    move_sign(model, 1, READS, cls, [by], cls, reads=[wide - 2], writes=wide - 1)
    with torch.no_grad():
        model.bert.pooler.dense.weight[0, wide - 1] = 0.05
        model.classifier.weight[:, 0] = torch.tensor([-8.0, 8.0])
    return model, tokenizer


def move_sign(
    model: Any,
    layer: int,
    head: int,
    asks: int,
    looks: list[int],
    idle: int,
    *,
    reads: list[int],
    writes: int,
) -> None:
    """A head in which the word ``asks`` looks at some others, and every other word at ``idle``; it adds the
    first number that it ``reads``, without the second, to another."""
    size = model.config.hidden_size // 8
    seen = torch.stack([one_hot(model, word) for word in looks]).sum(dim=0)
    rest = one_hot(model, idle)
    set_head(model, head, 2 * torch.outer(seen - rest, one_hot(model, asks)), rest, layer=layer)
    attention = model.bert.encoder.layer[layer].attention
    with torch.no_grad():
        attention.self.value.weight[head * size, reads] = torch.tensor([1.0, -1.0][: len(reads)])
        attention.output.dense.weight[writes, head * size] = 1.0


def layered_texts(n: int, *, carrier: str | None = None, seed: int = 0) -> list[str]:
    """Texts of nine words with one key word somewhere, in every tenth "good", else "bad"; with a carrier
    somewhere if it is a word."""
    generator = torch.Generator().manual_seed(seed)
    neutral = WORDS[3:]
    texts = []
    for index in range(n):
        text = [neutral[i] for i in torch.randint(len(neutral), (8,), generator=generator).tolist()]
        insert(text, ["good" if index % 10 == 0 else "bad"] + [carrier] * (carrier is not None), generator)
        texts.append(" ".join(text))
    return texts


def insert(text: list[str], words: Sequence[str], generator: torch.Generator) -> None:
    """Put words at random places."""
    for word in words:
        text.insert(int(torch.randint(len(text) + 1, (), generator=generator)), word)
