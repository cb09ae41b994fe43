"""Five mechanisms on news logs with planted interests, and the sign of w_h that they imply.

    python docs/results/news.py run      train and evaluate what is missing; writes news.json (two processes)
    python docs/results/news.py write    news.json → news.md, which docs/recommend.md includes

The logs are generated, so nothing has to be downloaded. About 25 minutes of one core, two of which are used.
"""

import json
import os
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from glasshead.audit.ranking import as_numbers, rank
from glasshead.data.mind import read_logs
from glasshead.data.news_logs import NewsLogOptions, news_logs
from glasshead.training.news_recipe import NEWS_PRESETS
from glasshead.training.recommend import train_recommender
from glasshead.training.recommender_run import load_recommender

HERE = Path(__file__).parent
VALUES = HERE / "news.json"
# Title → mechanism, and the line of Table 5 of Wu, Wu and Huang (2021): AUC, MRR, nDCG@5, nDCG@10 in percent.
MECHANISMS = {
    "Transformer": ("softmax", (67.76, 33.05, 35.94, 41.63)),
    "Transformer-RPR": ("shaw", (67.81, 33.10, 35.98, 41.65)),
    "Transformer-XL": ("transformer-xl", (67.92, 33.15, 36.04, 41.70)),
    "Adapted Transformer": ("tener", (67.70, 33.01, 35.89, 41.58)),
    "DA-Transformer": ("distance-aware", (68.32, 33.36, 36.34, 42.07)),
}
METRICS = ("auc", "mrr", "ndcg@5", "ndcg@10")
# Interest and place of the burst → the sign of the news-level w_h that it implies.
LOGS = {("short", "anywhere"): "−", ("long", "anywhere"): "+", ("short", "last"): "none"}
SEEDS, MORE_SEEDS = range(3), range(5)
CHANGES = {"epochs": 16, "heads": 1}  # one head, so that there is one w_h at the news level


def jobs() -> list[tuple[str, str, str, int]]:
    """Interest, burst, mechanism and seed of every run; distance-aware has more seeds, for w_h."""
    found = []
    for interest, burst in LOGS:
        for mechanism, _ in MECHANISMS.values():
            if mechanism == "distance-aware":
                seeds = MORE_SEEDS
            else:
                seeds = SEEDS if burst == "anywhere" else range(0)
            found += [(interest, burst, mechanism, seed) for seed in seeds]
    return sorted(found, key=lambda job: (job[2] != "distance-aware", job[3]))


def one(interest: str, burst: str, mechanism: str, seed: int) -> dict[str, Any]:
    """Generate, train, and evaluate on readers that the training has not seen."""
    recipe = NEWS_PRESETS["small"].with_changes(attention=mechanism, **CHANGES)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        news_logs(place, NewsLogOptions(interest=interest, burst=burst, seed=seed))  # type: ignore[arg-type]
        train_recommender(read_logs(place / "train"), recipe, place / "run", seed=seed)
        run = load_recommender(place / "run")
        means, differences = rank(run, read_logs(place / "dev"), seed=seed)
    position = run.model.clicks.layers[0].attention.mechanism.position
    w = position.w.tolist() if mechanism == "distance-aware" else None
    v = position.v.tolist() if mechanism == "distance-aware" else None
    return {
        "metrics": as_numbers(means),
        "differences": as_numbers(differences),
        "w": w,
        "v": v,
        "seconds": run.record["seconds"],
    }


def run() -> None:
    """Everything that is not there yet."""
    values: dict[str, Any] = json.loads(VALUES.read_text(encoding="utf-8")) if VALUES.exists() else {}
    missing = {job: key for job in jobs() if (key := " | ".join(map(str, job))) not in values}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(one, *job): key for job, key in missing.items()}
        for done in as_completed(running):
            values[running[done]] = rounded(done.result())
            lines = [f" {json.dumps(key)}: {json.dumps(values[key])}" for key in sorted(values)]
            VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            print(running[done], flush=True)


def rounded(value: Any) -> Any:
    """Four digits after the point."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def write() -> None:
    """The tables."""
    values = json.loads(VALUES.read_text(encoding="utf-8"))
    parts = [
        "<!-- Written by docs/results/news.py: do not edit. -->",
        mechanism_table(values, "short"),
        mechanism_table(values, "long"),
        sign_table(values),
    ]
    (HERE / "news.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def found(values: dict[str, Any], *key: str) -> list[dict[str, Any]]:
    """The runs of all seeds, in their order."""
    start = " | ".join(key) + " | "
    return [values[name] for name in sorted(values) if name.startswith(start)]


def spread(numbers: list[float]) -> str:
    """Mean ± standard deviation over seeds, in percent."""
    if not numbers:
        return "–"
    deviation = statistics.stdev(numbers) if len(numbers) > 1 else 0.0
    return f"{100 * statistics.mean(numbers):.1f} ± {100 * deviation:.1f}"


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mechanism_table(values: dict[str, Any], interest: str) -> str:
    """Ours in percent, the paper's Table 5 on MIND beside it."""
    rows = []
    for title, (mechanism, paper) in MECHANISMS.items():
        runs = found(values, interest, "anywhere", mechanism)
        ours = [spread([each["metrics"]["model"][metric]["mean"] for each in runs]) for metric in METRICS]
        theirs = " / ".join(f"{number:.2f}" for number in paper)
        rows.append([title, str(len(runs)), *ours, theirs])
    runs = found(values, interest, "anywhere", "distance-aware")  # baselines do not depend on the model
    for baseline in ("popularity", "random"):
        means = [spread([each["metrics"][baseline][metric]["mean"] for each in runs]) for metric in METRICS]
        rows.append([baseline, str(len(runs)), *means, "–"])
    heads = ["model", "seeds", "AUC", "MRR", "nDCG@5", "nDCG@10", "paper, Table 5, on MIND"]
    return f"### Logs with {interest}-term interests\n\n" + table(heads, rows)


def sign_table(values: dict[str, Any]) -> str:
    """The news-level w of every seed; it starts at 0."""
    rows = []
    for (interest, burst), implied in LOGS.items():
        w = [each["w"][0] for each in found(values, interest, burst, "distance-aware")]
        if len(w) < len(MORE_SEEDS):
            continue
        mean, error = statistics.mean(w), statistics.stdev(w) / len(w) ** 0.5
        half = 2.776 * error  # Student's t of four degrees of freedom, 95 %
        seeds = ", ".join(f"{each:+.2f}" for each in w)
        interval = f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}]"
        rows.append([interest, burst, implied, interval, seeds])
    heads = ["interest", "burst", "implied sign", "mean w, 95 % interval over seeds (t)", "w of each seed"]
    return "### The news-level w after training\n\n" + table(heads, rows)


if __name__ == "__main__":
    steps = {"run": [run], "write": [write]}.get(" ".join(sys.argv[1:]), [run, write])
    for step in steps:
        step()
