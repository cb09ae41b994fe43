"""Train TanhMax models on sets with equal and unequal classes: what their classes and their words say.

A line of models.jsonl is a model.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import ClassLabel, DatasetDict

from glasshead.audits import build_view
from glasshead.audits.measuring.view import ModelView
from glasshead.data import LoadOptions, load, occurrences
from glasshead.data.token_groups import token_groups
from glasshead.opening import load_run, open_subject
from glasshead.training import TRAINING_PRESETS, train
from glasshead.training.build_model import encoded_split, label_tensor
from glasshead.training.store_gauge import pooled_sums
from glasshead.training.tensor_dataset import TensorDataset
from reproduction.study import DATA, RUNS

VALUES = Path(__file__).parent / "models.jsonl"
PRESETS_ASKED = ("s0-paper", "s0-code")


@dataclass(frozen=True)
class Case:
    """A data set with so many train texts of each class (dev in the same ratio, test as it is)."""

    title: str
    folder: str
    keep: Mapping[str, int] = field(default_factory=dict)
    options: LoadOptions = field(default_factory=LoadOptions)
    merged: Mapping[str, str] = field(default_factory=dict)
    draw: int = 0
    seeds: int = 2
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe."""

    def read(self) -> DatasetDict:
        """The data of this case."""
        data = load(str(DATA / self.folder), self.options)
        if self.merged:
            old = data["train"].features["label"].names
            names = list(dict.fromkeys(self.merged.values()))
            new = [names.index(self.merged[each]) for each in old]
            data = data.map(lambda row: {"label": new[row["label"]]})
            data = data.cast_column("label", ClassLabel(names=names))
        if not self.keep:
            return data
        names, labels = data["train"].features["label"].names, np.array(data["train"]["label"])
        share = {name: wanted / (labels == names.index(name)).sum() for name, wanted in self.keep.items()}
        rng = np.random.default_rng(self.draw)
        for split in ("train", "dev"):
            labels = np.array(data[split]["label"])
            kept = []
            for name, part in share.items():
                here = np.flatnonzero(labels == names.index(name))
                kept.append(rng.choice(here, round(part * len(here)), replace=False))
            data[split] = data[split].select(np.sort(np.concatenate(kept)))
        return data


def sst2(title: str, negative: int, positive: int, **more: Any) -> Case:
    return Case(f"SST-2 {title}", "sst2", {"negative": negative, "positive": positive}, **more)


AMAZON = {"1": "negative", "2": "negative", "4": "positive", "5": "positive"}
REVIEWS = {"negative": 620, "positive": 280}
SHORT = {"max_length": 60}
DEVELOPMENT = [
    sst2("1:1", 1500, 1500),
    sst2("3:1", 750, 2250),
    sst2("1:3", 2250, 750),
    sst2("20:1", 150, 3000),
]
CHECK = [
    sst2("64:36", 1080, 1920, draw=1),
    sst2("31:69", 2070, 930, draw=1),
    Case("Amazon electronics 1:1", "amazon_electronics", merged=AMAZON, changes=SHORT),
    Case("Amazon electronics 31:69", "amazon_electronics", REVIEWS, merged=AMAZON, changes=SHORT),
    Case("IMDB 64:36", "imdb", {"negative": 1080, "positive": 1920}, changes=SHORT),
    Case(
        "AG News World:Business 1:3",
        "ag_news",
        {"World": 320, "Business": 960},
        LoadOptions(classes=("World", "Business")),
    ),
    Case(
        "AG News World:Business 20:1",
        "ag_news_lower",
        {"World": 2200, "Business": 110},
        LoadOptions(classes=("World", "Business")),
    ),
    Case("AG News, four classes", "ag_news", seeds=1),
    Case("TREC, six classes", "trec", seeds=1),
]


def measure_models(processes: int = 1) -> None:
    """Everything that is not there yet, one after the other."""
    known = {key_of(each) for each in read()}
    for case in DEVELOPMENT + CHECK:
        data = None
        for seed in range(case.seeds):
            for preset in PRESETS_ASKED:
                about = {"case": case.title, "preset": preset, "seed": seed}
                if key_of(about) in known:
                    continue
                data = data or case.read()
                line = about | measured(case, data, preset, seed)
                with VALUES.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                print(json.dumps(line, ensure_ascii=False)[:300], flush=True)


def measured(case: Case, data: DatasetDict, preset: str, seed: int) -> dict[str, Any]:
    """Train one model; what its classes say of its head, and what its words do."""
    out = RUNS / "gauge" / f"{case.title.replace(' ', '-').replace(':', '-')}-{preset}-{seed}"
    changes = dict(case.changes) | ({"epochs": 15} if preset == "s0-code" else {})
    recipe = TRAINING_PRESETS[preset].with_changes(activation="tanhmax", **changes)
    if not out.exists():
        train(data, recipe, out, seed=seed, source={"source": case.folder}, overwrite=True)
    trained = load_run(out)
    rows = TensorDataset(encoded_split(trained.tokenizer, data["train"]), label_tensor(data["train"]))
    sums = pooled_sums(trained.model, rows)[0].sum(dim=0)[0].tolist()
    gauge, subject = trained.record["gauge"], build_view(open_subject(trained), data["test"], limit=2000)
    commonest = np.bincount(subject.predicted).max() / len(subject.predicted)
    return {
        "accuracy": round(float((subject.predicted == subject.labels).mean()), 4),
        "commonest": round(float(commonest), 4),
        "sign": gauge["sign"],
        "plain": round(sums[2] / sums[3], 4),
        "classes": json.loads(json.dumps(gauge["classes"]), parse_float=lambda each: round(float(each), 5)),
        **(word_signs(subject) if subject.binary else {}),
    }


def word_signs(subject: ModelView) -> dict[str, float]:
    """The share of polar words whose mean weight, and polarity, has their sign, in the better gauge."""
    encoded = subject.explanation.encoded
    counts = occurrences(encoded, torch.tensor(subject.labels), classes=2, vocabulary=subject.counts.shape[1])
    groups, _ = token_groups(counts, subject.label_names)
    ids = encoded.ids.numpy()[subject.mask]
    found = {}
    for name, values in (("weights_right", subject.weights), ("values_right", subject.polarity)):
        total = np.bincount(ids, weights=values[subject.mask], minlength=len(groups))
        share = ((total[groups == "positive"] > 0).mean() + (total[groups == "negative"] < 0).mean()) / 2
        found[name] = round(float(max(share, 1 - share)), 4)
    return found


def read() -> list[dict[str, Any]]:
    """One entry per model."""
    if not VALUES.exists():
        return []
    return [json.loads(line) for line in VALUES.read_text(encoding="utf-8").splitlines()]


def key_of(entry: Mapping[str, Any]) -> tuple[str, str, int]:
    return entry["case"], entry["preset"], entry["seed"]
