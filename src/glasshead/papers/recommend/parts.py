"""A click score taken apart: what every clicked news item and every word of a title adds to it.

ŷ = u · n with u = Σ_t a_t h_t over the clicked news and n = Σ_w b_w g_w over the words of the candidate's
title, where a and b are the weights of the pooling and h and g the vectors that it reads. So the a_t h_t · n
add up to ŷ, and so do the b_w u · g_w. All in float64.
"""

import copy
from collections.abc import Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.data import Encoded, encode
from glasshead.errors import InputError
from glasshead.models import Encoder
from glasshead.papers.recommend.mind import NewsLogs
from glasshead.papers.recommend.run import RecommenderRun

TITLES_PER_PASS = 256


class PooledSequence(NamedTuple):
    """One vector for each sequence, the states that it is pooled from, and with which weights."""

    vector: Float[Tensor, "b d"]
    states: Float[Tensor, "b n d"]
    weights: Float[Tensor, "b n"]


class ScoreParts:
    """The model of a run in float64, and the vectors of some news, each encoded once.

    Raises:
        InputError: if the model does not pool by attention, so that there are no weights to read.
    """

    def __init__(self, run: RecommenderRun, logs: NewsLogs, names: Iterable[str]) -> None:
        if run.model.config.pooling != "attention":
            raise InputError(
                f"{run.folder} pools by {run.model.config.pooling!r}, which has no weights to read: train "
                "with the pooling 'attention'"
            )
        self.model = copy.deepcopy(run.model).double().eval()
        self.names = list(dict.fromkeys(names))
        self.row = {name: number for number, name in enumerate(self.names)}
        self.encoded: Encoded = encode(run.tokenizer, [logs.news[name].title for name in self.names])
        self.news = self.encode_news()

    def encode_news(self) -> Float[Tensor, "n d"]:
        """The vector of every title."""
        parts = []
        for start in range(0, len(self.names), TITLES_PER_PASS):
            some = self.encoded.some(slice(start, start + TITLES_PER_PASS))
            parts.append(self.read_titles(some.ids, some.mask).vector)
        return torch.cat(parts)

    @torch.no_grad()
    def read_titles(self, ids: Int[Tensor, "n l"], mask: Tensor) -> PooledSequence:
        """Titles from their words."""
        device = self.model.device
        return pool(self.model.words, self.model.embedding(ids.to(device)), mask.to(device))

    @torch.no_grad()
    def read_histories(self, clicked: Float[Tensor, "b t d"]) -> PooledSequence:
        """Users from the vectors of the news that they clicked, oldest first."""
        mask = torch.ones(clicked.shape[:2], dtype=torch.bool, device=clicked.device)
        return pool(self.model.clicks, clicked, mask)

    def without_each_click(self, clicked: Float[Tensor, "t d"]) -> Float[Tensor, "t d"]:
        """The user vector without each of the clicked news; zeros where it was the only one."""
        if len(clicked) == 1:
            return torch.zeros_like(clicked)
        return self.read_histories(clicked[leave_one_out(len(clicked)).to(clicked.device)]).vector

    def without_each_word(self, title: int) -> Float[Tensor, "w d"]:
        """The vector of a title without each of its words; zeros where it was the only one."""
        ids = self.word_ids(title)
        if len(ids) == 1:
            return torch.zeros_like(self.news[:1])
        shorter = ids[leave_one_out(len(ids))]
        return self.read_titles(shorter, torch.ones_like(shorter, dtype=torch.bool)).vector

    def words(self, title: int) -> tuple[Float[Tensor, " w"], Float[Tensor, "w d"]]:
        """The word-level weights of a title, and the states that they weigh."""
        ids = self.word_ids(title)[None]
        read = self.read_titles(ids, torch.ones_like(ids, dtype=torch.bool))
        return read.weights[0], read.states[0]

    def word_ids(self, title: int) -> Int[Tensor, " w"]:
        """The words of a title that are read."""
        return self.encoded.ids[title][self.encoded.mask[title]]


def leave_one_out(size: int) -> Int[Tensor, "n m"]:
    """Row i holds 0 … size − 1 without i."""
    rows = torch.arange(size).expand(size, size)
    return rows[rows != torch.arange(size)[:, None]].view(size, max(size - 1, 0))


def pool(encoder: Encoder, embeddings: Float[Tensor, "b n d"], mask: Tensor) -> PooledSequence:
    """What an encoder makes of sequences, with the states and weights of its pooling."""
    read: list[Tensor] = []
    handle = encoder.pooling.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    try:
        vector, weights = encoder(embeddings, mask, need_weights=True)
    finally:
        handle.remove()
    return PooledSequence(vector, read[-1], weights[-1][:, 0, 0])
