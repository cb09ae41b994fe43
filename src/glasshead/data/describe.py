"""What a loaded data set holds, in numbers that fit into a run's record."""

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshead.errors import pluralise
from glasshead.nouns import IMAGE_NOUNS, TEXTS, Nouns

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

MANY = 12
"""So many classes are named."""


def has_ratings(split: "Dataset") -> bool:
    """Whether the labels of a loaded split are numbers, not classes."""
    from datasets import ClassLabel

    return not isinstance(split.features["label"], ClassLabel)


def has_images(split: "Dataset") -> bool:
    """Whether a split holds images, in whose column ``text`` their names are."""
    from datasets import Image

    return isinstance(split.features.get("image"), Image)


def nouns_of_split(split: "Dataset") -> Nouns:
    """The noun for the rows of a split."""
    return IMAGE_NOUNS if has_images(split) else TEXTS


def describe(data: "DatasetDict") -> dict[str, Any]:
    """Rows, classes, blank texts and origin of every split, and one SHA-256 over all of it.

    Ratings have a mean and a standard deviation (of the population) instead of classes. A text is blank if
    it, or its text_pair, holds nothing but white space. The fingerprint covers split names, class names,
    texts, images and labels in order, and nothing else.
    """
    digest = hashlib.sha256()
    rows, classes, blank, origin = {}, {}, {}, {}
    rated = all(map(has_ratings, data.values()))
    for split, dataset in data.items():
        labels = np.asarray(dataset["label"][:], dtype=np.float64 if rated else np.int64)
        columns = [dataset[name][:] for name in ("text", "text_pair") if name in dataset.column_names]
        pictures = [cell["bytes"] for cell in dataset["image"][:]] if has_images(dataset) else []
        rows[split] = len(dataset)
        names = [] if rated else list(dataset.features["label"].names)
        if rated:
            classes[split] = {"mean": float(labels.mean()), "std": float(labels.std())}
        else:
            counts = np.bincount(labels, minlength=len(names)).tolist()
            classes[split] = dict(zip(names, counts, strict=True))
        blank[split] = sum(any(not text.strip() for text in row) for row in zip(*columns, strict=True))
        origin[split] = dataset.info.description
        # Lengths go first, so that no two different data sets write the same bytes.
        for texts in ([split], names, *columns):
            encoded = [text.encode() for text in texts]
            digest.update(np.array([len(encoded), *map(len, encoded)], dtype="<i8").tobytes())
            digest.update(b"".join(encoded))
        for content in pictures:
            digest.update(len(content).to_bytes(8, "little") + content)
        digest.update(labels.astype("<f8" if rated else "<i8").tobytes())
    return {
        "rows": rows,
        "ratings" if rated else "classes": classes,
        "empty_texts": blank,
        "origin": origin,
        "fingerprint": digest.hexdigest(),
    }


def describe_in_words(facts: dict[str, Any]) -> list[str]:
    """The findings of `describe`, a line for each split and for labels that may be typing errors."""
    lines = []
    for split, rows in facts["rows"].items():
        if "ratings" in facts:
            ratings = facts["ratings"][split]
            what = f"ratings {ratings['mean']:.4g} ± {ratings['std']:.4g}"
        else:
            sizes = facts["classes"][split]
            what = ", ".join(f"{name} {size:,}" for name, size in list(sizes.items())[:MANY])
            what += f", and {len(sizes) - MANY:,} more" if len(sizes) > MANY else ""
        empty = facts["empty_texts"][split]
        lines.append(
            f"{split:>5}  {pluralise(rows, 'row')}: {what}"
            + (f"; {pluralise(empty, 'empty text')}" if empty else "")
        )
    return lines + doubtful_labels(facts.get("classes", {}))


def doubtful_labels(classes: dict[str, dict[str, int]]) -> list[str]:
    """Labels that occur once in all splits, and such as differ by their case alone."""
    total: Counter[str] = Counter()
    for sizes in classes.values():
        total.update(sizes)
    alike: dict[str, list[str]] = {}
    for name in total:
        alike.setdefault(" ".join(name.casefold().split()), []).append(name)
    lines = [
        f"the labels {' and '.join(map(repr, names))} differ only by case: merge them if they mean the same"
        for names in alike.values()
        if len(names) > 1
    ]
    once = [repr(name) for name, size in total.items() if size == 1]
    if once:
        which = ", ".join(once[:MANY]) + (", …" if len(once) > MANY else "")
        lines.append(f"labels that occur once: {which}; correct them, or choose other classes")
    return lines
