"""Which tokens are observed as one group, and which are followed one by one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from glasshead.data import DATASETS, SyntheticOptions, planted_groups, token_groups

MOST_OF_GROUP = 1000
MOST_FREQUENT = 500
PAIRED = 100
"""Tokens of a group whose dot products are taken; more would say the same."""


@dataclass(frozen=True)
class TokenGroups:
    """Groups of token ids by name, the ids that are followed, and how the groups were made.

    ``counts`` [classes, v] are occurrences in train, ``class_of`` [v] is the class towards which the polarity
    of a token is taken: 1 of two, else its most frequent one.
    """

    members: dict[str, NDArray[np.int64]]
    followed: NDArray[np.int64]
    counts: NDArray[np.int64]
    class_of: NDArray[np.int64]
    by: str

    def group_of(self) -> NDArray[np.str_]:
        """The group of every token id, "" where it has none."""
        names = np.full(self.counts.shape[1], "", dtype=f"<U{max(map(len, self.members), default=1)}")
        for name, ids in self.members.items():
            names[ids] = name
        return names

    def pair_sample(self) -> dict[str, NDArray[np.int64]]:
        """A seeded choice of each group for dot products."""
        rng = np.random.default_rng(0)
        return {
            name: np.sort(rng.choice(ids, PAIRED, replace=False)) if len(ids) > PAIRED else ids
            for name, ids in self.members.items()
        }


def group_tokens(
    tokenizer: PreTrainedTokenizerFast,
    counts: NDArray[np.int64],
    labels: list[str],
    truth: Mapping[str, str] | None = None,
) -> TokenGroups:
    """Groups by what was planted (``truth``: word → group), else by γ (`glasshead.data.token_groups`).

    Special tokens and tokens that never occur in train belong to none.
    """
    names = tokenizer.convert_ids_to_tokens(list(range(counts.shape[1])))
    occurs = counts.sum(axis=0) > 0
    occurs[[special for special in tokenizer.all_special_ids if special < len(occurs)]] = False
    if truth is None:
        group = np.where(occurs, token_groups(counts, labels)[0], "")
        order = ["positive", "negative", *(f"class {label}" for label in labels), "neutral"]
    else:
        group = np.array(
            [truth.get(name, "") if present else "" for name, present in zip(names, occurs, strict=True)]
        )
        planted = list(dict.fromkeys(truth.values()))
        # Positive first, as the papers plot them; of other classes their own order.
        order = ["positive", "negative", "neutral"] if "positive" in planted else planted
    members = {name: np.flatnonzero(group == name) for name in order if (group == name).any()}
    total = counts.sum(axis=0)
    frequent = np.argsort(-np.where(occurs, total, 0), kind="stable")
    followed = [ids[np.argsort(-total[ids], kind="stable")][:MOST_OF_GROUP] for ids in members.values()]
    followed.append(frequent[: min(MOST_FREQUENT, int(occurs.sum()))])
    return TokenGroups(
        members,
        np.unique(np.concatenate(followed)),
        counts,
        np.ones(counts.shape[1], dtype=np.int64) if len(labels) == 2 else counts.argmax(axis=0),
        "γ" if truth is None else "truth",
    )


def groups_from_source(source: Mapping[str, Any]) -> dict[str, str] | None:
    """The group in which each word of a run's synthetic data set was planted; None for other data, and
    where words have no group."""
    if source["source"] not in DATASETS:
        return None
    options = DATASETS[source["source"]].options(source["options"]["generator"])
    return planted_groups(options) if isinstance(options, SyntheticOptions) else None
