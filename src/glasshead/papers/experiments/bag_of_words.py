"""What needs neither attention nor order: logistic or ridge regression on the words of a text."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshead.data import encode, has_ratings, train_tokenizer
from glasshead.errors import InputError
from glasshead.training import class_metrics, rating_metrics

if TYPE_CHECKING:
    from datasets import DatasetDict
    from scipy.sparse import csr_array

WHOLE_TEXTS = 100_000
"""Words."""
INVERSE_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""C of scikit-learn, the inverse of the strength of the L2 penalty (1/alpha of a ridge regression)."""
READS = {"text": ("text",), "text_pair": ("text_pair",), "both": ("text", "text_pair")}
"""What of an example is read."""


def bag_of_words(
    data: "DatasetDict",
    *,
    reads: str | None = None,
    max_words: int = 100_000,
    max_length: int = WHOLE_TEXTS,
) -> dict[str, Any]:
    """The accuracy of logistic regression (for ratings, ridge regression) on the words of a text: the floor
    of any model.

    z = W c + b, where c_w is the count of word w, or its TF-IDF (1 + log count times log inverse document
    frequency, rows of length 1). Words are those of `glasshead.data.train_tokenizer`, all of train up to
    ``max_words``. Of pairs ``reads`` is "text", "text_pair" (of entailment: the hypothesis alone) or "both",
    each with separate weights (default: everything). The first ``max_length`` words of a text are read
    (default: all). Dev chooses counts or TF-IDF, and C.

    Returns:
        ``dev`` and ``test`` (where there is one) with ``accuracy`` and ``macro_f1``, or ``rmse`` and ``mae``;
        ``weighting``, ``C``, ``features`` and ``reads``; ``predicted`` [n], its predictions for the test
        examples.

    Raises:
        InputError: if there is nothing of that name to read.
    """
    from scipy.sparse import hstack
    from sklearn.linear_model import LogisticRegression, Ridge

    ratings = has_ratings(data["train"])
    pairs = "text_pair" in data["train"].column_names
    reads = ("both" if pairs else "text") if reads is None else reads
    if reads not in READS or (not pairs and reads != "text"):
        known = ", ".join(READS) if pairs else "text"
        raise InputError(f"a bag of words reads one of {known} of these data, not {reads!r}")
    splits = [split for split in ("train", "dev", "test") if split in data]
    columns = [
        word_counts({split: list(data[split][name]) for split in splits}, max_words, max_length)
        for name in READS[reads]
    ]
    labels = {split: np.asarray(data[split]["label"][:]) for split in splits}
    measure: Any = rating_metrics if ratings else class_metrics
    best: tuple[float, dict[str, Any]] = (-math.inf, {})
    for weighting in ("counts", "tf-idf"):
        weighted = [tf_idf(column) for column in columns] if weighting == "tf-idf" else columns
        features = {split: hstack([column[split] for column in weighted], format="csr") for split in splits}
        for C in INVERSE_PENALTIES:
            model: Any = Ridge(alpha=1 / C) if ratings else LogisticRegression(C=C, max_iter=5000)
            model.fit(features["train"], labels["train"])
            predicted = {split: model.predict(features[split]) for split in splits[1:]}
            metrics = {split: measure(labels[split], predicted[split]) for split in splits[1:]}
            score = -metrics["dev"]["rmse"] if ratings else metrics["dev"]["accuracy"]
            if score > best[0]:
                best = score, metrics | {"weighting": weighting, "C": C, "predicted": predicted.get("test")}
    return best[1] | {"features": sum(column["train"].shape[1] for column in columns), "reads": reads}


def word_counts(texts: dict[str, Sequence[str]], max_words: int, max_length: int) -> "dict[str, csr_array]":
    """How often each word of train occurs in each text of a split, [texts, words]."""
    from scipy.sparse import coo_array

    tokenizer = train_tokenizer(texts["train"], vocab_size=max_words, min_freq=1, max_length=max_length)
    counts = {}
    for split, column in texts.items():
        encoded = encode(tokenizer, column)
        row, place = encoded.mask.numpy().nonzero()
        shape = (len(column), len(tokenizer))
        entries = (np.ones(len(row)), (row, encoded.ids.numpy()[row, place]))
        counts[split] = coo_array(entries, shape=shape).tocsr()
    return counts


def tf_idf(counts: "dict[str, csr_array]") -> "dict[str, csr_array]":
    """Counts, weighted with the document frequencies of train."""
    from sklearn.feature_extraction.text import TfidfTransformer

    weigh = TfidfTransformer(sublinear_tf=True).fit(counts["train"])
    return {split: weigh.transform(matrix) for split, matrix in counts.items()}
