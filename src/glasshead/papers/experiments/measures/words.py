"""Which words a class has, and which of them attention selects: lists for people."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.audits import audit
from glasshead.data import token_groups
from glasshead.opening import load_run
from glasshead.papers.experiments.job import MEASURES, Job, Measured

LISTED = 12
"""Words of each list."""
LEAST_OCCURRENCES = 5
"""In the test texts, of a word that attention selects."""


@MEASURES.register("word-groups")
def word_groups(job: Job) -> Measured:
    """How many words each class has in train (``glasshead.data.token_groups``), and its commonest ones: Sun
    and Lu (2020), Table 1. The model is trained for its words alone."""
    job.train()
    run = load_run(job.folder)
    labels = job.data["train"].features["label"].names
    groups, _ = token_groups(run.counts, labels)
    tokens = np.array(run.tokenizer.convert_ids_to_tokens(list(range(run.counts.shape[1]))))
    numbers: dict[str, Any] = {}
    for group in (name for name in np.unique(groups).tolist() if name):
        members = groups == group
        numbers[f"{group}_words"] = int(members.sum())
        numbers[f"{group}_examples"] = most(tokens[members], run.counts[:, members].sum(axis=0))
    return Measured(numbers)


@MEASURES.register("selected-words")
def measure_selected_words(job: Job) -> Measured:
    """The words with the largest and the smallest canonical weights, by their mean over the test texts: the
    selected tokens of Huang, Yang and Wang (2024)."""
    job.train()
    card = audit(load_run(job.folder), job.data["test"], audits=("tokens",), seed=job.seed)
    frequent = np.asarray(card.tokens["occurrences"]) >= LEAST_OCCURRENCES
    tokens, weights = (np.asarray(card.tokens[name])[frequent] for name in ("token", "weight"))
    lists = {"largest_weights": most(tokens, weights), "smallest_weights": most(tokens, -weights)}
    return Measured({"accuracy": card.facts["accuracy"]} | lists)


def most(words: NDArray[np.str_], values: Sequence[float] | NDArray[Any]) -> list[str]:
    """The words with the largest values that are made of letters."""
    order = np.argsort(-np.asarray(values), kind="stable")
    return [str(word) for word in words[order] if word.isalpha()][:LISTED]
