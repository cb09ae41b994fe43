"""A tiny task and a tiny recipe for every kind of model that `train` makes."""

import random
from functools import cache

import torch
import transformers as hf
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from families import FAMILIES
from glasshead.data import train_tokenizer
from glasshead.training import preset_config

FILLERS = ("the", "film", "was", "plot", "music", "scene", "end", "long")
NAMES = ("negative", "positive")
ENCODER = {
    "hidden_size": 8,
    "num_attention_heads": 2,
    "head_dim": 4,
    "value_dim": 4,
    "intermediate_size": 16,
    "initializer_range": 1.0,
    "learning_rate": 0.02,
    "batch_size": 8,
    "dropout": 0.1,
    "epochs": 6,
    "max_length": 24,
}
KINDS = (
    "pooled",
    "encoder",
    "pair-encoder",
    "cross-encoder",
    "hierarchical",
    "ratings",
    "pooled ratings",
    "tuned",
    "tuned distances",
)
PAIRS = ("pair-encoder", "cross-encoder")


def sentence(chance, word):
    """Fillers around one word that matters, and a full stop."""
    words = chance.choices(FILLERS, k=chance.randint(2, 6))
    words.insert(chance.randint(0, len(words)), word)
    return " ".join([*words, "."])


def columns(kind, chance, size):
    """Texts that end well or badly, pairs that agree or not, reviews with a star for every good word."""
    numbers = [index % 2 for index in range(size)]
    if kind in PAIRS:
        firsts = [chance.randint(0, 1) for _ in numbers]
        texts = [sentence(chance, ("bad", "good")[first]) for first in firsts]
        seconds = [first if number else 1 - first for first, number in zip(firsts, numbers, strict=True)]
        pairs = [sentence(chance, ("bad", "good")[second]) for second in seconds]
        return {"text": texts, "text_pair": pairs, "label": numbers}
    if "ratings" in kind:
        stars = [chance.randint(0, 2) for _ in numbers]
        texts = [
            " ".join(sentence(chance, "good" if place < star else "bad") for place in range(2))
            for star in stars
        ]
        return {"text": texts, "label": [float(star) for star in stars]}
    texts = [
        " ".join(sentence(chance, word) for word in (("long", "bad"), ("end", "good"))[n]) for n in numbers
    ]
    return {"text": texts, "label": numbers}


@cache
def data(kind, size=128):
    """Train, dev and test."""
    chance = random.Random(7)
    label = Value("float64") if "ratings" in kind else ClassLabel(names=list(NAMES))
    names = ["text", *(["text_pair"] if kind in PAIRS else [])]
    features = Features({name: Value("string") for name in names} | {"label": label})
    return DatasetDict(
        {
            split: Dataset.from_dict(columns(kind, chance, rows), features=features)
            for split, rows in (("train", size), ("dev", 20), ("test", 23))
        }
    )


def recipe(kind, folder=None):
    """What trains it in a second; ``folder`` is the model to be tuned."""
    if kind.startswith("tuned"):
        attention = "distance-aware" if kind == "tuned distances" else "tanhmax"
        changes = {"attention": attention, "epochs": 8, "learning_rate": 0.01, "max_length": 24}
        return preset_config(None, str(folder)).with_changes(**changes)
    if kind.startswith("pooled"):
        return preset_config(None, None).with_changes(learning_rate=0.05, batch_size=16, epochs=3)
    longer = {"batch_size": 16, "epochs": 12} if kind == "ratings" else {}
    return preset_config(None, "hierarchical" if kind == "ratings" else kind).with_changes(**ENCODER | longer)


def saved(folder, family="bert", *, pad=True, seed=1, **changes):
    """A random Hugging Face model (the same for one seed) and a tokenizer for the words of these tasks."""
    texts = [*FILLERS, "good", "bad", ".", "extra"]
    tokenizer = train_tokenizer(texts, min_freq=1, max_length=64)
    if not pad:
        tokenizer.pad_token = None
    options = FAMILIES[family].options | changes
    config = type(FAMILIES[family].config(**options))(**options)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = hf.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
