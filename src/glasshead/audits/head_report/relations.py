"""Which relation of dependency trees every head follows, next to always looking a fixed number of words away.

A word's head is predicted as the word that it looks at most (dependent → head), or as the word that looks at
it most (head → dependent), in the map between words, special tokens and the word itself left out. The best of
all heads is chosen on one half of the sentences and measured on the other, and so is the best fixed offset.

Source: Clark et al. (2019), section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.arrays import Integers
from glasshead.audits.head_report.relation_tables import HeadCounts, judge_relations
from glasshead.audits.head_report.row_statistics import rows_as_shares
from glasshead.audits.head_report.text_statistics import LayerFacts, names_of_heads, places_of_heads
from glasshead.audits.head_report.views import AttentionView, attention_views
from glasshead.audits.judging.base import Measure, Measured
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.judging.table import Column, lists
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.view import ModelView
from glasshead.data import ROOT, Encoded, Sentence
from glasshead.errors import pluralise
from glasshead.results import MIN_UNITS, HeadRelation
from glasshead.trace import unit_of_each, word_map

RELATIONS, SENTENCE = "relations", "sentence"
RELATION_DIRECTIONS = ("dependent → head", "head → dependent")
OFFSETS = tuple(offset for offset in range(-5, 6) if offset)


class Tree(NamedTuple):
    """The words of a sentence that have tokens of their own: the word of each token (−1: none), and of every
    word its head among them (−1 where it has none there) and its relation."""

    words: Integers
    heads: Integers
    relations: Sequence[str]


@dataclass(frozen=True)
class RelationRows(Measure):
    """Which words of a tree have the head that each attention head between them predicts, by direction."""

    layers: tuple[LayerFacts, ...]

    columns: ClassVar[tuple[Column, ...]] = tuple(
        Column(direction, "flags", "", "by head and word whether the head of the word is found")
        for direction in RELATION_DIRECTIONS
    )

    def measure(self, view: ModelView) -> Measured:
        encoded, places = view.explanation.encoded, places_of_heads(self.layers)
        trees = [align(sentence, encoded, row) for row, sentence in enumerate(view.columns[SENTENCE])]
        found = {
            direction: [np.zeros((len(names_of_heads(self.layers)), len(tree.heads)), bool) for tree in trees]
            for direction in RELATION_DIRECTIONS
        }
        for batch in attention_views(view.explanation.model, encoded):
            for one in batch:
                tree = trees[one.text]
                if one.facts.layer in places and len(tree.heads) > 1:
                    for direction, predicted in zip(found, predict_heads(one, tree), strict=True):
                        found[direction][one.text][places[one.facts.layer]] = predicted == tree.heads
        return Measured({name: lists([own.ravel() for own in flags]) for name, flags in found.items()})


def layers_between(sample: Sample, layers: Sequence[LayerFacts]) -> tuple[LayerFacts, ...]:
    """The layers that are asked about relations, where texts have trees: those within a text."""
    return tuple(one for one in layers if one.within) if SENTENCE in sample.columns else ()


def follow_relations(
    sample: Sample, layers: Sequence[LayerFacts], kept: Measurements, seed: int
) -> tuple[list[HeadRelation], list[str]]:
    """How well heads follow the relations of all sentences of a sample, and remarks; nothing where there are
    no sentences."""
    sentences: Sequence[Sentence] = sample.columns.get(SENTENCE, ())
    layers = layers_between(sample, layers)
    if not sentences:
        return [], []
    if not layers:
        return [], ["This model has no attention between the words of one text, so no relation was tested."]
    trees = [align(sentence, sample.encoded, row) for row, sentence in enumerate(sentences)]
    table = kept.read(RELATIONS, sample.ids, RelationRows.columns).columns
    found = {direction: list(table[direction]) for direction in RELATION_DIRECTIONS}
    counts = HeadCounts(trees, [f"{layer}-{head}" for layer, head in names_of_heads(layers)], found)
    lost = sum(len(sentence.heads) for sentence in sentences) - sum(len(tree.heads) for tree in trees)
    notes = []
    if lost:
        notes = [
            (
                f"Left out, because they share a token with other words: {pluralise(lost, 'word')} of the "
                "trees."
            )
        ]
    judged = judge_relations(counts, offsets_of(trees), seed)
    if not judged:
        notes.append(f"No relation occurs in {MIN_UNITS} sentences of each half, so none is judged.")
    return judged, notes


def align(sentence: Sentence, encoded: Encoded, text: int) -> Tree:
    """Which token is a piece of which word of a tree: that in which its first character stands."""
    owner = np.full(len(sentence.text) + 1, -1)
    for word in reversed(range(len(sentence.spans))):
        owner[slice(*sentence.spans[word])] = word
    keep = encoded.mask[text].numpy()
    words = np.full(int(keep.sum()), -1)
    for place, (start, end) in enumerate(encoded.offsets[text][keep].tolist()):
        if encoded.words[text][place] >= 0:
            own = owner[start:end]
            words[place] = next((word for word in own.tolist() if word >= 0), -1)
    present = sorted(set(words[words >= 0].tolist()))
    number = {word: rank for rank, word in enumerate(present)}
    heads = [number.get(sentence.heads[word], -1) if sentence.heads[word] != ROOT else -1 for word in present]
    return Tree(
        np.array([number.get(word, -1) for word in words.tolist()], dtype=np.int64),
        np.array(heads, dtype=np.int64),
        [sentence.relations[word] for word in present],
    )


def predict_heads(view: AttentionView, tree: Tree) -> tuple[Integers, Integers]:
    """The head of every word as each attention head has it [h, w], in both directions; −1 where it looks at
    no other word, or nothing looks at it."""
    between = tree_map(rows_as_shares(view)[0], tree.words[view.keys])
    return tuple(largest_of_rows(matrix) for matrix in (between, between.transpose(1, 2)))  # type: ignore[return-value]


def tree_map(shares: Float[Tensor, "h q k"], words: Integers) -> Float[Tensor, "h w w"]:
    """The attention between the words of a tree, a word's own left out."""
    units = np.array(unit_of_each(words.tolist()))
    own = np.array([units[np.flatnonzero(words == word)[0]] for word in range(words.max() + 1)])
    at = torch.from_numpy(own).to(shares.device)
    between = word_map(shares, words.tolist())[:, at][:, :, at]
    return between.masked_fill(torch.eye(len(own), dtype=torch.bool, device=at.device), 0.0)


def largest_of_rows(matrix: Float[Tensor, "h w w"]) -> Integers:
    """Where each row is largest; −1 where it is zero."""
    values, places = matrix.max(dim=-1)
    return np.asarray(torch.where(values > 0, places, -1).cpu().numpy())


def offsets_of(trees: Sequence[Tree]) -> Iterator[tuple[int, list[Integers]]]:
    """The word so many words away, for every offset and sentence, or that at the end of the sentence."""
    for offset in OFFSETS:
        yield (
            offset,
            [np.clip(np.arange(len(tree.heads)) + offset, 0, max(len(tree.heads) - 1, 0)) for tree in trees],
        )
