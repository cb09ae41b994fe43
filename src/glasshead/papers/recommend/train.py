"""Train a news recommender on logs into a run folder that appears whole or not at all.

config.json, model.safetensors   the model, as Hugging Face saves it
tokenizer.json, …                its tokenizer
clicks.parquet                   how often each news item was clicked in the train logs
metrics.json                     AUC, MRR, nDCG@5 and nDCG@10 on dev, AUC on dev per epoch
run.json                         recipe as it was built, logs and their fingerprint, versions, seed, wall time
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from transformers import PreTrainedModel, TrainerCallback

from glasshead.data import train_tokenizer
from glasshead.files import check_writable
from glasshead.models import read_vectors
from glasshead.papers.models import NewsRecommender
from glasshead.papers.recommend.config import RecommenderConfig
from glasshead.papers.recommend.impressions import ClickRows, NewEpoch, NewsTensors
from glasshead.papers.recommend.metrics import RANKING_METRICS, impression_metrics
from glasshead.papers.recommend.mind import NewsLogs, describe_logs, rankable, split_by_time
from glasshead.papers.recommend.scoring import click_scores
from glasshead.torch_modes import in_own_modes
from glasshead.training import (
    BuiltModel,
    MeasuredTrainer,
    TrainingRun,
    half_precision,
    load_embeddings,
    training_arguments,
    training_run,
)

NEWS_RUN = "news recommender"
CLICKS = "clicks.parquet"


@in_own_modes
def train_recommender(
    logs: NewsLogs,
    config: RecommenderConfig,
    out: Path,
    *,
    dev: NewsLogs | None = None,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Path:
    """Train by negative sampling, keep the epoch with the best AUC on dev, and write the run folder ``out``.

    Without ``dev`` the latest ``config.dev_fraction`` of the impressions are dev. ``resume`` continues from
    the last complete epoch, with the same result as an uninterrupted run.

    Raises:
        InputError: if ``out`` exists, clicks are not recorded, there is nothing to rank, or to resume.

    Source: Wu et al. (2019), section 2.4.
    """
    check_writable(out, overwrite=overwrite, resume=resume)
    train_part = rankable(logs)
    dev_part = None if dev is None else rankable(dev)
    if dev_part is None:
        train_part, dev_part = split_by_time(train_part, config.dev_fraction)
    data = {"train": describe_logs(logs)} | ({} if dev is None else {"dev": describe_logs(dev)})
    plan = {"what": NEWS_RUN, "recipe": config.as_dict(), "seed": seed, "data": (source or {}) | data}
    with training_run(out, plan, callbacks, resume=resume, overwrite=overwrite) as run:
        _fill_run(run, (train_part, dev_part), config)
    return out


def _fill_run(run: TrainingRun, parts: tuple[NewsLogs, NewsLogs], config: RecommenderConfig) -> None:
    """Train, and write what came out."""
    built = build_recommender(config, parts[0])
    model = built.model
    train, dev = (NewsTensors.of(part, built.tokenizer, config.history_length) for part in parts)
    trainer = make_recommender_trainer(model, config, train, dev, run.checkpoints, run.seed, run.callbacks)
    run.train(trainer)
    scores = click_scores(model, dev)
    means = impression_metrics(scores, dev.clicked).mean(axis=1).tolist()
    metrics: dict[str, Any] = dict(zip(RANKING_METRICS, means, strict=True))
    epochs = [
        {"auc": entry["eval_auc"], "epoch": entry["epoch"]}
        for entry in trainer.state.log_history
        if "eval_auc" in entry
    ]
    counts = clicks_of(parts[0])
    pq.write_table(pa.table({"news": list(counts), "clicks": list(counts.values())}), run.folder / CLICKS)
    facts = {
        "recipe": replace(config, hidden_size=model.config.hidden_size).as_dict(),
        "impressions": {"train": len(parts[0].impressions), "dev": len(parts[1].impressions)},
        "notes": built.notes,
    }
    measured = {"dev": metrics | {"impressions": len(scores)}, "epochs": epochs}
    run.write(model, built.tokenizer, measured, facts)


def build_recommender(config: RecommenderConfig, logs: NewsLogs) -> BuiltModel:
    """A new model and its tokenizer, with pretrained word vectors if the configuration names a file.

    Raises:
        InputError: if the vectors cannot be read, or their size is not the configured one or cannot be built.
    """
    tokenizer = train_tokenizer(
        titles_of(logs),
        vocab_size=config.vocab_size,
        min_freq=config.min_freq,
        max_length=config.title_length,
    )
    tokenizer_settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
    }
    if config.word_vectors is None:
        return BuiltModel(NewsRecommender(config.model_config(**tokenizer_settings)), tokenizer)
    ids, vectors = read_vectors(Path(config.word_vectors), tokenizer.get_vocab(), size=config.hidden_size)
    size = vectors.shape[1]
    model_config = config.model_config(**tokenizer_settings, hidden_size=size)
    model_config.check()
    model = NewsRecommender(model_config)
    note = f"word vectors of {config.word_vectors}: {len(ids)} of {len(tokenizer)} tokens, size {size}"
    return BuiltModel(model, tokenizer, [note, *load_embeddings(model, ids, vectors)])


def titles_of(logs: NewsLogs) -> list[str]:
    """The titles that the impressions show or have in their histories: other logs may share the news file."""
    used = {name for row in logs.impressions for name in (*row.shown, *row.history)}
    return [news.title for name, news in logs.news.items() if name in used]


def clicks_of(logs: NewsLogs) -> dict[str, int]:
    """How often each news item was clicked: what popularity means here."""
    counts = Counter(
        name
        for impression in logs.impressions
        for name, clicked in zip(impression.shown, impression.clicked or (), strict=True)
        if clicked
    )
    return dict(sorted(counts.items()))


def make_recommender_trainer(
    model: PreTrainedModel,
    config: RecommenderConfig,
    train: NewsTensors,
    dev: NewsTensors,
    folder: Path,
    seed: int,
    callbacks: Sequence[TrainerCallback],
) -> MeasuredTrainer:
    """Adam at a constant rate; the mean AUC over impressions of dev after every epoch; the best is kept."""

    def measure(model: PreTrainedModel) -> dict[str, float]:
        scores = click_scores(model, dev)
        if not all(np.isfinite(values).all() for values in scores):
            return {"auc": math.nan}  # an order of what is no number may have one
        return {"auc": float(impression_metrics(scores, dev.clicked, ["auc"]).mean())}

    rows = ClickRows(train, config.negatives, seed)
    return MeasuredTrainer(
        model,
        training_arguments(config, folder, seed, best="auc", greatest=True, bf16=half_precision()),
        rows,
        measure,
        optimizer_cls_and_kwargs=(torch.optim.Adam, {"lr": config.learning_rate}),
        callbacks=[NewEpoch(rows), *callbacks],
    )
