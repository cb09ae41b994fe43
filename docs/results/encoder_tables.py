"""The JSON of `encoders.py` → encoders.md, a part of transformers.md: means, tests, the papers' numbers.

python docs/results/encoder_tables.py
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from encoder_scale import INPUTS, MECHANISMS, ROWS
from encoder_scale import STUDY as SCALE
from encoders import FIVE, STUDY, TABLES
from study import HERE, t_half

TITLES = {
    "transformer": "Transformer",
    "shaw": "Transformer-RPR (Shaw)",
    "transformer-xl": "Transformer-XL",
    "tener": "Adapted Transformer (TENER)",
    "da-transformer": "DA-Transformer",
}
# Wu, Wu and Huang (2021), Tables 3 and 4: accuracy and macro-F, in per cent.
PAPER = {
    "ag_news": [(93.01, 93.00), (93.14, 93.13), (93.35, 93.34), (93.28, 93.27), (93.72, 93.70)],
    "amazon": [(65.15, 42.14), (65.29, 42.40), (65.50, 42.88), (65.47, 42.69), (66.38, 44.29)],
    "sst2": [(89.67, 89.59), (89.94, 89.90), (90.06, 90.02), (90.15, 90.10), (90.49, 90.43)],
    "snli": [(81.45, 81.42), (82.20, 82.18), (83.19, 83.15), (82.35, 82.31), (84.18, 84.16)],
}
SETS = {
    "sst2": "SST-2",
    "trec": "TREC",
    "ag_news": "AG News (4,000 train rows)",
    "snli": "SNLI (20,000 train pairs)",
    "amazon": "Amazon electronics (2,000 reviews, four ratings as classes, hierarchical)",
}
# Bhardwaj et al. (2021), Table 1, for d_k = 1, 4, 16, 64.
PAPER_HEADS = {
    "heads_imdb": {"Con": (0.884, 0.886, 0.846, 0.803), "Add": (0.888, 0.887, 0.886, 0.877)},
    "heads_trec": {"Con": (0.836, 0.840, 0.823, 0.786), "Add": (0.841, 0.835, 0.841, 0.809)},
    "heads_sst3": {"Con": (0.643, 0.627, 0.603, 0.574), "Add": (0.599, 0.628, 0.628, 0.592)},
    "heads_snli": {"Con": (0.675, 0.673, 0.662, 0.659), "Add": (0.683, 0.674, 0.673, 0.663)},
    "heads_dbpedia": {"Con": (0.979, 0.977, 0.966, 0.957), "Add": (0.979, 0.979, 0.978, 0.970)},
    "heads_ag_news": {"Con": (0.906, 0.903, 0.886, 0.870), "Add": (0.902, 0.907, 0.897, 0.901)},
}
HEAD_SETS = {
    "heads_sst3": "SST, 3 classes",
    "heads_trec": "TREC",
    "heads_imdb": "IMDB, 5,000 reviews",
    "heads_ag_news": "AG News, 4,000 rows",
    "heads_dbpedia": "DBPedia, 14,000 rows",
    "heads_snli": "SNLI, 20,000 pairs",
}
SIZES = (1, 4, 16, 64)
WITHDRAWN = (
    "**Withdrawn.** All tables but the next compare models that did not read the same input: the vanilla "
    "Transformer read words of root mean square 0.80, the others of 0.10, and the attention of those was "
    "never used. Most ended before dev was flat, and three seeds or one have no interval. They stay for the "
    "record."
)
SCALE_NOTE = (
    "What remedies do, all trained until dev is flat (patience 5): *e* is the embedding of a word (SD 0.1, "
    "d = 64), *p* a sinusoid. Means over seeds, accuracies with the 95 % t-interval of the mean. Scores and "
    "entropy are those of the layer, on 128 texts of dev, before → after training; entropy is a share of the "
    "largest, 1 where all tokens weigh the same."
)
READS = {
    ("transformer", "factor"): "√d e + p (all tables below)",
    ("transformer", "norm"): "LN(e + p)",
    ("transformer", "norm, factor"): "LN(√d e + p)",
    ("da-transformer", "first"): "e (all tables below)",
    ("da-transformer", "factor"): "√d e",
    ("da-transformer", "norm"): "LN(e)",
    ("da-transformer", "norm, factor"): "LN(√d e)",
}


FURTHER = {
    "distances and sinusoids": ("DA-Transformer with sinusoids", "LN(e + p)"),
    "no positions": ("Transformer without positions", "LN(e)"),
    "uniform": ("uniform attention, pooled by the mean, without positions", "LN(e)"),
}


def values(table: str, name: str, metric: str, split: str = "test") -> dict[int, float]:
    """A metric of one cell, by seed."""
    found = STUDY.known(table).get(name, {})
    return {seed: each[split][metric] for seed, each in found.items()}


def spread(numbers: Sequence[float], digits: int = 2, factor: float = 100.0) -> str:
    """mean ± standard deviation over seeds (n − 1), without a deviation where there is one seed."""
    if not numbers:
        return "–"
    scaled = np.array(numbers) * factor
    text = f"{scaled.mean():.{digits}f}"
    return text if len(scaled) < 2 else f"{text} ± {scaled.std(ddof=1):.{digits}f}"


def paired(first: dict[int, float], second: dict[int, float], factor: float) -> str:
    """Mean difference over the seeds that both have, its 95 % t-interval and the p-value."""
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return "–"
    a, b = (np.array([each[seed] for seed in seeds]) * factor for each in (first, second))
    difference = a - b
    half = t_half(difference)
    p = ttest_rel(a, b).pvalue
    mean = difference.mean()
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}], p = {p:.2g}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Markdown."""
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def mean_interval(numbers: Sequence[float]) -> str:
    """mean [95 % t-interval of the mean] in per cent, the mean alone below five seeds."""
    mean, half = 100 * float(np.mean(numbers)), t_half(100 * np.array(numbers))
    return f"{mean:.1f}" if len(numbers) < 5 else f"{mean:.1f} [{mean - half:.1f}, {mean + half:.1f}]"


def use_row(title: str, reads: str, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Steps, what attention did, and accuracy of the runs of a cell."""
    changes = [
        " → ".join(
            f"{np.mean([run['use'][when][0][key] for run in runs]):.3f}" for when in ("before", "after")
        )
        for key in ("score_sd", "entropy")
    ]
    steps = np.mean([run["training"]["steps"] for run in runs])
    accuracies = [mean_interval([run[split]["accuracy"] for run in runs]) for split in ("dev", "test")]
    return [title, reads, str(len(runs)), f"{steps:.0f}", *changes, *accuracies]


def scale_table(name: str) -> list[str]:
    """What one scale of the input does on a data set, and what else there is to compare with."""
    known = {cell: list(runs.values()) for cell, runs in SCALE.known(name).items()}
    cells = [
        use_row(TITLES[mechanism], READS[mechanism, read], known[f"{mechanism}, {read}"])
        for mechanism in MECHANISMS
        for read in INPUTS
        if f"{mechanism}, {read}" in known
    ]
    if (further := f"{name}_rows") in SCALE.tables:
        known = {cell: list(runs.values()) for cell, runs in SCALE.known(further).items()}
        cells += [use_row(*FURTHER[cell], known[cell]) for cell in ROWS if cell in known]
    heads = ("", "first layer reads", "seeds", "steps", "SD of scores", "entropy", "dev %", "test %")
    return [f"**{SETS[name]}**", "", *table(heads, cells)]


def mechanism_table(name: str) -> list[str]:
    """One data set, five mechanisms."""
    rows = []
    for place, word in enumerate(FIVE):
        accuracy, f1 = values(name, word, "accuracy"), values(name, word, "macro_f1")
        usual = values(name, "transformer", "accuracy")
        against = "" if word == "transformer" else paired(accuracy, usual, 100)
        paper = "{:.2f} / {:.2f}".format(*PAPER[name][place]) if name in PAPER else "–"
        rows.append(
            [
                TITLES[word],
                str(len(accuracy)),
                spread(list(accuracy.values())),
                spread(list(f1.values())),
                against,
                paper,
            ]
        )
    heads = ("", "seeds", "accuracy %", "macro-F1 %", "accuracy against Transformer, paired", "paper")
    return [f"**{SETS[name]}**", "", *table(heads, rows)]


def rating_table() -> list[str]:
    """Fig. 3: ratings."""
    rows = []
    for word in FIVE:
        rmse, mae = values("ratings", word, "rmse"), values("ratings", word, "mae")
        usual = values("ratings", "transformer", "rmse")
        against = "" if word == "transformer" else paired(rmse, usual, 1)
        rows.append(
            [
                TITLES[word],
                str(len(rmse)),
                spread(list(rmse.values()), 3, 1),
                spread(list(mae.values()), 3, 1),
                against,
            ]
        )
    return table(("", "seeds", "RMSE (stars)", "MAE (stars)", "RMSE against Transformer, paired"), rows)


def option_table(name: str, usual: str) -> list[str]:
    """Figs. 4 and 5: one option of distance-aware attention after the other, on TREC."""
    places = [(name, cell.name) for cell in TABLES[name]] + [("trec", "da-transformer")]
    best = values(*places[-1], "accuracy")
    rows = []
    for place in places:
        accuracy, f1 = values(*place, "accuracy"), values(*place, "macro_f1")
        last = place == places[-1]
        rows.append(
            [
                f"{usual} (the paper's)" if last else place[1],
                str(len(accuracy)),
                spread(list(accuracy.values())),
                spread(list(f1.values())),
                "" if last else paired(accuracy, best, 100),
            ]
        )
    return table(("", "seeds", "accuracy %", "macro-F1 %", f"accuracy against {usual}, paired"), rows)


def learned_table() -> list[str]:
    """Figs. 6: how many heads learned w > 0, and how far w and v moved."""
    rows = []
    for name in ("trec", "sst2", "ag_news", "snli", "amazon"):
        found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for each in STUDY.known(name).get("da-transformer", {}).values():
            for parameter, w in each["learned"].items():
                if parameter.endswith(".w"):
                    v = each["learned"][parameter[:-1] + "v"]
                    found.setdefault(parameter.split(".")[0], []).append((np.array(w), np.array(v)))
        for level, pairs in found.items():
            w, v = (np.stack([pair[index] for pair in pairs]) for index in (0, 1))
            label = {"words": " (words)", "sentences": " (sentences)"}.get(level, "")
            rows.append(
                [
                    name.replace("_", " ") + label,
                    str(len(w)),
                    f"{100 * (w > 0).mean():.0f} %",
                    f"{w.min():+.2f} … {w.max():+.2f}",
                    f"{100 * (v > 0).mean():.0f} %",
                    f"{v.min():+.2f} … {v.max():+.2f}",
                ]
            )
    return table(("", "seeds", "w > 0", "w, least … most", "v > 0", "v, least … most"), rows)


def heads_table() -> list[str]:
    """Table 1 of Bhardwaj et al.: test accuracy by size of the keys, the paper's below in brackets."""
    rows = []
    for name, title in HEAD_SETS.items():
        for version in ("Con", "Add"):
            row = [title if version == "Con" else "", version]
            for place, size in enumerate(SIZES):
                found = list(values(name, f"{version} {size}", "accuracy").values())
                row.append(f"{spread(found, 3, 1)} ({PAPER_HEADS[name][version][place]:.3f})")
            seeds = [len(values(name, f"{version} {size}", "accuracy")) for size in SIZES]
            rows.append([*row, str(max(seeds))])
    return table(("", "", *(f"d_k = {size}" for size in SIZES), "seeds"), rows)


def write() -> None:
    """encoders.md."""
    parts: list[tuple[str, Callable[[], list[str]]]] = [
        (
            "### One scale of the input",
            lambda: [SCALE_NOTE, "", *(line for name in ("trec", "sst2") for line in scale_table(name))],
        ),
        ("### Five mechanisms", lambda: [line for name in SETS for line in mechanism_table(name)]),
        ("### Ratings", rating_table),
        ("### Mappings f on TREC", lambda: option_table("mappings", "learnable-sigmoid")),
        ("### Ways of adjusting on TREC", lambda: option_table("adjustments", "early-multiply")),
        ("### What the heads learned", learned_table),
        ("### Concatenated and summed heads", heads_table),
    ]
    lines: list[Any] = [WITHDRAWN, ""]
    for title, make in parts:
        lines += [title, "", *make()]
    (HERE / "encoders.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
