"""A BERT of two layers that moves one word's sign over a carrier to [CLS], through one head of each layer; a
GPT-2 that moves it to the last token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers as hf
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.explainers import find_explainer
from glasshead.huggingface import plug
from glasshead.results import Attribution
from glasshead.trace import AttentionSelector
from planted_heads import LENGTH, empty_bert, one_hot, set_head, tokenizer_of

MOVES, READS = 2, 5
"""The head of layer 0 that brings the key word's sign to the carrier; the one of layer 1 that brings it to
the token that the classifier reads."""
KEYS = ("good", "bad")
MARGIN = 1e-6
WORDS = ["good", "bad", "relay", "the", "film", "plot", "was", "one", "long", "story", "about", "a", "city"]


def layered_model(carrier: str, reader: str = "[CLS]") -> tuple[Any, PreTrainedTokenizerFast]:
    """In layer 0 the carrier looks at "good" and "bad" and copies a sign, in layer 1 the reader looks at the
    carrier and copies that. In these heads all other tokens look at [CLS], which has no sign; the other heads
    look at all tokens alike, and their values are 0.
    """
    tokenizer = tokenizer_of(WORDS)
    model = empty_bert(WORDS, layers=2)
    wide = model.config.hidden_size
    names = ["good", "bad", carrier, reader, "[CLS]"]
    good, bad, by, reads, cls = tokenizer.convert_tokens_to_ids(names)
    move_sign(model, 0, MOVES, by, [good, bad], cls, reads=[good, bad], writes=wide - 2)
    move_sign(model, 1, READS, reads, [by], cls, reads=[wide - 2], writes=wide - 1)
    with torch.no_grad():
        model.bert.pooler.dense.weight[0, wide - 1] = 0.05
        model.classifier.weight[:, 0] = torch.tensor([-8.0, 8.0])
    return model, tokenizer


def causal_model(carrier: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The same heads in a GPT-2, whose last token reads.

    It normalises before attention, so what a block adds is smaller by the deviation of a token.
    """
    bert, tokenizer = layered_model(carrier, reader="[SEP]")
    wide, vocabulary = bert.config.hidden_size, bert.config.vocab_size
    config = hf.GPT2Config(
        vocab_size=vocabulary,
        n_embd=wide,
        n_layer=2,
        n_head=8,
        n_inner=2,
        n_positions=LENGTH,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
        id2label=bert.config.id2label,
    )
    model: Any = hf.GPT2ForSequenceClassification(config).eval()
    deviation = (2 / wide * (1 - 2 / wide)) ** 0.5
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "ln_" in name and name.endswith("weight") else 0.0)
        model.transformer.wte.weight.copy_(bert.bert.embeddings.word_embeddings.weight)
        model.transformer.wpe.weight.copy_(bert.bert.embeddings.position_embeddings.weight)
        for layer, block in zip(bert.bert.encoder.layer, model.transformer.h, strict=True):
            own = layer.attention.self
            maps = (own.query, own.key, own.value)
            block.attn.c_attn.weight.copy_(torch.cat([one.weight for one in maps]).T)
            block.attn.c_attn.bias.copy_(torch.cat([one.bias for one in maps]))
            block.attn.c_proj.weight.copy_(layer.attention.output.dense.weight.T * deviation)
        model.score.weight[:, wide - 1] = torch.tensor([-0.4, 0.4])
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


def layered_texts(n: int, *, carrier: str | None = None, in_order: bool = False, seed: int = 0) -> list[str]:
    """Texts of nine words with one key word somewhere, in every tenth "good", else "bad"; with a carrier
    somewhere if it is a word, ``in_order`` behind the key word."""
    generator = torch.Generator().manual_seed(seed)
    neutral = WORDS[3:]
    texts = []
    for index in range(n):
        text = [neutral[i] for i in torch.randint(len(neutral), (8,), generator=generator).tolist()]
        key = "good" if index % 10 == 0 else "bad"
        insert(text, [key] + [carrier] * (carrier is not None), generator)
        if in_order and carrier is not None:
            first, second = sorted(map(text.index, (key, carrier)))
            text[first], text[second] = key, carrier
        texts.append(" ".join(text))
    return texts


def insert(text: list[str], words: Sequence[str], generator: torch.Generator) -> None:
    """Put words at random places."""
    for word in words:
        text.insert(int(torch.randint(len(text) + 1, (), generator=generator)), word)


class PlantedCase:
    """A plugged model and texts of both classes, with one of `KEYS` in each."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]
    ) -> None:
        self.model, self.tokenizer, self.texts = plug(model, "softmax"), tokenizer, texts

    def explained(self, method: str, **reading: Any) -> list[Attribution]:
        """Attributions of all texts, each for the class that is predicted, in order of the classes."""
        return [
            attribution
            for target, key in enumerate(("bad", "good"))
            for attribution in find_explainer(method)(
                self.model,
                self.tokenizer,
                [text for text in self.texts if key in text.split()],
                target=target,
                attention_selector=AttentionSelector(**reading),
            )
        ]

    def ranks(self, method: str, word: str | tuple[str, ...], **reading: Any) -> list[int]:
        """How many other words have as much as a word, in each text."""
        among = word if isinstance(word, tuple) else (word,)
        return [rank(one, among) for one in self.explained(method, **reading)]


def rank(attribution: Attribution, among: tuple[str, ...]) -> int:
    """How many other words have as much as the one that is in a text of ``among``."""
    words = [
        (score, token)
        for score, token, word in zip(attribution.scores, attribution.tokens, attribution.words, strict=True)
        if word != -1
    ]
    (own,) = (score for score, token in words if token in among)
    return sum(score > own - MARGIN for score, token in words if token not in among)
