"""One tiny random model of every family, with texts that it reads, for explanations and audits."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
from datasets import ClassLabel, Dataset, Features, Value
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2ForSequenceClassification

from glasshead.data import encode, occurrences, train_tokenizer
from glasshead.huggingface import plug
from glasshead.models import MODELS, is_regression
from glasshead.opening import Run

WORDS = ("good", "bad", "the", "film", "was", "long", "short", "plot", "music", "and", "scene", "end", ".")
TEXTS = (
    "the film was good . and the plot was long .",
    "bad music . bad plot",
    "the end",
    "a scene was short . the music was good good good . long .",
    "film",
    "the film was bad and long and the scene was short . the end was good",
)
SECONDS = ("the plot", "good music and a film", "bad", "the end was long", "film", "a short scene was bad")


@dataclass(frozen=True)
class Kind:
    """A model with what it reads."""

    model: torch.nn.Module
    tokenizer: object
    texts: tuple[str, ...] = TEXTS
    pairs: tuple[str, ...] | None = None

    def of(self, *places):
        """Some of the texts."""
        pairs = None if self.pairs is None else tuple(self.pairs[i] for i in places)
        return replace(self, texts=tuple(self.texts[i] for i in places), pairs=pairs)


@cache
def tokenizer(first=False, pairs=False):
    return train_tokenizer([" ".join(WORDS)], min_freq=1, max_length=64, first=first, pairs=pairs)


def family(name, *, classes=2, rating=False, seed=0, **options):
    """A model of `MODELS` whose attention is far from uniform."""
    torch.manual_seed(seed)
    kind = MODELS[name]
    words = tokenizer(kind.special_tokens, kind.texts_per_example == 2)
    names = ("rating",) if rating else ("negative", "positive", "mixed")[:classes]
    labels = dict(enumerate(names))
    sizes = {"hidden_size": 8}
    if name == "pooled":
        sizes |= {"embedding_size": 8, "head_dim": 5}
    else:
        sizes |= {"num_attention_heads": 2, "intermediate_size": 16, "dropout": 0.0, "max_length": 64}
    config = kind.config_class(
        **kind.tokenizer_settings(words),
        **sizes | options,
        id2label=labels,
        label2id={value: key for key, value in labels.items()},
        problem_type="regression" if rating else None,
    )
    model = kind(config).eval()
    with torch.no_grad():
        model.embedding.weight.mul_(15 if name == "pooled" else 2)
        for parameter_name, parameter in model.named_parameters():
            if ".query." in parameter_name or ".key." in parameter_name:
                parameter.mul_(2.0)
    return Kind(model, words, TEXTS, SECONDS if kind.texts_per_example == 2 else None)


def bert(attention="softmax", *, layers=2, seed=0):
    """Somebody's model, plugged."""
    torch.manual_seed(seed)
    words = tokenizer(True, True)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=layers, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64, pad_token_id=words.pad_token_id,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        id2label={0: "negative", 1: "positive"}, label2id={"negative": 0, "positive": 1},
        initializer_range=0.8,
    )  # fmt: skip
    return Kind(plug(BertForSequenceClassification(config).eval(), attention), words)


def gpt(*, seed=0):
    """Somebody's causal model, plugged."""
    torch.manual_seed(seed)
    words = tokenizer()
    config = GPT2Config(
        vocab_size=len(words), n_embd=16, n_layer=2, n_head=2, n_positions=64, n_inner=16,
        pad_token_id=words.pad_token_id, bos_token_id=None, eos_token_id=None,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        id2label={0: "negative", 1: "positive"}, label2id={"negative": 0, "positive": 1},
        initializer_range=0.8,
    )  # fmt: skip
    return Kind(plug(GPT2ForSequenceClassification(config).eval(), "softmax"), words)


KINDS = {
    "pooled": lambda: family("pooled"),
    "pooled rating": lambda: family("pooled", rating=True),
    "encoder": lambda: family("encoder", attention="distance-aware"),
    "encoder first": lambda: family("encoder", num_hidden_layers=2, pooling="first", attention="tanhmax"),
    "encoder rating": lambda: family("encoder", rating=True),
    "encoder added, three classes": lambda: family(
        "encoder", pooling="first", head_combination="add", classes=3, attention="tanhmax", gauge=[[1, -1]]
    ),
    "pair-encoder": lambda: family("pair-encoder", classes=3),
    "pair-encoder first": lambda: family("pair-encoder", pooling="first", attention="tener"),
    "pair-encoder compare": lambda: family(
        "pair-encoder", classes=3, pair_features="compare", layernorm_embedding=True
    ),
    "cross-encoder": lambda: family(
        "cross-encoder", classes=3, attention="distance-aware", layernorm_embedding=True
    ),
    "encoder mean": lambda: family("encoder", num_hidden_layers=2, pooling="mean"),
    "hierarchical": lambda: family("hierarchical", attention="distance-aware"),
    "hierarchical normalised": lambda: family("hierarchical", layernorm_embedding=True),
    "hierarchical first, rating": lambda: family("hierarchical", pooling="first", rating=True),
    "bert": bert,
    "gpt2": gpt,
}


def data(kind, labels):
    """A split as the audits read it."""
    rating = is_regression(kind.model.config)
    names = list(kind.model.config.id2label.values())
    features = {"text": Value("string"), "label": Value("float64") if rating else ClassLabel(names=names)}
    columns = {"text": list(kind.texts), "label": list(labels)}
    if kind.pairs is not None:
        features["text_pair"] = Value("string")
        columns["text_pair"] = list(kind.pairs)
    return Dataset.from_dict(columns, features=Features(features))


def as_run(kind, labels, gauge=None):
    """A trained run as the audits see it, with the texts as its train split."""
    rating = is_regression(kind.model.config)
    names = list(kind.model.config.id2label.values())
    encoded = encode(kind.tokenizer, kind.texts, kind.pairs)
    classes = torch.zeros(len(kind.texts), dtype=torch.long) if rating else torch.tensor(labels)
    counts = occurrences(encoded, classes, classes=len(names), vocabulary=len(kind.tokenizer))
    record = {"recipe": {"preset": "by hand"}, "seed": 0, "data": {"source": "by hand"}, "gauge": gauge}
    return Run(Path("by-hand"), kind.model, kind.tokenizer, record, counts)


def planted(pooling, attention="softmax", sign="values"):
    """An encoder that looks at ``good`` and ``bad`` alone: the prediction provably rests on them.

    Each word has its own axis. With "attention" the layer does nothing, and the learned query seeks the two
    axes; with "first" the one head of the layer does, and carries the word that it finds to the first token.
    There the ``sign`` of a word may live in the "weights" of signed attention: both words have one value.
    """
    words = tokenizer(True)
    size = len(words)
    kind = family(
        "encoder",
        pooling=pooling,
        hidden_size=size,
        num_attention_heads=1,
        positions="none",
        attention=attention,
    )
    model = kind.model
    good, bad = words.convert_tokens_to_ids(["good", "bad"])
    layer = model.encoder.layers[0]
    with torch.no_grad():
        for parameter in (*layer.attention.parameters(), *layer.feed_forward.parameters()):
            parameter.zero_()
        model.embedding.weight.copy_(torch.eye(size))
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.weight[0, good], model.classifier.weight[0, bad] = 1.0, -1.0
        if pooling == "first":
            layer.attention.query.bias[0] = 8.0 * size**0.5
            layer.attention.key.weight[0, [good, bad]] = 1.0
            layer.attention.value.weight.copy_(torch.eye(size))
            layer.attention.output.weight.copy_(4 * torch.eye(size))
            if sign == "weights":
                layer.attention.key.weight[0, bad] = -1.0
                layer.attention.value.weight[:, bad] = layer.attention.value.weight[:, good]
        else:
            summary = model.encoder.pooling.summary
            for parameter in summary.parameters():
                parameter.zero_()
            summary.key.weight[0, [good, bad]] = 4.0
            summary.query.weight[0, 0] = 8.0
    return kind


def turn(attention, head):
    """The other gauge of one head in place: its keys and values are negated, and what reads its values."""
    heads = attention.mechanism.heads if hasattr(attention.mechanism, "heads") else 2
    size = attention.key.out_features // heads
    width = attention.value.out_features // heads
    rows, columns = slice(head * size, (head + 1) * size), slice(head * width, (head + 1) * width)
    with torch.no_grad():
        for linear, part in ((attention.key, rows), (attention.value, columns)):
            linear.weight[part].neg_()
            if linear.bias is not None:
                linear.bias[part].neg_()
