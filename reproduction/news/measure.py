"""Train five mechanisms on generated logs, and evaluate them: about ten minutes of one core."""

import hashlib
import json
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from glasshead.papers.recommend.config import NEWS_PRESETS, RecommenderConfig
from glasshead.papers.recommend.evaluate import as_numbers, rank
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.run import load_recommender
from glasshead.papers.recommend.synthetic_logs import NewsLogOptions, news_logs
from glasshead.papers.recommend.train import train_recommender
from reproduction.study import measure_missing, read_numbers

OURS = "DA-Transformer"
# Title → mechanism, and the line of Table 5 of Wu, Wu and Huang (2021): AUC, MRR, nDCG@5, nDCG@10 in percent.
MECHANISMS = {
    "Transformer": ("softmax", (67.76, 33.05, 35.94, 41.63)),
    "Transformer-RPR": ("shaw", (67.81, 33.10, 35.98, 41.65)),
    "Transformer-XL": ("transformer-xl", (67.92, 33.15, 36.04, 41.70)),
    "Adapted Transformer": ("tener", (67.70, 33.01, 35.89, 41.58)),
    OURS: ("distance-aware", (68.32, 33.36, 36.34, 42.07)),
}
SIGNS = {"short": "−", "long": "+"}  # interest → the sign of the news-level w that it implies
COMPARED = "short"  # the logs on which all mechanisms are compared
SEEDS = range(5)  # of the logs and of the training
CHANGES = {"epochs": 24, "num_attention_heads": 1}  # one head, so that there is one w at the news level
USERS = 600
# Fig. 7: heads of both levels on logs in which either interest may show. More heads, so that they can differ.
FIGURE = "mixed"
FIGURE_HEADS = 4
LEVELS = {"word": "words", "news": "clicks"}

Job = tuple[str, str, int]
Values = dict[str, dict[str, Any]]


def jobs() -> list[Job]:
    """Interest, mechanism and seed of every run."""
    others = [name for name, _ in MECHANISMS.values() if name != "distance-aware"]
    ours = [(interest, "distance-aware", seed) for seed in SEEDS for interest in (*SIGNS, FIGURE)]
    return ours + [(COMPARED, name, seed) for seed in SEEDS for name in others]


def settings(job: Job) -> tuple[NewsLogOptions, RecommenderConfig]:
    """What a run is made with, besides its seed."""
    interest, mechanism, seed = job
    options = NewsLogOptions(interest=interest, users=USERS, seed=seed)  # type: ignore[arg-type]
    heads = {"num_attention_heads": FIGURE_HEADS} if interest == FIGURE else {}
    return options, NEWS_PRESETS["small"].with_changes(attention=mechanism, **CHANGES | heads)


def mark(job: Job) -> str:
    """A hash of all settings of a run: numbers of other settings are never read."""
    options, recipe = settings(job)
    told = json.dumps([asdict(options), recipe.as_dict(), job], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def key(job: Job) -> str:
    return " | ".join(map(str, job))


def measured() -> Values:
    """The numbers in the file that were made with today's settings."""
    wanted = {key(job): mark(job) for job in jobs()}
    values = read_numbers("news", "logs")
    return {name: each for name, each in values.items() if has_settings(wanted, name, each)}


def one(job: Job) -> dict[str, Any]:
    """Generate, train on train, choose the epoch on dev, evaluate on test: other readers, a week later."""
    options, recipe = settings(job)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        news_logs(place, options)
        train, dev, test = (read_logs(place / part) for part in ("train", "dev", "test"))
        train_recommender(train, recipe, place / "run", dev=dev, seed=options.seed)
        run = load_recommender(place / "run")
        means, differences = rank(run, test, seed=options.seed)
    found = {"metrics": as_numbers(means), "differences": as_numbers(differences)}
    learned = {level: level_weights(getattr(run.model, part)) for level, part in LEVELS.items()}
    return {"settings": mark(job), "seconds": run.record["seconds"]} | found | learned


def level_weights(level: Any) -> dict[str, list[float]]:
    """w and v of the heads of a level; none of other mechanisms."""
    position = level.layers[0].attention.mechanism.position
    return {name: each.tolist() for name, each in position.named_parameters() if name in ("w", "v")}


def measure_logs(processes: int = 1) -> None:
    """Everything that is not there yet."""
    by_key = {key(job): job for job in jobs()}
    work = {name: partial(one, job) for name, job in sorted(by_key.items())}
    current = partial(has_settings, {name: mark(job) for name, job in by_key.items()})
    measure_missing("news", "logs", work, processes, is_current=current, digits=4)


def has_settings(wanted: dict[str, str], name: str, entry: dict[str, Any]) -> bool:
    """Whether a run was made with the settings of today."""
    return bool(entry["settings"] == wanted.get(name))
