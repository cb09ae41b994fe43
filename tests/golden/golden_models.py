"""Models whose numbers must stay: tiny, with weights from NumPy, which are the same on every CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

import readable
from classifier_families import FAMILIES, WORDS
from image_families import CLASSES, image_model, pictures, processor

NAMES = {0: "bad", 1: "good"}
TEXTS = 24
READABLE = [word for word in readable.WORDS if word not in ("good", "bad", ".")]


@dataclass(frozen=True)
class GoldenModel:
    """A model with the data of its audits and the inputs that are explained.

    ``reader`` is what front-door functions take as ``tokenizer``. ``rows`` are the data of an audit,
    ``inputs`` (and ``pairs``) are explained. A language model ``writes``; of a ``thorough`` one audits are
    sliced too, and other maps are searched.
    """

    model: PreTrainedModel
    reader: Any
    rows: Any
    inputs: list[Any]
    pairs: list[str] | None = None
    writes: bool = False
    thorough: bool = False


def with_weights(model: PreTrainedModel, spread: float) -> PreTrainedModel:
    """The model with normal weights, as wide as that, and small biases; norms stay."""
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 or name.endswith("bias"):
                values = rng.normal(0.0, spread if weight.ndim > 1 else 0.1, tuple(weight.shape))
                weight.copy_(torch.from_numpy(values))
    return model.eval()


def sentences(words: list[str], count: int = TEXTS, planted: str = "good", seed: int = 0) -> list[str]:
    """Words in random order, in every second one the planted word."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(count):
        text = [str(word) for word in rng.choice(words, rng.integers(4, 9))]
        if number % 2:
            text[rng.integers(len(text))] = planted
        texts.append(" ".join(text))
    return texts


def labelled(texts: list[str], planted: str = "good") -> list[dict[str, Any]]:
    """Rows with classes and with words that somebody marked."""
    return [
        {
            "text": text,
            "label": NAMES[int(planted in text.split())],
            "marks": [[0, len(text.split()[0])]],
        }
        for text in texts
    ]


def of_ours(family: str, spread: float, **options: Any) -> GoldenModel:
    """One of our own models."""
    kind = readable.family(family, **options)
    kind.model.config.update({"id2label": NAMES, "label2id": {name: n for n, name in NAMES.items()}})
    texts = sentences(READABLE)
    model = with_weights(kind.model, spread)
    return GoldenModel(model, kind.tokenizer, labelled(texts), texts[:3], thorough="activation" in options)


def of_family(name: str, **options: Any) -> GoldenModel:
    """A classifier of texts that people bring."""
    family = FAMILIES[name]
    model = family.build(labels=2, id2label=NAMES, **options)
    texts = sentences(WORDS.split(), planted="funny")
    rows = labelled(texts, "funny")
    return GoldenModel(with_weights(model, 0.3), family.tokenizer(), rows, texts[:3])


def pair_classifier() -> GoldenModel:
    """Does the second text follow from the first?"""
    names = dict(enumerate(("entailment", "neutral", "contradiction")))
    labels = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    family = FAMILIES["Bert"]
    firsts = sentences(WORDS.split(), planted="funny")
    seconds = sentences(WORDS.split(), planted="dull", seed=1)
    rows = [
        {"text": first, "text_pair": second, "label": names[number % 3]}
        for number, (first, second) in enumerate(zip(firsts, seconds, strict=True))
    ]
    model = with_weights(family.build(labels=3, **labels), 0.3)
    return GoldenModel(model, family.tokenizer(), rows, firsts[:3], seconds[:3])


def rating_model() -> GoldenModel:
    """How many stars?"""
    family = FAMILIES["Roberta"]
    texts = sentences(WORDS.split(), planted="funny")
    rows = [{"text": text, "label": 1.0 + 4.0 * ("funny" in text)} for text in texts]
    return GoldenModel(with_weights(family.build(labels=1), 0.3), family.tokenizer(), rows, texts[:3])


def language_model() -> GoldenModel:
    """What comes next?"""
    family = FAMILIES["Llama"]
    texts = sentences(WORDS.split(), planted="funny")
    rows = [{"text": f"{text} {other}"} for text, other in zip(texts, texts[::-1], strict=True)]
    model = with_weights(family.language_model(), 0.3)
    return GoldenModel(model, family.tokenizer(), rows, texts[:3], writes=True)


def images() -> GoldenModel:
    """What is on it?"""
    from datasets import ClassLabel, Dataset, Features
    from datasets import Image as ImageFeature

    features = Features({"image": ImageFeature(), "label": ClassLabel(names=list(CLASSES))})
    given = pictures(TEXTS)
    cells = [{"bytes": each.content, "path": f"{number}.png"} for number, each in enumerate(given)]
    rows = Dataset.from_dict(
        {"image": cells, "label": [number % len(CLASSES) for number in range(TEXTS)]}, features=features
    )
    return GoldenModel(
        with_weights(image_model("vit"), 0.3), processor(), rows, [rows[n]["image"] for n in range(3)]
    )


MODELS: dict[str, Callable[[], GoldenModel]] = {
    "pooled softmax": lambda: of_ours("pooled", 1.0),
    "pooled tanhmax": lambda: of_ours("pooled", 1.0, activation="tanhmax"),
    "transformer": lambda: of_ours("encoder", 0.5, attention="tanhmax", num_hidden_layers=2),
    "bert": lambda: of_family("Bert"),
    "gpt2": lambda: of_family("GPT2"),
    "modernbert mean": lambda: of_family("ModernBert", classifier_pooling="mean"),
    "deberta": lambda: of_family("Deberta"),
    "vit": images,
    "pairs": pair_classifier,
    "ratings": rating_model,
    "language model": language_model,
}
