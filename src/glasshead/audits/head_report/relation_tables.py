"""How often attention heads, and fixed offsets, find the head of a word: the best of each, by relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from glasshead.arrays import Flags, Floats, Integers
from glasshead.results import HEADS, MIN_UNITS, Difference, Finding, HeadRelation, Verdict
from glasshead.statistics import (
    cluster_interval,
    share_difference_interval,
    simultaneous_level,
)

ALL, PUNCT = "all", "punct"
"""Every relation but that of punctuation, and that one."""
CITATION = "Clark et al. 2019, Table 1"


class TreeLike(Protocol):
    """A sentence whose words have heads and relations."""

    @property
    def heads(self) -> Integers: ...
    @property
    def relations(self) -> Sequence[str]: ...


class HeadCounts:
    """How many words of each relation have the predicted head, by direction [relations, sentences, heads];
    and how many there are [relations, sentences]. ``found`` says by direction and sentence of which heads ×
    words the prediction is right, in one list."""

    def __init__(
        self, trees: Sequence[TreeLike], names: Sequence[str], found: Mapping[str, Sequence[Flags]]
    ) -> None:
        self.trees, self.names = trees, names
        labels = Counter(
            relation
            for tree in trees
            for relation, head in zip(tree.relations, tree.heads, strict=True)
            if head >= 0
        )
        self.relations = [ALL, *(relation for relation, _ in labels.most_common())]
        rows = {relation: row for row, relation in enumerate(self.relations)}
        self.row_of_word = [
            np.array([rows.get(name, 0) for name in tree.relations], dtype=int) for tree in trees
        ]
        self.totals = np.stack(
            [self.tally(text, tree.heads >= 0) for text, tree in enumerate(trees)], axis=1
        )  # [relations, sentences]
        self.correct = {direction: self.counts_of(flags) for direction, flags in found.items()}

    def tally(self, text: int, right: Flags) -> Floats:
        """Words [w] or [h, w] of a sentence, counted by relation [relations] or [h, relations]."""
        size = len(self.relations)
        counted = right & (self.trees[text].heads >= 0)
        members = np.zeros((len(self.row_of_word[text]), size))
        members[np.arange(len(members)), self.row_of_word[text]] = 1
        sums = counted.astype(float) @ members
        sums[..., 0] = 0
        punct = self.relations.index(PUNCT) if PUNCT in self.relations else None
        sums[..., 0] = sums.sum(-1) - (0 if punct is None else sums[..., punct])
        return np.asarray(sums)

    def counts_of(self, flags: Sequence[Flags]) -> Floats:
        """What the heads find in each sentence [relations, sentences, heads]."""
        shape = len(self.names), -1
        sums = [self.tally(text, own.reshape(shape)).T for text, own in enumerate(flags) if len(own)]
        counts = np.zeros((len(self.relations), len(self.trees), len(self.names)))
        if sums:
            counts[:, [bool(len(own)) for own in flags]] = np.stack(sums, axis=1)
        return counts


def judge_relations(
    counts: HeadCounts, offsets: Iterable[tuple[int, list[Integers]]], seed: int
) -> list[HeadRelation]:
    """Every relation that enough sentences have, in both directions: the best head and the best offset of one
    half of the sentences on the other half."""
    numbers, baseline = [], []
    for offset, predictions in offsets:
        numbers.append(offset)
        right = [
            counts.tally(text, predicted == tree.heads)
            for text, (tree, predicted) in enumerate(zip(counts.trees, predictions, strict=True))
        ]
        baseline.append(np.stack(right, axis=1))
    by_offset = np.stack(baseline, axis=2)  # [relations, sentences, offsets]
    rng = np.random.default_rng([seed, 18])
    first = np.zeros(len(counts.trees), dtype=bool)
    first[rng.permutation(len(first))[: len(first) // 2]] = True
    occurs = counts.totals > 0
    frequent = [
        row
        for row in range(len(counts.relations))
        if min(occurs[row, first].sum(), occurs[row, ~first].sum()) >= MIN_UNITS
    ]
    level = simultaneous_level(len(frequent) * len(counts.correct))
    results = []
    for row in frequent:
        for direction, correct in counts.correct.items():
            halves = (first, ~first)
            head = int(correct[row, first].sum(0).argmax())
            offset = int(by_offset[row, first].sum(0).argmax())
            own, other = (part[row, halves[1]] for part in (correct[..., head], by_offset[..., offset]))
            results.append(
                relation_finding(
                    counts.relations[row], direction, counts.names[head], numbers[offset],
                    np.stack([own, other, counts.totals[row, ~first]]), level, rng,
                )
            )  # fmt: skip
    return results


def relation_finding(
    relation: str,
    direction: str,
    best: str,
    offset: int,
    columns: Floats,
    level: float,
    rng: np.random.Generator,
) -> HeadRelation:
    """One relation, from how many words the head and the offset get right in each sentence, and how many
    there are; intervals are over sentences, of the share of all words."""
    own, other, totals = columns
    means = columns[:2].sum(axis=1) / totals.sum()
    n = int((totals > 0).sum())
    head, baseline = (
        Finding(
            audit=HEADS, statistic=name, against=direction, group=relation, estimate=float(mean), std=None,
            interval=cluster_interval(hits, totals, level), null={}, n=n, undefined={},
            significant_fraction=None, citation=CITATION, level=level, **Verdict("").fields,
        )
        for name, hits, mean in zip(("accuracy", "offset-accuracy"), (own, other), means, strict=True)
    )  # fmt: skip
    interval = share_difference_interval(own, other, totals, rng=rng, level=level)
    words = "better" if interval[0] > 0 else "worse" if interval[1] < 0 else "undecided"
    difference = Difference(
        f"{relation}, {direction}", 0, 1, float(means[0] - means[1]), interval, n,
        {
            "better": f"head {best} follows it better than any fixed offset",
            "worse": "a fixed offset is better than any head",
            "undecided": "no head is shown to follow it better than a fixed offset",
        }[words],
        level=level,
    )  # fmt: skip
    return HeadRelation(relation, direction, best, head, offset, baseline, difference)
