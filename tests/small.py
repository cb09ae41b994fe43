"""Small models with everything known about them, for tests of explanations and audits."""

from functools import cache
from pathlib import Path

import numpy as np
import torch
from datasets import ClassLabel, Dataset, Features, Value

from glasshead.data import encode, occurrences, train_tokenizer
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.opening import Run
from glasshead.results import SIGN_IN_WEIGHTS

WORDS = ("good", "bad", "the", "film", "was", "long", "short", "plot", "music", "and", "scene", "end")
TEXTS = (
    "the film was good and the plot was long",
    "bad music , bad plot",
    "the end",
    "a scene was short and the music was good good good",
    "film",
    "",
    "the film was bad and long and the scene was short , the end was good",
)


@cache
def tokenizer():
    return train_tokenizer([" ".join(WORDS)], min_freq=1, max_length=64)


def random_model(seed=0, classes=2, **options):
    """A model with random, far from uniform attention."""
    torch.manual_seed(seed)
    names = dict(enumerate(("negative", "positive", "mixed", "other")[:classes]))
    defaults = {"embedding_size": 6, "hidden_size": 8, "head_dim": 5, "temperature": 1.0}
    config = PooledConfig(
        vocab_size=len(tokenizer()),
        id2label=names,
        label2id={v: k for k, v in names.items()},
        **defaults | options,
    )
    model = PooledClassifier(config).eval()
    with torch.no_grad():
        model.embedding.weight.mul_(15)
    return model


def planted_model(activation):
    """A model that looks at ``good`` and ``bad`` alone: the prediction provably rests on them.

    Each word has its own axis. TanhMax: score 4 for good, −3 for bad, value 1 for all: the sign is in the
    weight. Softmax: score 6 for both, value ±1 for them and 0 for all others: the sign is in the value.
    """
    size = len(tokenizer())
    names = {0: "negative", 1: "positive"}
    config = PooledConfig(
        vocab_size=size,
        embedding_size=size,
        score="context",
        temperature=1.0,
        activation=activation,
        value_dim=1,
        bias=False,
        id2label=names,
        label2id={"negative": 0, "positive": 1},
    )
    model = PooledClassifier(config).eval()
    good, bad = tokenizer().convert_tokens_to_ids(["good", "bad"])
    with torch.no_grad():
        model.embedding.weight.copy_(torch.eye(size))
        score, value = model.pooling.score.context.weight[0], model.pooling.value
        score.zero_()
        value.weight.zero_()
        value.bias.zero_()
        if activation == "tanhmax":
            score[good], score[bad] = 4.0, -3.0  # not mirror images: a mean over axes must not cancel
            value.bias.fill_(1.0)
        else:
            score[good], score[bad] = 6.0, 6.0
            value.weight[0, good], value.weight[0, bad] = 1.0, -1.0
        model.classifier.weight.fill_(6.0)
    return model


def planted_texts(n=60, seed=0, counts=None):
    """Reviews with exactly one of good and bad, and the labels that follow; ``counts`` of each label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n) if counts is None else np.repeat([0, 1], counts)
    texts = []
    for label in labels:
        words = list(rng.choice(WORDS[2:], size=rng.integers(4, 9)))
        words.insert(int(rng.integers(0, len(words) + 1)), "good" if label else "bad")
        texts.append(" ".join(words))
    return texts, labels.tolist()


def split(texts, labels, names=("negative", "positive")):
    features = Features({"text": Value("string"), "label": ClassLabel(names=list(names))})
    return Dataset.from_dict({"text": list(texts), "label": list(labels)}, features=features)


def as_run(model, texts, labels):
    """A trained run as the audits see it, with the texts as its train split."""
    names = list(model.config.id2label.values())
    encoded = encode(tokenizer(), texts)
    counts = occurrences(encoded, torch.tensor(labels), classes=len(names), vocabulary=len(tokenizer()))
    record = {
        "recipe": {"preset": "by hand"},
        "seed": 0,
        "data": {"source": "planted"},
        "gauge": {
            "sign": model.config.gauge,
            "kind": SIGN_IN_WEIGHTS,
            "margin": 1.0,
            "positive_polarity": 1.0,
            "classes": [],
        },
    }
    return Run(Path("planted"), model, tokenizer(), record, counts)
