"""The rank of T and the size of its left null space over the length of a text, of a model in a folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.identifiability import HeadRanks, RowSelector, value_ranks
from glasshead.identifiability.length_sampling import (
    LengthSample,
    clip,
    clip_texts,
    limit,
    longest,
    refuse_parts,
)
from glasshead.report import drawn, rank_figure
from glasshead.report.null_space import Curve
from glasshead.training import open_model

USUAL_LENGTHS = 16
FARTHEST = 3
"""How many times d_v the usual lengths reach."""
COLUMNS = ("tokens", "text", "rank", "null", "rank_with_ones", "null_with_ones", "margin", "margin_with_ones")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class RankPoints:
    """One line of `COLUMNS` per text and length, with d_v, and what was read, in words."""

    lines: list[tuple[float, ...]]
    size: int
    describe: str

    def column(self, name: str) -> NDArray[np.float64]:
        """One of the columns."""
        return np.array([line[COLUMNS.index(name)] for line in self.lines])


def rank_points(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    sample: LengthSample,
    where: RowSelector,
    progress: Progress = lambda _: None,
) -> RankPoints:
    """Ranks of one head before texts that are cut to each length exactly.

    Raises:
        InputError: as `clip_texts` and `ranks`, and for a model that reads texts in parts.

    Source: Bhardwaj et al. (2021), section 6, "Numerical rank".
    """
    refuse_parts(model)
    lines: list[tuple[float, ...]] = []
    for length, numbers, encoded in clip_texts(tokenizer, texts, sample):
        progress(f"{length} tokens")
        for found in value_ranks(model, encoded, where):
            lines += lines_of(found, numbers)
    return RankPoints(sorted(lines), found.size, said(found))


def lines_of(found: HeadRanks, numbers: NDArray[np.int64]) -> list[tuple[float, ...]]:
    """One line per text; the first of the recorded heads counts."""
    columns = [
        found.tokens, numbers[found.texts], found.rank[:, 0], found.null[:, 0], found.rank_with_ones[:, 0],
        found.null_with_ones[:, 0], found.margin[:, 0], found.margin_with_ones[:, 0],
    ]  # fmt: skip
    return list(zip(*(each.tolist() for each in columns), strict=True))


def said(found: HeadRanks) -> str:
    """Which matrix was read."""
    matrix = "T = V D" if found.projected else "T = V"
    return f"layer {found.layer}, head {found.heads[0]}: {matrix}, d_v = {found.size}, d_e = {found.width}"


def usual_lengths(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    sample: LengthSample,
    where: RowSelector,
) -> tuple[int, ...]:
    """Equal steps up to three times d_v, as far as the model reads and texts reach, and d_v itself."""
    size = value_dim(model, tokenizer, texts, where)
    most = min(FARTHEST * size, limit(tokenizer) or FARTHEST * size)
    most = longest(tokenizer, texts, most, sample)
    least = min(tokenizer.num_special_tokens_to_add() + 2, most)
    steps = {round(each) for each in np.linspace(least, most, USUAL_LENGTHS)}
    return tuple(sorted(steps | {min(max(size, least), most)}))


def value_dim(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], where: RowSelector
) -> int:
    """d_v of the chosen head, found out on a short text."""
    refuse_parts(model)
    short = clip(tokenizer, texts[:1], tokenizer.num_special_tokens_to_add() + 1)
    return next(value_ranks(model, short, where)).size


def ranks_picture(
    folder: Path,
    kind: str,
    texts: Sequence[str],
    sample: LengthSample,
    where: RowSelector,
    progress: Progress = lambda _: None,
) -> tuple[bytes, RankPoints]:
    """rank T and dim LN(T) over d_s, a dot per text, and what is drawn.

    Raises:
        InputError: as `open_model` and `rank_points`.

    Source: Bhardwaj et al. (2021), Figs. 2 and 6.
    """
    model, tokenizer = open_model(folder)
    if not sample.lengths:
        sample = replace(sample, lengths=usual_lengths(model, tokenizer, texts, sample, where))
    points = rank_points(model, tokenizer, texts, sample, where, progress)
    return drawn(figure_of(points), kind), points


def figure_of(points: RankPoints) -> Figure:
    """The two curves beside theory."""
    tokens = points.column("tokens")
    lengths = np.arange(tokens.min(), tokens.max() + 1)
    rank = Curve("rank T", tokens, points.column("rank"), lengths, np.minimum(lengths, points.size))
    null = Curve("dim LN(T)", tokens, points.column("null"), lengths, np.maximum(lengths - points.size, 0))
    return rank_figure(rank, null, points.size, points.describe)
