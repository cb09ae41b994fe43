"""Five mechanisms on news logs with planted interests, and the sign of w_h that they imply.

    python docs/results/news.py run      train and evaluate what is missing into news.json, then write
    python docs/results/news.py write    news.json → news.md, which docs/results/news-recommender.md includes

The logs are generated, so nothing has to be downloaded. About ten minutes of one core; two are used.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from scipy import stats

from glasshead.papers.recommend.config import NEWS_PRESETS, RecommenderConfig
from glasshead.papers.recommend.evaluate import as_numbers, rank
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.run import load_recommender
from glasshead.papers.recommend.synthetic_logs import NewsLogOptions, news_logs
from glasshead.papers.recommend.train import train_recommender
from study import t_half

HERE = Path(__file__).parent
VALUES = HERE / "news.json"
OURS = "DA-Transformer"
# Title → mechanism, and the line of Table 5 of Wu, Wu and Huang (2021): AUC, MRR, nDCG@5, nDCG@10 in percent.
MECHANISMS = {
    "Transformer": ("softmax", (67.76, 33.05, 35.94, 41.63)),
    "Transformer-RPR": ("shaw", (67.81, 33.10, 35.98, 41.65)),
    "Transformer-XL": ("transformer-xl", (67.92, 33.15, 36.04, 41.70)),
    "Adapted Transformer": ("tener", (67.70, 33.01, 35.89, 41.58)),
    OURS: ("distance-aware", (68.32, 33.36, 36.34, 42.07)),
}
METRICS = ("auc", "mrr", "ndcg@5", "ndcg@10")
NAMES = ("AUC", "MRR", "nDCG@5", "nDCG@10")
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
    values: Values = json.loads(VALUES.read_text(encoding="utf-8")) if VALUES.exists() else {}
    wanted = {key(job): mark(job) for job in jobs()}
    return {name: each for name, each in values.items() if each["settings"] == wanted.get(name)}


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


def run() -> None:
    """Everything that is not there yet."""
    values = measured()
    missing = [job for job in jobs() if key(job) not in values]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(one, job): key(job) for job in missing}
        for done in as_completed(running):
            values[running[done]] = rounded(done.result())
            lines = [f" {json.dumps(name)}: {json.dumps(values[name])}" for name in sorted(values)]
            VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            print(running[done], flush=True)
    write()


def rounded(value: Any) -> Any:
    """Four digits after the point."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def write() -> None:
    """The tables, once every run is there."""
    values, wanted = measured(), len(jobs())
    if len(values) < wanted:
        parts = [f"Not measured yet ({len(values)} of {wanted} runs): run the command above."]
    else:
        parts = [mechanism_table(values), difference_table(values), lead_table(values)]
        parts += [sign_table(values), level_table(values)]
    text = "\n\n".join(["<!-- Written by docs/results/news.py: do not edit. -->", *parts])
    (HERE / "news.md").write_text(text + "\n", encoding="utf-8")


def found(values: Values, interest: str, mechanism: str, seeds: range, *path: str) -> np.ndarray:
    """One number of the runs, in the order of the seeds."""
    numbers = []
    for seed in seeds:
        value: Any = values[key((interest, mechanism, seed))]
        for name in path:
            value = value[name]
        numbers.append(value)
    return np.array(numbers, dtype=float)


def spread(numbers: np.ndarray) -> str:
    """Mean ± standard deviation over seeds, in percent."""
    return f"{100 * numbers.mean():.1f} ± {100 * numbers.std(ddof=1):.1f}"


def interval(numbers: np.ndarray, digits: int) -> str:
    """Mean, and the 95 % interval of Student's t over seeds."""
    mean, half = numbers.mean(), t_half(numbers)
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return f"### {title}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mechanism_table(values: Values) -> str:
    """Ours in percent, the paper's Table 5 on MIND beside it."""
    rows = []
    for title, (mechanism, paper) in MECHANISMS.items():
        ours = [
            spread(found(values, COMPARED, mechanism, SEEDS, "metrics", "model", each, "mean"))
            for each in METRICS
        ]
        rows.append([title, *ours, " / ".join(f"{number:.2f}" for number in paper)])
    heads = ["model", *NAMES, "paper, Table 5, on MIND"]
    return table(f"Five mechanisms on logs with {COMPARED}-term interests, {len(SEEDS)} seeds", heads, rows)


def difference_table(values: Values) -> str:
    """Distance-aware minus each other mechanism, on the same logs and seeds."""
    rows = []
    ours, paper = MECHANISMS[OURS]
    for title, (mechanism, theirs) in MECHANISMS.items():
        if title == OURS:
            continue
        cells = []
        for metric in ("auc", "ndcg@10"):
            first, second = (
                100 * found(values, COMPARED, each, SEEDS, "metrics", "model", metric, "mean")
                for each in (ours, mechanism)
            )
            cells += [interval(first - second, 1), f"{stats.ttest_rel(first, second).pvalue:.2g}"]
        rows.append([title, *cells, f"{paper[0] - theirs[0]:+.2f}"])
    heads = [f"{OURS} minus", "AUC", "p", "nDCG@10", "p", "AUC, paper, on MIND"]
    return table("The same, paired by seed", heads, rows)


def lead_table(values: Values) -> str:
    """How much the distance-aware model ranks better than popularity and than chance."""
    rows = [
        [
            interest,
            baseline,
            *(
                interval(
                    100
                    * found(values, interest, "distance-aware", SEEDS, "differences", baseline, each, "mean"),
                    1,
                )
                for each in METRICS
            ),
        ]
        for interest in SIGNS
        for baseline in ("popularity", "random")
    ]
    return table(f"Lead of the {OURS}, {len(SEEDS)} seeds", ["interest", "over", *NAMES], rows)


def sign_table(values: Values) -> str:
    """The news-level w of every seed; it starts at 0."""
    rows = []
    for interest, implied in SIGNS.items():
        w = found(values, interest, "distance-aware", SEEDS, "news", "w").ravel()
        rows.append([interest, implied, interval(w, 2), ", ".join(f"{each:+.2f}" for each in w)])
    return table(
        f"The news-level w after training, {len(SEEDS)} seeds",
        ["interest", "implied sign", "mean w", "w of each seed"],
        rows,
    )


def level_table(values: Values) -> str:
    """Fig. 7: w and v of both levels, sorted as in the paper; means over seeds of the least, …, greatest."""
    rows = []
    for letter in ("w", "v"):
        for level in LEVELS:
            heads = np.sort(found(values, FIGURE, "distance-aware", SEEDS, level, letter), axis=1)
            share = 100 * (heads > 0).mean(axis=1)
            low, high = np.clip(share.mean() + t_half(share) * np.array([-1, 1]), 0, 100)
            cells = [interval(head, 2) for head in heads.T]
            rows.append([f"{level}-level {letter}", *cells, f"{share.mean():.0f} [{low:.0f}, {high:.0f}]"])
    places = ["least", *["next"] * (FIGURE_HEADS - 2), "greatest"]
    return table(
        f"Figure 7: w and v of {FIGURE_HEADS} heads at both levels, {FIGURE} logs, {len(SEEDS)} seeds",
        ["", *places, "above 0, % of the heads"],
        rows,
    )


if __name__ == "__main__":
    {"run": run, "write": write}[" ".join(sys.argv[1:]) or "run"]()
