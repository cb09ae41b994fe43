"""Texts in a file, and a classifier that names their classes."""

import csv

from classifier_families import FAMILIES, labelled_texts


def table(path, n=60, classes=("bad", "good"), seed=0):
    """A csv file of `labelled_texts`."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(*labelled_texts(n, classes, seed), strict=True)])
    return path


def named_bert(*classes):
    """A random BERT that names its two classes, and its tokenizer."""
    family = FAMILIES["Bert"]
    names = dict(enumerate(classes or ("bad", "good")))
    return family.build(labels=2, id2label=names), family.tokenizer()
