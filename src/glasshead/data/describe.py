"""What a loaded data set holds, in numbers that fit into a run's record."""

import hashlib
from typing import Any

import numpy as np
from datasets import ClassLabel, DatasetDict


def describe(data: DatasetDict) -> dict[str, Any]:
    """Rows, classes, blank texts and origin of every split, and one SHA-256 over all of it.

    Ratings have a mean and a standard deviation (of the population) in the place of classes.
    A text is blank if it, or its text_pair, holds nothing but white space. The fingerprint covers
    split names, class names, texts and labels in order, and nothing else.
    """
    digest = hashlib.sha256()
    rows, classes, blank, origin = {}, {}, {}, {}
    rated = not any(isinstance(dataset.features["label"], ClassLabel) for dataset in data.values())
    for split, dataset in data.items():
        labels = np.asarray(dataset["label"][:], dtype=np.float64 if rated else np.int64)
        columns = [dataset[name][:] for name in ("text", "text_pair") if name in dataset.column_names]
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
        digest.update(labels.astype("<f8" if rated else "<i8").tobytes())
    return {
        "rows": rows,
        "ratings" if rated else "classes": classes,
        "empty_texts": blank,
        "origin": origin,
        "fingerprint": digest.hexdigest(),
    }
