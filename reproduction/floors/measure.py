"""Fit a logistic regression on unigrams: scikit-learn's TF-IDF of words in lower case (1 + log of their
counts, all words of train, no order) and its LogisticRegression, fitted on train, with the C that is best on
dev. Train, dev and test are those of our tables. The floor below that is the commonest class of train.
"""

import re
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score

from reproduction.encoder_scale.measure import SST2, TREC
from reproduction.trainings import Set

SETS = {
    "SST-2": (SST2, "text"),
    "AG News (4,000 train rows)": (Set("ag_news"), "text"),
    "TREC": (TREC, "text"),
    "SNLI (20,000 train pairs), hypothesis only": (Set("snli"), "text_pair"),
}
PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""C, the inverse of the strength; the best on dev is taken."""
WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Words and signs, in lower case."""
    return WORD.findall(text.lower())


def unigrams(data: Set, column: str) -> dict[str, float]:
    """Test accuracy and macro-F1, the C that dev chose, and the accuracy of the commonest class."""
    read: Any = data.read()
    texts = {split: read[split][column][:] for split in ("train", "dev", "test")}
    labels = {split: np.asarray(read[split]["label"][:]) for split in texts}
    vectors = TfidfVectorizer(tokenizer=words, token_pattern=None, lowercase=False, sublinear_tf=True)
    vectors.fit(texts["train"])
    counts = {split: vectors.transform(each) for split, each in texts.items()}
    models = {
        C: LogisticRegression(C=C, max_iter=1000).fit(counts["train"], labels["train"]) for C in PENALTIES
    }
    best = max(PENALTIES, key=lambda C: models[C].score(counts["dev"], labels["dev"]))
    predicted = models[best].predict(counts["test"])
    commonest = DummyClassifier(strategy="most_frequent").fit(counts["train"], labels["train"])
    return {
        "accuracy": accuracy_score(labels["test"], predicted),
        "macro-F1": f1_score(labels["test"], predicted, average="macro"),
        "C": best,
        "commonest": commonest.score(counts["test"], labels["test"]),
    }
