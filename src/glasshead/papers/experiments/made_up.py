"""Made-up pairs of texts (does the second say the same as the first?) and made-up ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshead.data import LoadOptions, load

if TYPE_CHECKING:
    from datasets import DatasetDict

MADE_UP_PAIRS = "synthetic-pairs"
MADE_UP_RATINGS = "synthetic-ratings"
PAIR_CLASSES = ("different", "same")


def generate_pairs(options: LoadOptions) -> DatasetDict:
    """The texts of the set ``synthetic`` with another one each; "same" if both are of one class.

    Neither text alone tells the class. The pairs are drawn with the seed of the generator.
    """
    from datasets import ClassLabel, DatasetDict

    texts = load("synthetic", options)
    rng = np.random.default_rng(int(options.generator.get("seed", 0)))
    splits = {}
    for name, rows in texts.items():
        partner = rng.permutation(len(rows))
        labels = np.asarray(rows["label"][:])
        splits[name] = (
            rows.add_column("text_pair", rows.select(partner)["text"][:])
            .remove_columns("label")
            .add_column("label", (labels == labels[partner]).astype(int).tolist())
            .cast_column("label", ClassLabel(names=list(PAIR_CLASSES)))
        )
    return DatasetDict(splits)


def generate_ratings(options: LoadOptions) -> DatasetDict:
    """The texts of the set ``synthetic`` with one star or five."""
    from datasets import DatasetDict, Value

    splits = {}
    for name, rows in load("synthetic", options).items():
        stars = [1.0 + 4.0 * label for label in rows["label"][:]]
        splits[name] = (
            rows.remove_columns("label").add_column("label", stars).cast_column("label", Value("float64"))
        )
    return DatasetDict(splits)
