"""Could queries and keys have made other weights? The rank that their logits would need, over the length."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import softmax
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import Encoded
from glasshead.errors import InputError, ParameterError
from glasshead.identifiability import AttentionRow, RowSelector, attention_rows
from glasshead.models import PooledClassifier
from glasshead.papers.lengths.length_sampling import (
    LengthSample,
    longest_of,
    max_length,
    require_whole_text,
    sample_texts,
    truncate,
)
from glasshead.papers.lengths.logit_rank import LeastRanks, least_ranks, reason_against_call
from glasshead.papers.lengths.rank_by_length import Progress, value_dim
from glasshead.papers.results import LogitRankTable
from glasshead.spelling import spell
from glasshead.trace import list_attention_calls

LENGTH_STEPS = 8
ONE_ROW = "the rank of logits says nothing about this head: one learned query gives one row of weights"


@dataclass(frozen=True)
class LogitRankTask:
    """A and T of one head before one text, and how many alternatives are drawn with which seeds."""

    tokens: int
    text: int
    T: NDArray[np.float64]
    A: NDArray[np.float64]
    embed_dim: int
    eps: float
    head_dim: int
    draws: int
    seeds: tuple[int, ...]

    def __call__(self) -> LeastRanks:
        """The least ranks of the logits of the alternatives."""
        rng = np.random.default_rng(self.seeds)
        return least_ranks(
            self.T, self.A, self.head_dim, self.draws, rng, embed_dim=self.embed_dim, eps=self.eps
        )


def logit_ranks_by_length(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    sample: LengthSample,
    selector: RowSelector,
    *,
    draws: int,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> LogitRankTable:
    """The smallest ranks of the logits of ``draws`` alternatives of a head, for texts of exactly each
    length (without lengths: the default ones).

    Raises:
        InputError: if the rank of logits says nothing about the head; as `sample_texts` and `attention_rows`;
            if no text has an alternative.

    Source: Bhardwaj et al. (2021), section 3.2.2, "Experimental evidence".
    """
    if draws < 1:
        raise ParameterError("draws", f"must be at least 1, not {draws}")
    head_dim = head_dim_of(model, tokenizer, texts, selector)
    if not sample.lengths:
        sample = replace(sample, lengths=usual_logit_lengths(model, tokenizer, texts, sample, selector))
    lines: list[tuple[float, ...]] = []
    drawn: list[NDArray[np.int64]] = []
    for length, numbers, encoded in sample_texts(tokenizer, texts, sample):
        progress(f"{length} tokens")
        tasks = [
            LogitRankTask(
                length,
                int(numbers[text]),
                T,
                A,
                row.embed_dim,
                row.eps,
                head_dim,
                draws,
                (sample.seed, length, text),
            )
            for text, T, A, row in matrices(model, encoded, selector)
        ]
        solved = Parallel(n_jobs=processes)(delayed(task)() for task in tasks)
        lines += [line_of(task, ranks) for task, ranks in zip(tasks, solved, strict=True)]
        drawn += [ranks.ranks for ranks in solved]
    (layer,), (head,) = selector.layers or (0,), selector.heads or (0,)
    return LogitRankTable(
        lines,
        drawn,
        head_dim,
        f"layer {layer}, head {head}: weights with the same output, and the least rank of their logits",
    )


def line_of(task: LogitRankTask, ranks: LeastRanks) -> tuple[float, ...]:
    """One line of the table."""
    least, mean, most = ranks.ranks.min(), ranks.ranks.mean(), ranks.ranks.max()
    return task.tokens, task.text, least, mean, most, ranks.own, ranks.obtainable


def head_dim_of(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], selector: RowSelector
) -> int:
    """d_k of the head.

    Raises:
        InputError: if the rank of logits says nothing about it, or there is no such layer.
    """
    require_whole_text(model, tokenizer)
    if isinstance(model, PooledClassifier):
        raise InputError(ONE_ROW)
    short = truncate(tokenizer, texts[:1], tokenizer.num_special_tokens_to_add() + 2)
    calls = list_attention_calls(model, short.inputs(device=model.device))
    (layer,) = selector.layers or (0,)
    if layer >= len(calls):
        raise InputError(f"there is no attention layer {layer}: they are numbered 0 to {len(calls) - 1}")
    call = calls[layer].call
    if call.q.shape[2] == 1:
        raise InputError(ONE_ROW)
    objection = reason_against_call(call)
    if objection is not None:
        raise InputError(f"the rank of logits says nothing about this head: {objection}")
    return int(call.q.shape[-1])


def matrices(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector
) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64], AttentionRow]]:
    """Number of the text, T, A of all its rows, and one of the rows that say more.

    A is made from the scores in float64: a weight that underflows has no logarithm.
    """
    for batch in attention_rows(model, encoded, replace(selector, rows="all")):
        of_text: dict[int, list[AttentionRow]] = {}
        for row in batch:
            of_text.setdefault(row.text, []).append(row)
        for text, rows in of_text.items():
            yield text, rows[0].T, softmax(np.stack([row.scores for row in rows]), axis=1), rows[0]


def usual_logit_lengths(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    sample: LengthSample,
    selector: RowSelector,
) -> tuple[int, ...]:
    """Lengths from d_v + 2, where other weights begin to exist, to 2 d_v, or as far as texts reach.

    Raises:
        InputError: if no text of that length is read.
    """
    size = value_dim(model, tokenizer, texts, selector)
    most = longest_of(tokenizer, texts, min(2 * size, max_length(tokenizer) or 2 * size), sample)
    if most < size + 2:
        raise InputError(
            f"heads with values of size {size} have no alternative weights for texts of {most} tokens, the "
            f"longest that is read: give longer texts, or train with a longer {spell('max_length')} or a "
            f"smaller {spell('value_dim')}"
        )
    return tuple(sorted({round(step) for step in np.linspace(size + 2, most, LENGTH_STEPS)}))
