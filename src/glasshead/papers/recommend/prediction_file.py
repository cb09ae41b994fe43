"""Scores of impressions as files: MIND's ``prediction.txt``, and JSON lines with every score."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.papers.recommend.mind import NewsLogs


def candidate_ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """1 for the largest score [shown] … n for the smallest; equal scores keep the order in which they are
    shown."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def prediction_lines(logs: NewsLogs, scores: Sequence[NDArray[np.float64]]) -> Iterator[str]:
    """``1 [3,1,2]``: the id of each impression and the rank of each shown item, in the order of the logs.

    Source: the format of submissions to MIND (https://msnews.github.io).
    """
    for impression, values in zip(logs.impressions, scores, strict=True):
        yield f"{impression.id} [{','.join(map(str, candidate_ranks(values)))}]\n"


def score_lines(logs: NewsLogs, scores: Sequence[NDArray[np.float64]]) -> Iterator[str]:
    """A JSON object for each impression: its id and user, the shown news, their scores and ranks."""
    for impression, values in zip(logs.impressions, scores, strict=True):
        row = {
            "impression": impression.id,
            "user": impression.user,
            "shown": impression.shown,
            "scores": values.tolist(),
            "ranks": candidate_ranks(values).tolist(),
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"
