"""A BERT whose heads are built by hand, each to look at one thing, and texts for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Value
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PREVIOUS, NEXT, ITSELF, SAME, SEPARATOR, UNIFORM, DECIDES, IDLE = range(8)
LENGTH = 16
SHARP = 40.0
"""Scores of what a head is built to look at; others are 0."""


def tokenizer_of(words: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer of these words."""
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *words])}
    made = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )


def empty_bert(words: Sequence[str], layers: int = 1) -> Any:
    """A BERT of eight heads and one layer or more, all of whose weights are 0, before one-hot vectors of
    words and places: first those of words, then those of places."""
    vocabulary = len(SPECIAL) + len(words)
    head_dim = vocabulary + LENGTH
    config = hf.BertConfig(
        vocab_size=vocabulary,
        hidden_size=8 * head_dim,
        num_attention_heads=8,
        num_hidden_layers=layers,
        intermediate_size=2,
        max_position_embeddings=LENGTH,
        num_labels=2,
        id2label={0: "bad", 1: "good"},
    )
    model = hf.BertForSequenceClassification(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "LayerNorm.weight" in name else 0.0)
        embeddings = model.bert.embeddings
        embeddings.word_embeddings.weight[:, :vocabulary] = torch.eye(vocabulary)
        embeddings.position_embeddings.weight[:, vocabulary:head_dim] = torch.eye(LENGTH)
    return model


def place_map(model: Any, offset: int) -> Tensor:
    """From a token to the place ``offset`` tokens away."""
    size, start = model.config.hidden_size // 8, model.config.vocab_size
    matrix = torch.zeros(size, size)
    for place in range(LENGTH):
        if 0 <= place + offset < LENGTH:
            matrix[start + place + offset, start + place] = 1.0
    return matrix


def set_head(model: Any, head: int, query: Tensor, constant: Tensor | None = None, *, layer: int = 0) -> None:
    """A head whose query is a linear map of the one-hot vectors, plus a constant, times `SHARP`; its keys are
    these vectors."""
    size = model.config.hidden_size // 8
    rows = slice(head * size, (head + 1) * size)
    attention = model.bert.encoder.layer[layer].attention.self
    wide = model.config.hidden_size
    # Two of `wide` numbers are 1: their layer norm is (x − mean) / deviation, the same for every token.
    mean = 2 / wide
    deviation = (mean * (1 - mean)) ** 0.5
    scale = SHARP * size**0.5
    bias = torch.zeros(size) if constant is None else constant
    with torch.no_grad():
        attention.key.weight[rows, :size] = torch.eye(size) * deviation
        attention.key.bias[rows] = mean
        attention.query.weight[rows, :size] = scale * query * deviation
        attention.query.bias[rows] = scale * (query.sum(dim=1) * mean + bias)


def one_hot(model: Any, token: int) -> Tensor:
    """The vector of a word."""
    return torch.eye(model.config.hidden_size // 8)[token]


def planted_model(words: Sequence[str]) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Heads that look at the token before and behind, at itself, at the same token elsewhere, at [SEP], at
    all tokens alike, and at "good" and "bad", which makes the decision; and one like it that nobody reads."""
    model, tokenizer = empty_bert(words), tokenizer_of(words)
    size, vocabulary = model.config.hidden_size // 8, model.config.vocab_size
    none = torch.zeros(size, size)
    good, bad = (tokenizer.convert_tokens_to_ids(word) for word in ("good", "bad"))
    set_head(model, PREVIOUS, place_map(model, -1))
    set_head(model, NEXT, place_map(model, 1))
    set_head(model, ITSELF, place_map(model, 0))
    same = torch.diag(torch.tensor([1.0] * vocabulary + [-1.0] * LENGTH))
    set_head(model, SAME, same)
    set_head(model, SEPARATOR, none, one_hot(model, 3))
    set_head(model, UNIFORM, none)
    for head in (DECIDES, IDLE):
        set_head(model, head, none, one_hot(model, good) + one_hot(model, bad))
    layer = model.bert.encoder.layer[0].attention
    with torch.no_grad():
        layer.self.value.weight[DECIDES * size, [good, bad]] = torch.tensor([1.0, -1.0])
        layer.output.dense.weight[-1, DECIDES * size] = 1.0
        model.bert.pooler.dense.weight[0, -1] = 0.05
        model.classifier.weight[1, 0] = 8.0
    return model, tokenizer


def planted_texts(words: Sequence[str], n: int, seed: int = 0) -> list[str]:
    """Texts of ten words, some of them twice; every fifth one is good, the others are bad."""
    generator = torch.Generator().manual_seed(seed)
    neutral = [word for word in words if word not in ("good", "bad")]
    texts = []
    for index in range(n):
        drawn = torch.randint(len(neutral), (9,), generator=generator).tolist()
        text = [neutral[number] for number in drawn]
        text.insert(int(torch.randint(10, (), generator=generator)), "bad" if index % 5 else "good")
        texts.append(" ".join(text))
    return texts


def as_data(texts: Sequence[str]) -> Dataset:
    """Texts with their classes."""
    names = ["bad", "good"]
    features = Features({"text": Value("string"), "label": ClassLabel(names=names)})
    labels = [names["good" in text.split()] for text in texts]
    return Dataset.from_dict({"text": list(texts), "label": labels}, features=features)


def to_conllu(sentences: Sequence[Sequence[tuple[str, int, str]]]) -> str:
    """Sentences of (form, head from 1 or 0, relation) as CoNLL-U."""
    blocks = []
    for words in sentences:
        lines = [f"# text = {' '.join(form for form, _, _ in words)}"]
        lines += [
            f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_"
            for number, (form, head, relation) in enumerate(words, start=1)
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n\n"
