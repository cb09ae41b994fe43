"""How many dimensions the values of a head span, by the length of a text: Bhardwaj et al. (2021), Figs. 2, 5
and 6."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from glasshead.data import encode
from glasshead.identifiability import RowSelector
from glasshead.opening import open_model
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.lengths import LengthSample, logit_ranks_by_length, ranks_by_length
from glasshead.papers.results import LogitRankTable, RankTable

RANK_LENGTHS = (8, 16, 32, 48, 64, 80, 96, 128, 192, 256, 320, 352, 384, 416, 448, 480, 512)
TEXTS_RANKED = 100
"""Of each length, cut to it."""
BEYOND = (2, 16, 32, 48, 64)
"""Lengths of Fig. 5 beyond d_v: at most d_v + 1 tokens leave no other weights."""
FEW_TEXTS, DRAWS = 5, 1000
NEARLY_FULL = 0.95
HEAD = RowSelector((0,), (0,))


@MEASURES.register("ranks")
def measure_ranks(job: Job) -> Measured:
    """What `classifier` measures; of the first head the mean rank of T and the mean size of its left null
    space by length, and the least ranks of the logits of random alternatives of its weights.

    ``ranks`` and ``logit_ranks`` are lists of [length, rank, how often].
    """
    measured = classifier(job)
    model, tokenizer = open_model(job.folder)
    texts = list(job.data["test"]["text"])
    most = longest_text(tokenizer, texts)
    lengths = tuple(length for length in RANK_LENGTHS if length <= most)
    table = ranks_by_length(model, tokenizer, texts, LengthSample(lengths, TEXTS_RANKED, job.seed), HEAD)
    numbers = measured.numbers | value_numbers(table)
    beyond = tuple(table.value_dim + more for more in BEYOND if table.value_dim + more <= most)
    if beyond:
        sample = LengthSample(beyond, FEW_TEXTS, job.seed)
        # A sharp map has weights that float32 rounds to nothing, and logits need their logarithms.
        logits = logit_ranks_by_length(model.double(), tokenizer, texts, sample, HEAD, draws=DRAWS)
        numbers |= logit_numbers(logits)
    return Measured(numbers, measured.hits)


def longest_text(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> int:
    """The tokens of the longest of the texts, as the model reads them."""
    return int(encode(tokenizer, texts).mask.sum(dim=1).max())


def value_numbers(table: RankTable) -> dict[str, Any]:
    """Means by length, and up to which length T has full row rank (`full_rank_tokens`)."""
    tokens, rank, null = (table.column(name).astype(int) for name in ("tokens", "rank", "null"))
    ranks = counts(tokens, rank)
    numbers = {"value_dim": table.value_dim, "ranks": ranks, "full_rank_tokens": full_rank_tokens(ranks)}
    for length in np.unique(tokens):
        numbers[f"rank_{length}"] = float(rank[tokens == length].mean())
        numbers[f"null_{length}"] = float(null[tokens == length].mean())
    return numbers


def full_rank_tokens(ranks: Sequence[Sequence[int]]) -> int:
    """The longest of the lengths up to which T has full row rank before `NEARLY_FULL` of the texts, so that
    no other weights give the same output; 0 if it has not at the shortest."""
    longest = 0
    for length in sorted({length for length, _, _ in ranks}):
        texts = {rank: often for size, rank, often in ranks if size == length}
        if texts.get(length, 0) < NEARLY_FULL * sum(texts.values()):
            break
        longest = length
    return longest


def logit_numbers(table: LogitRankTable) -> dict[str, Any]:
    """The share of the alternatives that keys of this size could have made, and by how many dimensions the
    rank of their logits stays below d_s − 1, the largest that it can be."""
    by_length = table.by_length()
    drawn = np.concatenate(list(by_length.values()))
    tokens = np.repeat(list(by_length), [len(ranks) for ranks in by_length.values()])
    return {
        "key_dim": table.head_dim,
        "logit_ranks": counts(tokens, drawn),
        "obtainable": float((drawn <= table.head_dim).mean()),
        "short_of_full": float((tokens - 1 - drawn).mean()),
    }


def counts(tokens: NDArray[np.int64], rank: NDArray[np.int64]) -> list[list[int]]:
    """[length, rank, how often], by length and rank."""
    pairs, often = np.unique(np.stack([tokens, rank]), axis=1, return_counts=True)
    return np.vstack([pairs, often]).T.tolist()
