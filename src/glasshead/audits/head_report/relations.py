"""Which relation of dependency trees every head follows, beside always looking a fixed number of words away.

A word's head is predicted as the word that it looks at most (dependent → head), or as the word that looks at
it most (head → dependent), in the map between words, special tokens and the word itself left out. The best of
all heads is chosen on one half of the sentences and measured on the other, and so is the best fixed offset.

Source: Clark et al. (2019), section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.arrays import Integers
from glasshead.audits.head_report.relation_tables import HeadCounts, judge_relations
from glasshead.audits.head_report.row_statistics import rows_as_shares
from glasshead.audits.head_report.views import AttentionView, attention_views
from glasshead.audits.progress import StageProgress
from glasshead.data import ROOT, Encoded, Sentence, encode
from glasshead.errors import pluralise
from glasshead.results import MIN_UNITS, HeadRelation
from glasshead.trace import unit_of_each, word_map

RELATION_DIRECTIONS = ("dependent → head", "head → dependent")
OFFSETS = tuple(offset for offset in range(-5, 6) if offset)


class Tree(NamedTuple):
    """The words of a sentence that have tokens of their own: the word of each token (−1: none), and of every
    word its head among them (−1 where it has none there) and its relation."""

    words: Integers
    heads: Integers
    relations: Sequence[str]


def follow_relations(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    sentences: Sequence[Sentence],
    seed: int,
    stages: StageProgress,
) -> tuple[list[HeadRelation], list[str]]:
    """How well heads follow the relations of sentences, and remarks; nothing where there are no sentences."""
    if not sentences:
        return [], []
    stages.begin("relations")
    encoded = encode(tokenizer, [sentence.text for sentence in sentences])
    trees = [align(sentence, encoded, text) for text, sentence in enumerate(sentences)]
    counts, done = HeadCounts(trees, RELATION_DIRECTIONS), 0
    for batch in attention_views(model, encoded):
        texts_of_batch = set()
        for view in batch:
            if view.within and len(trees[view.text].heads) > 1:
                counts.add(view.facts.layer, view.text, *predict_heads(view, trees[view.text]))
            texts_of_batch.add(view.text)
        done += len(texts_of_batch)
        stages.on_texts(done, len(sentences))
    if not counts.correct:
        return [], ["No attention here is one between the words of a text: no relation was asked about."]
    lost = sum(len(sentence.heads) for sentence in sentences) - sum(len(tree.heads) for tree in trees)
    notes = []
    if lost:
        notes = [f"Without a token of their own, and so left out: {pluralise(lost, 'word')} of the trees."]
    judged = judge_relations(counts, offsets_of(trees), seed)
    if not judged:
        notes.append(f"No relation stands in {MIN_UNITS} sentences of each half: none is judged.")
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
