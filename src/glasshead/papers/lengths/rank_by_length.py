"""The rank of T and the size of its left null space over the length of a text."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.identifiability import HeadRanks, RowSelector, value_ranks
from glasshead.papers.lengths.length_sampling import (
    LengthSample,
    longest_of,
    max_length,
    require_whole_text,
    sample_texts,
    truncate,
)
from glasshead.papers.results import RankTable

USUAL_LENGTHS = 16
FARTHEST = 3
"""How many times d_v the usual lengths reach."""

Progress = Callable[[str], None]


def ranks_by_length(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    sample: LengthSample,
    selector: RowSelector,
    progress: Progress = lambda _: None,
) -> RankTable:
    """Ranks of one head for texts cut to exactly each length (without lengths: the default ones).

    Raises:
        InputError: as `sample_texts` and `jacobian_ranks`, and for a model that reads texts in parts.

    Source: Bhardwaj et al. (2021), section 6, "Numerical rank".
    """
    require_whole_text(model, tokenizer)
    if not sample.lengths:
        sample = replace(sample, lengths=usual_lengths(model, tokenizer, texts, sample, selector))
    lines: list[tuple[float, ...]] = []
    for length, numbers, encoded in sample_texts(tokenizer, texts, sample):
        progress(f"{length} tokens")
        for ranks in value_ranks(model, encoded, selector):
            lines += table_rows(ranks, numbers)
    return RankTable(sorted(lines), ranks.size, describe_matrix(ranks))


def table_rows(ranks: HeadRanks, numbers: NDArray[np.int64]) -> list[tuple[float, ...]]:
    """One line per text; the first of the recorded heads counts."""
    columns = [
        ranks.tokens, numbers[ranks.texts], ranks.rank[:, 0], ranks.null[:, 0], ranks.rank_with_ones[:, 0],
        ranks.null_with_ones[:, 0], ranks.margin[:, 0], ranks.margin_with_ones[:, 0],
    ]  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))


def describe_matrix(ranks: HeadRanks) -> str:
    """Which matrix was read."""
    matrix = "T = V D" if ranks.projected else "T = V"
    return (
        f"layer {ranks.layer}, head {ranks.heads[0]}: {matrix}, d_v = {ranks.size}, d_e = {ranks.embed_dim}"
    )


def usual_lengths(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    sample: LengthSample,
    selector: RowSelector,
) -> tuple[int, ...]:
    """Equal steps up to three times d_v, as far as the model reads and texts reach, and d_v itself."""
    size = value_dim(model, tokenizer, texts, selector)
    most = min(FARTHEST * size, max_length(tokenizer) or FARTHEST * size)
    most = longest_of(tokenizer, texts, most, sample)
    least = min(tokenizer.num_special_tokens_to_add() + 2, most)
    steps = {round(step) for step in np.linspace(least, most, USUAL_LENGTHS)}
    return tuple(sorted(steps | {min(max(size, least), most)}))


def value_dim(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], selector: RowSelector
) -> int:
    """d_v of a head, read off a short text."""
    require_whole_text(model, tokenizer)
    short = truncate(tokenizer, texts[:1], tokenizer.num_special_tokens_to_add() + 1)
    return next(value_ranks(model, short, selector)).size
