"""Where the sign of trained TanhMax attention lives: the rule of sign-gauge.md against what words say of it.

    python docs/results/gauge.py run      train what is missing, one line each into gauge.jsonl
    python docs/results/gauge.py write    gauge.jsonl → gauge.md, which docs/results/sign-gauge.md includes

The rule reads weights and values on the train split, without any word list. The truth it is held against
comes from elsewhere: from the positive and negative words of the test split, by its labels
(`glasshead.data.token_groups`). Of their
mean weights a share w has the sign of its word (in the better gauge, so
at least ½), of their mean polarities a share v. With r = (w − ½) / (w − ½ + v − ½), the sign lives in the
weights if r ≥ ¾, in the values if r ≤ ¼, and else in both. A model that gives one answer to nine test texts
in ten, or whose w and v are below 0.6, has learned no side and is not judged. Neither are models of more than
two classes: there are no such words.

The data are read from the folder GLASSHEAD_DATA (default ../shared/data beside the checkout).
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import ClassLabel, DatasetDict

from glasshead.audits import build_context
from glasshead.audits.context import AuditContext
from glasshead.data import LoadOptions, load, occurrences
from glasshead.data.token_groups import token_groups
from glasshead.opening import load_run, open_subject
from glasshead.results import MIN_TEXTS_PER_CLASS, ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.trace import ClassSigns, fix_gauge
from glasshead.trace.sign_gauge import ONE_SIDED
from glasshead.training import TRAINING_PRESETS, train
from glasshead.training.build_model import encoded_split, label_tensor
from glasshead.training.store_gauge import pooled_sums
from glasshead.training.tensor_dataset import TensorDataset
from study import DATA

HERE = Path(__file__).parent
RUNS = HERE.parents[1] / "runs" / "gauge"
VALUES = HERE / "gauge.jsonl"
PRESETS_ASKED = ("s0-paper", "s0-code")
TABLES = HERE / "gauge.md"
SHARES = (0.6, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.999)
BOTH = "both"
OUTCOMES = ("right", "undecided", "wrong")


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


def run() -> None:
    """Everything that is not there yet."""
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
    out = RUNS / f"{case.title.replace(' ', '-').replace(':', '-')}-{preset}-{seed}"
    changes = dict(case.changes) | ({"epochs": 15} if preset == "s0-code" else {})
    recipe = TRAINING_PRESETS[preset].with_changes(activation="tanhmax", **changes)
    if not out.exists():
        train(data, recipe, out, seed=seed, source={"source": case.folder}, overwrite=True)
    trained = load_run(out)
    rows = TensorDataset(encoded_split(trained.tokenizer, data["train"]), label_tensor(data["train"]))
    sums = pooled_sums(trained.model, rows)[0].sum(dim=0)[0].tolist()
    gauge, subject = trained.record["gauge"], build_context(open_subject(trained), data["test"], limit=2000)
    commonest = np.bincount(subject.predicted).max() / len(subject.predicted)
    return {
        "accuracy": round(float((subject.predicted == subject.labels).mean()), 4),
        "commonest": round(float(commonest), 4),
        "sign": gauge["sign"],
        "plain": round(sums[2] / sums[3], 4),
        "classes": json.loads(json.dumps(gauge["classes"]), parse_float=lambda each: round(float(each), 5)),
        **(word_signs(subject) if subject.binary else {}),
    }


def word_signs(subject: AuditContext) -> dict[str, float]:
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


def truth_of(entry: Mapping[str, Any]) -> str | None:
    """Where the sign lives, by the words; None where they do not tell."""
    w, v = (entry.get(name, 0.5) - 0.5 for name in ("weights_right", "values_right"))
    if entry["commonest"] >= 0.9 or max(w, v) < 0.1:
        return None
    part = w / (w + v)
    return SIGN_IN_WEIGHTS if part >= 0.75 else ONE_SIGN if part <= 0.25 else BOTH


def weight_domain(entry: Mapping[str, Any], share: float = ONE_SIDED) -> str:
    """What the rule says, asking for such a share of one sign."""
    classes = [ClassSigns(**each) for each in entry["classes"]]
    return fix_gauge(classes, signed=True, one_sided=share).kind


def outcome(entry: Mapping[str, Any], share: float) -> str:
    """The rule against the words: right, undecided (which is right of both) or wrong."""
    kind, truth = weight_domain(entry, share), truth_of(entry)
    if kind == UNDECIDED:
        return "right" if truth == BOTH else "undecided"
    return "right" if kind == truth else "wrong"


def write() -> None:
    """The tables, from the values of the runs."""
    order = {case.title: place for place, case in enumerate(DEVELOPMENT + CHECK)}
    entries = sorted(read(), key=lambda each: (order[each["case"]], each["preset"], each["seed"]))
    parts = ["<!-- Written by docs/results/gauge.py: do not edit. -->", choice(entries), models(entries)]
    TABLES.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def choice(entries: Sequence[Mapping[str, Any]]) -> str:
    """How often the rule is right with each share of one sign."""
    chosen = {case.title for case in DEVELOPMENT}
    judged = [each for each in entries if truth_of(each) is not None]
    groups = [
        [each for each in judged if (each["case"] in chosen) == development] for development in (True, False)
    ]
    again = sum(each["case"].startswith("SST-2") for each in groups[1])
    rows = []
    for share in SHARES:
        row = [f"**{share}**" if share == ONE_SIDED else f"{share}"]
        for group in groups:
            counts = Counter(outcome(each, share) for each in group)
            row += [str(counts[name]) for name in OUTCOMES]
        rows.append(row)
    heads = [f"{name}, {title}" for title in ("choice", "check") for name in OUTCOMES]
    text = (
        "Models whose kind the rule gets right, leaves undecided, or gets wrong, by the share of one sign "
        f"that it asks for (bold: that of Glasshead): {len(groups[0])} of SST-2, on which that was "
        f"chosen, and {len(groups[1])} to check it, {again} of them of other cuts of SST-2. Where the sign "
        "lives in both, undecided is right."
    )
    return text + "\n\n" + table(["share", *heads], rows)


def models(entries: Sequence[Mapping[str, Any]]) -> str:
    """Every model."""
    rows = []
    for each in entries:
        heard = [one for one in each["classes"] if one["texts"] >= MIN_TEXTS_PER_CLASS]
        positive, lean = ([one[name] for one in heard] for name in ("positive", "lean"))
        side = max((1, -1), key=lambda sign: min(sign * one[0] for one in lean))
        rows.append(
            [
                each["case"],
                each["preset"],
                str(each["seed"]),
                f"{each['accuracy']:.3f}",
                *(f"{each[name]:.2f}" if name in each else "–" for name in ("weights_right", "values_right")),
                truth_of(each) or "not judged",
                f"{max(min(one[1] for one in positive), min(1 - one[2] for one in positive)):.4f}",
                f"{min(min(side * one[1], side * one[2]) for one in lean):+.2f}",
                weight_domain(each),
                f"{abs(each['plain']):.2f}",
            ]
        )
    heads = ["data", "preset", "seed", "accuracy", "w", "v", "by the words", "one sign", "m", "by the rule"]
    text = (
        "Every model: w and v are the shares of words whose weight and whose polarity has their sign. *One "
        "sign* is the share of Σ|a| that one sign holds and *m* is m_k, each of the weakest class and at the "
        "lower end of its interval; the last column is the margin of a plain sum over all texts."
    )
    return text + "\n\n" + table([*heads, "plain sum"], rows)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows))


if __name__ == "__main__":
    steps = {"run": [run], "write": [write]}.get(" ".join(sys.argv[1:]), [run, write])
    for step in steps:
        step()
