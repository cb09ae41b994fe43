"""What other maps there are, what they cost and who profits from them, beside the numbers of both papers."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.debate.measure import ADVERSARY, BASE, EDGES, KINDS, QUANTILES, TABLES, TRAININGS
from reproduction.debate.sweep import draw_sweeps, sweep_table
from reproduction.markdown import markdown, plus_minus
from reproduction.study import picture

Seeds = dict[int, dict[str, Any]]
TITLES = {"sst2": "SST", "20news_sports": "20 Newsgroups", "imdb": "IMDB", "ag_news": "AG News"}
NEAR_MOST = 0.6
"""A bin edge of the histogram: what lies above is within a tenth of a nat of the most."""

# Wiegreffe and Pinter (2019), table 3: F1 of an MLP.
TABLE_3 = {
    "MLP uniform": {"sst2": 0.812, "imdb": 0.863},
    "MLP trained": {"sst2": 0.817, "imdb": 0.888},
    "MLP base": {"sst2": 0.824, "imdb": 0.905},
    "MLP adversary": {"sst2": 0.592, "imdb": 0.700},
}
# Their table 2: F1 that Jain and Wallace reported, that they reproduced, and with uniform weights.
TABLE_2 = {
    "sst2": (0.81, 0.831, 0.822),
    "20news_sports": (0.94, 0.942, 0.934),
    "imdb": (0.88, 0.902, 0.879),
    "ag_news": (0.96, 0.964, 0.960),
}
DIFFERENCES = (
    ("MLP base", "MLP uniform"),
    ("MLP adversary", "MLP base"),
    ("MLP adversary", "MLP uniform"),
    ("MLP trained", "MLP uniform"),
    (BASE, "uniform LSTM"),
)
WEIGHTS = {
    "MLP uniform": "uniform",
    "MLP trained": "its own, trained",
    "MLP base": "of the base LSTM",
    "MLP adversary": "of the adversary",
}


def page() -> Iterator[str]:
    """A part of is-attention-explanation.md."""
    tables = known_tables()
    yield "### F1 of the MLP, by the weights it is given (table 3)"
    yield mlps(tables)
    yield "### Differences of F1, paired by seed"
    yield differences(tables)
    yield "### The LSTMs (table 2), and what their attention does"
    yield lstms(tables)
    yield "### How far the adversary went"
    yield departures(tables)
    yield "### What other maps cost, by λ"
    yield sweep_table(TITLES, tables)
    yield "### ε-max JSD of the base LSTM"
    yield histograms(tables)
    yield "### Other maps with the same prediction"
    yield other_maps(tables)
    yield "### Seeds, texts and time"
    yield sizes(tables)


def draw_all() -> None:
    """Both figures."""
    if tables := known_tables():
        draw(tables)
        draw_sweeps(TITLES, tables)


def known_tables() -> dict[str, dict[str, Seeds]]:
    """By data set the numbers of the seeds that every cell has."""
    return {name: known for name in TABLES if (known := shared_seeds(TRAININGS.known(name)))}


def shared_seeds(known: dict[str, Seeds]) -> dict[str, Seeds]:
    """The seeds that every cell has, so that all rows are about the same ones."""
    if len(known) < len(TABLES["sst2"]):
        return {}
    shared = sorted(set.intersection(*(set(seeds) for seeds in known.values())))
    return {cell: {seed: seeds[seed] for seed in shared} for cell, seeds in known.items()} if shared else {}


def mean(values: Sequence[float], digits: int = 3, sign: str = "") -> str:
    """The mean over seeds ± half of its interval."""
    return plus_minus(values, digits, sign).replace("-", "−")


def column(seeds: Seeds, read: Callable[[dict[str, Any]], float]) -> list[float]:
    """One number of every seed."""
    return [read(each) for each in seeds.values()]


def mlps(tables: dict[str, dict[str, Seeds]]) -> str:
    """The four MLPs of every data set, beside the paper's."""
    rows = []
    for name, known in tables.items():
        for cell, words in WEIGHTS.items():
            f1 = column(known[cell], lambda each: each["f1"])
            paper = TABLE_3[cell].get(name)
            rows.append(
                [
                    TITLES[name],
                    words,
                    "–" if paper is None else f"{paper:.3f}",
                    mean(f1),
                    deviation(f1),
                    mean(column(known[cell], lambda each: each["accuracy"])),
                ]
            )
    return markdown(["", "weights", "paper: F1", "here: F1", "SD", "accuracy"], rows)


def deviation(values: Sequence[float]) -> str:
    """The standard deviation over seeds."""
    return f"{np.std(values, ddof=1):.3f}" if len(values) > 1 else "–"


def differences(tables: dict[str, dict[str, Seeds]]) -> str:
    """Of every pair of models and data set, the mean difference and its interval."""
    rows = []
    for first, second in DIFFERENCES:
        row = [f"{first} − {second}"]
        for known in tables.values():
            f1 = [column(known[cell], lambda each: each["f1"]) for cell in (first, second)]
            row.append(mean((np.array(f1[0]) - np.array(f1[1])).tolist(), sign="+"))
        rows.append(row)
    return markdown(["", *(TITLES[name] for name in tables)], rows)


def lstms(tables: dict[str, dict[str, Seeds]]) -> str:
    """The LSTMs with their own, uniform and adversarial weights, beside the papers'."""
    rows = []
    for name, known in tables.items():
        reported, reproduced, uniform = TABLE_2[name]
        papers = {BASE: f"{reported:.2f}, {reproduced:.3f}", "uniform LSTM": f"{uniform:.3f}"}
        for cell in (BASE, "uniform LSTM", ADVERSARY):
            seeds = known[cell]
            rows.append(
                [
                    TITLES[name],
                    cell,
                    papers.get(cell, "–"),
                    mean(column(seeds, lambda each: each["f1"])),
                    mean(column(seeds, lambda each: each["accuracy"])),
                    mean(column(seeds, lambda each: each["entropy"]), 2),
                    mean(column(seeds, lambda each: each["score_sd"]), 2),
                ]
            )
    return markdown(["", "", "papers: F1", "here: F1", "accuracy", "entropy", "SD of the scores"], rows)


def departures(tables: dict[str, dict[str, Seeds]]) -> str:
    """How far an adversary is from its base, beside two bases and what means nothing."""
    rows = []
    for name, known in tables.items():
        adversaries = [each["divergence"] for each in known[ADVERSARY].values()]
        rulers = [each["divergence"] for each in known[BASE].values() if "divergence" in each]
        row = [TITLES[name]]
        for what, null in (("maps", "uniform"), ("predictions", "constant")):
            row += [
                mean([each[what]["estimate"] for each in adversaries]),
                mean([each[what]["estimate"] for each in rulers]) if rulers else "–",
                mean([each[what]["null"][null] for each in adversaries]),
            ]
        rows.append(row)
    heads = ["JSD of maps", "of another seed", "of uniform weights"]
    heads += ["TVD of predictions", "of another seed", "of a constant one"]
    return markdown(["", *heads], rows)


def histograms(tables: dict[str, dict[str, Seeds]]) -> str:
    """Quantiles of the ε-max JSD, and the share of texts near the most, with the random null."""
    rows = []
    for name, known in tables.items():
        for which, words in (("own", "own"), ("random", "random")):
            each_seed = [each["adversarial"][which] for each in known[BASE].values()]
            quantiles = np.mean([each["quantiles"] for each in each_seed], axis=0)
            rows.append(
                [
                    TITLES[name],
                    words,
                    *(f"{value:.3f}" for value in quantiles),
                    mean([share_near_most(each["counts"]) for each in each_seed], 2),
                ]
            )
    heads = ["", "weights", *(f"{quantile:.0%}" for quantile in QUANTILES), f"share above {NEAR_MOST}"]
    return markdown(heads, rows)


def share_near_most(counts: Sequence[int]) -> float:
    """The share of texts in the bins from `NEAR_MOST` on."""
    return sum(count for count, edge in zip(counts, EDGES, strict=False) if edge >= NEAR_MOST) / sum(counts)


def other_maps(tables: dict[str, dict[str, Seeds]]) -> str:
    """JSD and share of texts with a far map by what maps must keep, and the share of flat predictions."""
    rows = []
    for name, known in tables.items():
        findings = [each["adversarial"]["findings"] for each in known[BASE].values()]
        for kind in KINDS:
            row = [TITLES[name], f"`{kind}`"]
            for statistic in ("jsd", "found"):
                cells = [each[f"{statistic}.{kind}"] for each in findings]
                row += [
                    mean([each["estimate"] for each in cells], 2),
                    mean([each["random"] for each in cells], 2),
                ]
            rows.append([*row, mean([each["flat"]["estimate"] for each in findings], 2)])
    heads = ["", "maps", "JSD", "of random weights", "found", "of random weights", "flat"]
    return markdown(heads, rows)


def sizes(tables: dict[str, dict[str, Seeds]]) -> str:
    """What was trained."""
    rows = []
    for name, known in tables.items():
        first = next(iter(known[BASE].values()))
        recipe = TABLES[name][0].recipe
        seconds = sum(each["seconds"] for seeds in known.values() for each in seeds.values())
        rows.append(
            [
                TITLES[name],
                str(len(known[BASE])),
                *(f"{first['rows'][split]:,}" for split in ("train", "dev", "test")),
                f"{first['positive'] / first['n']:.2f}",
                f"{first['unigrams']:.3f}",
                str(recipe.max_length),
                str(recipe.epochs),
                f"{seconds / 60:.0f}",
            ]
        )
    heads = [
        "",
        "seeds",
        "train",
        "dev",
        "test",
        "positive",
        "unigrams",
        "tokens",
        "epochs",
        "minutes of training",
    ]
    return markdown(heads, rows)


def draw(tables: dict[str, dict[str, Seeds]]) -> None:
    """The histograms, own and random: the mean over seeds, and a band from the least to the most."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"font.size": 9, "savefig.dpi": 130}
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(tables), figsize=(2.6 * len(tables), 2.5), sharey=True, squeeze=False)
    for axis, (name, known) in zip(axes[0], tables.items(), strict=True):
        for which, colour, label in (
            ("own", "#1b6ca8", "the model's weights"),
            ("random", "#c46210", "random weights"),
        ):
            counts = np.array([each["adversarial"][which]["counts"] for each in known[BASE].values()])
            shares = counts / counts.sum(axis=1, keepdims=True)
            axis.stairs(shares.mean(axis=0), EDGES, color=colour, label=label)
            axis.stairs(
                shares.max(axis=0), EDGES, baseline=shares.min(axis=0), fill=True, color=colour, alpha=0.2
            )
        axis.set(title=TITLES[name], xlabel="ε-max JSD (nats)", xlim=(0, EDGES[-1]), ylim=(0, 1))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("share of texts")
    axes[0][0].legend(frameon=False, fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(picture("debate-histogram.png"), metadata={"Software": None})
    plt.close(figure)
