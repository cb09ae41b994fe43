"""A trained recommender, read from its run folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from transformers import AutoModel, PreTrainedTokenizerFast

from glasshead.errors import InputError
from glasshead.huggingface import load_weights, silence_transformers
from glasshead.opening import RECORD, RecommenderRecord, open_record, validate_record
from glasshead.papers.models import NewsRecommender
from glasshead.papers.recommend.impressions import NewsTensors
from glasshead.papers.recommend.mind import NewsLogs
from glasshead.papers.recommend.scoring import click_scores
from glasshead.papers.recommend.train import CLICKS, NEWS_RUN
from glasshead.reasons import because
from glasshead.spelling import spell


@dataclass(frozen=True)
class RecommenderRun:
    """A model, its tokenizer, the record of its making, and how often train logs click each news item."""

    folder: Path
    model: NewsRecommender
    tokenizer: PreTrainedTokenizerFast
    record: dict[str, Any]
    clicks: dict[str, int]

    def read_before(self, logs: NewsLogs) -> str | None:
        """The part, "train" or "dev", that these logs were when the model was trained; None of new logs."""
        parts = ("train", "dev")
        data = self.record["data"]
        return next(
            (part for part in parts if data.get(part, {}).get("fingerprint") == logs.fingerprint), None
        )

    def scores(self, logs: NewsLogs) -> list[np.ndarray]:
        """The click scores of the shown news of each impression."""
        tensors = NewsTensors.of(logs, self.tokenizer, self.model.config.history_length)
        return click_scores(self.model, tensors)


def load_recommender(folder: Path) -> RecommenderRun:
    """Read a run folder of ``train_recommender``.

    Raises:
        InputError: if it is not such a run, or a file of it is missing or damaged.
    """
    record = open_record(folder, "glasshead.papers.recommend.train_recommender")
    if record.get("what") != NEWS_RUN:
        raise InputError(
            f"{folder} is not a run of {spell('glasshead.papers.recommend.train_recommender')}: give one of "
            "those"
        )
    record = validate_record(folder / RECORD, record, RecommenderRecord)
    try:
        model, loading = load_weights(AutoModel, folder, local_files_only=True)
        with silence_transformers():
            tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        table = pq.read_table(folder / CLICKS)
        clicks = dict(zip(table["news"].to_pylist(), table["clicks"].to_pylist(), strict=True))
        fits = isinstance(model, NewsRecommender) and model.config.vocab_size == len(tokenizer)
    except Exception as error:  # safetensors, tokenizers and configurations break in every way there is
        raise InputError(f"{folder} is a damaged run{because(error)}: train again") from error
    if not fits or loading["missing_keys"] or loading["unexpected_keys"]:
        raise InputError(f"{folder}: its files do not match: train again")
    return RecommenderRun(folder, model.eval(), tokenizer, record, clicks)
