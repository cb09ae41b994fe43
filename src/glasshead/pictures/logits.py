"""Could queries and keys have made other weights? The rank that their logits would need, over the length."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import softmax
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import Encoded
from glasshead.errors import InputError, ParameterError
from glasshead.identifiability import (
    AttentionRow,
    LeastRanks,
    RowSelector,
    attention_rows,
    least_ranks,
    objection_to_call,
)
from glasshead.identifiability.length_sampling import (
    LengthSample,
    clip,
    clip_texts,
    limit,
    longest,
    refuse_parts,
)
from glasshead.models import PooledClassifier
from glasshead.pictures.ranks import value_dim
from glasshead.report import drawn, logits_figure
from glasshead.trace import list_attention_calls
from glasshead.training import open_model

STEPS = 8
ONE_ROW = "the rank of logits says nothing about this head: one learned query gives one row of weights"
COLUMNS = ("tokens", "text", "least", "mean", "most", "own", "obtainable")

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Head:
    """One head: the number of its layer and its own."""

    layer: int = 0
    head: int = 0

    @property
    def where(self) -> RowSelector:
        """All its rows."""
        return RowSelector(layers=(self.layer,), heads=(self.head,), rows="all")

    @property
    def describe(self) -> str:
        """In words."""
        return f"layer {self.layer}, head {self.head}"


@dataclass(frozen=True)
class Task:
    """A and T of one head before one text, and how many alternatives are drawn with which seeds."""

    tokens: int
    text: int
    T: NDArray[np.float64]
    A: NDArray[np.float64]
    width: int
    eps: float
    head_dim: int
    draws: int
    seeds: tuple[int, ...]

    def __call__(self) -> LeastRanks:
        """The least ranks of the logits of the alternatives."""
        rng = np.random.default_rng(self.seeds)
        return least_ranks(self.T, self.A, self.head_dim, self.draws, rng, width=self.width, eps=self.eps)


@dataclass(frozen=True)
class LogitPoints:
    """For every text its length, its number and what was found; d_k, and what was read, in words."""

    found: list[tuple[int, int, LeastRanks]]
    head_dim: int
    describe: str

    @property
    def lines(self) -> list[tuple[float, ...]]:
        """One line of `COLUMNS` per text."""
        return [
            (
                tokens, text, each.ranks.min(), each.ranks.mean(), each.ranks.max(), each.own,
                each.obtainable,
            )
            for tokens, text, each in self.found
        ]  # fmt: skip


def logit_points(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    sample: LengthSample,
    head: Head,
    *,
    draws: int,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> LogitPoints:
    """The least ranks of the logits of ``draws`` alternatives of a head before texts of each length exactly.

    Raises:
        InputError: if the rank of logits says nothing about the head; as `clip_texts` and `attention_rows`;
        if no
            text has an alternative.

    Source: Bhardwaj et al. (2021), section 3.2.2, "Experimental evidence".
    """
    if draws < 1:
        raise ParameterError("draws", f"is at least 1, not {draws}")
    head_dim = check(model, tokenizer, texts, head)
    found: list[tuple[int, int, LeastRanks]] = []
    for length, numbers, encoded in clip_texts(tokenizer, texts, sample):
        progress(f"{length} tokens")
        tasks = [
            Task(
                length,
                int(numbers[text]),
                T,
                A,
                row.width,
                row.eps,
                head_dim,
                draws,
                (sample.seed, length, text),
            )
            for text, T, A, row in matrices(model, encoded, head)
        ]
        solved = Parallel(n_jobs=processes)(delayed(task)() for task in tasks)
        found += [(each.tokens, each.text, ranks) for each, ranks in zip(tasks, solved, strict=True)]
    return LogitPoints(
        found, head_dim, f"{head.describe}: weights with the same output, and the least rank of their logits"
    )


def check(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], head: Head
) -> int:
    """d_k of the head.

    Raises:
        InputError: if the rank of logits says nothing about it, or there is no such layer.
    """
    refuse_parts(model)
    if isinstance(model, PooledClassifier):
        raise InputError(ONE_ROW)
    short = clip(tokenizer, texts[:1], tokenizer.num_special_tokens_to_add() + 2)
    found = list_attention_calls(model, short.inputs(device=model.device))
    if head.layer >= len(found):
        raise InputError(f"there is no attention layer {head.layer}: they are numbered 0 to {len(found) - 1}")
    call = found[head.layer].call
    if call.q.shape[2] == 1:
        raise InputError(ONE_ROW)
    objection = objection_to_call(call)
    if objection is not None:
        raise InputError(f"the rank of logits says nothing about this head: {objection}")
    return int(call.q.shape[-1])


def matrices(
    model: PreTrainedModel, encoded: Encoded, head: Head
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64], AttentionRow]]:
    """Number of the text, T, A of all its rows, and one of the rows that say more.

    A is made from the scores in float64: a weight that underflows has no logarithm.
    """
    for batch in attention_rows(model, encoded, head.where):
        of_text: dict[int, list[AttentionRow]] = {}
        for row in batch:
            of_text.setdefault(row.text, []).append(row)
        for text, rows in of_text.items():
            yield text, rows[0].T, softmax(np.stack([row.scores for row in rows]), axis=1), rows[0]


def usual_lengths(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[str],
    sample: LengthSample,
    head: Head,
) -> tuple[int, ...]:
    """From d_v + 2, where other weights begin to exist, to 2 d_v, as far as the model reads and texts reach.

    Raises:
        InputError: if no text of that length is read.
    """
    size = value_dim(model, tokenizer, texts, RowSelector(layers=(head.layer,), heads=(head.head,)))
    most = longest(tokenizer, texts, min(2 * size, limit(tokenizer) or 2 * size), sample)
    if most < size + 2:
        raise InputError(
            f"heads with values of size {size} give other weights to no text of {most} tokens, the longest "
            "that is read: give longer texts, or train with a longer `max_length` or a smaller value_dim"
        )
    return tuple(sorted({round(each) for each in np.linspace(size + 2, most, STEPS)}))


def logits_picture(
    folder: Path,
    kind: str,
    texts: Sequence[str],
    sample: LengthSample,
    head: Head,
    *,
    draws: int,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> tuple[bytes, LogitPoints]:
    """The least rank of logits that other weights need over d_s, beside d_k, and what is drawn.

    Raises:
        InputError: as `open_model` and `logit_points`.

    Source: Bhardwaj et al. (2021), Fig. 5.
    """
    model, tokenizer = open_model(folder)
    check(model, tokenizer, texts, head)
    if not sample.lengths:
        sample = replace(sample, lengths=usual_lengths(model, tokenizer, texts, sample, head))
    points = logit_points(
        model, tokenizer, texts, sample, head, draws=draws, processes=processes, progress=progress
    )
    return drawn(figure_of(points), kind), points


def figure_of(points: LogitPoints) -> Figure:
    """All ranks of each length as one point of the curve."""
    by_length: dict[int, list[NDArray[np.int64]]] = {}
    for tokens, _, each in points.found:
        by_length.setdefault(tokens, []).append(each.ranks)
    lengths = sorted(by_length)
    ranks = [np.concatenate(by_length[each]) for each in lengths]
    return logits_figure(np.array(lengths), ranks, points.head_dim, points.describe)
