"""Accuracy, agreement and what signs say, beside the paper and seed by seed."""

import statistics
from collections.abc import Iterator
from typing import Any

from glasshead.results import SIGN_IN_WEIGHTS
from reproduction.first_study.measure import ACTIVATIONS, SEEDS, SETS
from reproduction.markdown import markdown
from reproduction.study import read_numbers

# Huang, Yang and Wang (2024), Table 2 and Table 1: accuracy; per class τ_g, its significant fraction, τ_loo
# (signed), its significant fraction, permutation, random.
PAPER_ACCURACY = {
    "20 Newsgroups sports": {"softmax": 0.843, "tanhmax": 0.850},
    "SST-2": {"softmax": 0.834, "tanhmax": 0.872},
    "AG News World/Business": {"softmax": 0.892, "tanhmax": 0.905},
    "IMDB": {"softmax": 0.732, "tanhmax": 0.747},
}
PAPER = {
    ("SST-2", "softmax"): [(0.34, 0.42, -0.12, 0.20, 0.19, 0.25), (0.29, 0.31, 0.24, 0.32, 0.27, 0.31)],
    ("SST-2", "tanhmax"): [(0.56, 0.79, 0.86, 0.92, 0.18, 0.50), (0.60, 0.88, 0.66, 0.65, 0.28, 0.52)],
    ("IMDB", "softmax"): [(-0.18, 0.12, -0.34, 0.52, 0.15, 0.26), (-0.25, 0.26, -0.36, 0.60, 0.13, 0.24)],
    ("IMDB", "tanhmax"): [(-0.13, 0.18, 0.98, 1.0, 0.18, 0.48), (-0.32, 0.49, 0.98, 1.0, 0.15, 0.48)],
    ("AG News World/Business", "softmax"): [
        (0.30, 0.35, -0.28, 0.40, 0.21, 0.11),
        (0.27, 0.25, 0.25, 0.33, 0.25, 0.18),
    ],
    ("AG News World/Business", "tanhmax"): [
        (0.74, 1.0, 0.83, 1.0, 0.18, 0.48),
        (0.65, 1.0, 0.84, 1.0, 0.12, 0.44),
    ],
    ("20 Newsgroups sports", "softmax"): [
        (0.77, 1.0, -0.12, 0.19, 0.17, 0.29),
        (0.78, 1.0, 0.11, 0.22, 0.15, 0.27),
    ],
    ("20 Newsgroups sports", "tanhmax"): [
        (0.43, 0.65, 0.89, 0.88, 0.13, 0.51),
        (0.54, 0.84, 0.63, 0.54, 0.13, 0.54),
    ],
}
CLASSES = {
    "20 Newsgroups sports": ("baseball", "hockey"),
    "SST-2": ("negative", "positive"),
    "AG News World/Business": ("World", "Business"),
    "IMDB": ("negative", "positive"),
}
WEAK = 0.1  # below this margin the canonical sign is a coin toss
SEPARATION = "tokens.separation.{}.positive vs negative"


def page() -> Iterator[str]:
    """A part of signed-attention.md."""
    values = read_numbers("first_study", "models")
    for part in (accuracy_table, claim_table, *(seed_table(title) for title in SETS), paper_table):
        yield part(values)


def runs_of(values: dict[str, Any], title: str, activation: str) -> list[dict[str, Any]]:
    return [values[key] for seed in SEEDS if (key := f"{title} | {activation} | {seed}") in values]


def spread(numbers: list[float | None], digits: int = 3) -> str:
    """Mean ± standard deviation over seeds."""
    found = [number for number in numbers if number is not None]
    if not found:
        return "–"
    deviation = statistics.stdev(found) if len(found) > 1 else 0.0
    return f"{statistics.mean(found):.{digits}f} ± {deviation:.{digits}f}"


def has_gauge(run: dict[str, Any], activation: str) -> bool:
    """Whether signed weights of this run can be averaged with others: their sign is not a coin toss.

    Runs audited before the gauge had a kind say so by their margin.
    """
    kind = run["gauge"].get("kind")
    known = run["gauge"]["margin"] >= WEAK if kind is None else kind == SIGN_IN_WEIGHTS
    return activation == "softmax" or known


def number(value: float | None, signed: bool = True) -> str:
    return "–" if value is None else f"{value:+.2f}" if signed else f"{value:.2f}"


def estimate(run: dict[str, Any], name: str, field: str = "estimate") -> Any:
    return run["findings"].get(name, {}).get(field)


def accuracy_table(values: dict[str, Any]) -> str:
    rows = []
    for title in SETS:
        for activation in ACTIVATIONS:
            runs = runs_of(values, title, activation)
            rows.append(
                [
                    title,
                    activation,
                    spread([run["accuracy"] for run in runs]),
                    spread([run["macro_f1"] for run in runs]),
                    f"{PAPER_ACCURACY[title][activation]:.3f}",
                ]
            )
    return "### Accuracy\n\n" + markdown(
        ["data", "attention", "accuracy", "macro-F1", "paper, Table 2"], rows
    )


def separates(run: dict[str, Any], against: str) -> str:
    """Which way the interval of the separation says that the weights order positive and negative words."""
    low, high = estimate(run, SEPARATION.format(against), "interval") or (0.5, 0.5)
    return "right" if low > 0.5 else "wrong" if high < 0.5 else "none"


def claim_table(values: dict[str, Any]) -> str:
    """In which share of seeds the weights of positive words are above those of negative ones."""
    rows = []
    for title in SETS:
        for activation in ACTIVATIONS:
            runs = runs_of(values, title, activation)
            raw = "weight-raw" if activation == "tanhmax" else "weight"
            sound = [run for run in runs if has_gauge(run, activation)]
            columns = []
            for against, some in ((raw, runs), ("weight", sound), ("contribution", runs)):
                ways = [separates(run, against) for run in some]
                columns.append(f"{ways.count('right')} right, {ways.count('wrong')} wrong of {len(some)}")
            signs = [estimate(run, "tokens.sign.weight.positive vs negative") for run in runs]
            clear = sum((sign or 0) >= 0.9 for sign in signs)
            rows.append(
                [
                    title,
                    activation,
                    *columns,
                    f"{clear} of {len(runs)}" if activation == "tanhmax" else "–",
                ]
            )
    heads = ["data", "attention", "raw weight", "canonical weight", "contribution", "signs ≥ 90 % right"]
    text = (
        "### Do the weights tell positive from negative words?\n\n"
        "Seeds in which the 95 % interval of the separation (probability that a positive word has the larger "
        "value) lies above ½ (right) or below it (wrong), and seeds in which at least 90 % of the positive "
        "and negative words (mean of the two shares) have a canonical weight of their sign. The canonical "
        "column leaves out seeds with a margin below 0.1, whose sign is a coin toss.\n\n"
    )
    return text + markdown(heads, rows)


def seed_table(title: str) -> Any:
    """Every seed of one data set."""

    def part(values: dict[str, Any]) -> str:
        rows = []
        for activation in ACTIVATIONS:
            for seed, run in enumerate(runs_of(values, title, activation)):
                tau = "agreement.{}.{}.all"
                rows.append(
                    [
                        activation,
                        str(seed),
                        f"{run['accuracy']:.3f}",
                        f"{run['gauge']['sign']:+d}" if activation == "tanhmax" else "–",
                        f"{run['gauge']['margin']:.2f}" if activation == "tanhmax" else "–",
                        f"{run['gauge']['positive_polarity']:.2f}" if activation == "tanhmax" else "–",
                        *(
                            number(estimate(run, tau.format(statistic, against)))
                            for statistic, against in (
                                ("attention-raw", "gradient"),
                                ("attention", "gradient"),
                                ("attention-absolute", "gradient"),
                                ("attention-raw", "erasure-zero-weight"),
                                ("attention", "erasure-zero-weight"),
                                ("attention-absolute", "erasure-zero-weight"),
                                ("contribution", "gradient"),
                                ("contribution", "erasure-renormalise"),
                            )
                        ),
                        number(estimate(run, SEPARATION.format("weight-raw")), signed=False),
                        number(estimate(run, SEPARATION.format("weight")), signed=False),
                    ]
                )
        heads = ["attention", "seed", "acc.", "sign", "margin", "o > 0"]
        heads += ["τ_g raw", "τ_g", "τ_g abs", "τ_loo raw", "τ_loo", "τ_loo abs"]
        heads += ["c, grad.", "c, renorm.", "sep. raw", "sep."]
        return f"### {title}, seed by seed\n\n" + markdown(heads, rows)

    return part


def paper_table(values: dict[str, Any]) -> str:
    """Table 1 of the paper, per true class, beside ours."""
    rows = []
    for title in SETS:
        for activation in ACTIVATIONS:
            runs = [run for run in runs_of(values, title, activation) if has_gauge(run, activation)]
            for index, name in enumerate(CLASSES[title]):
                paper = PAPER[title, activation][index]
                group = f"class {name}"
                names = [
                    f"agreement.attention.gradient.{group}",
                    f"agreement.attention.erasure-zero-weight.{group}",
                    f"perturbation.permutation.absolute.{group}",
                    f"perturbation.random.absolute.{group}",
                ]
                found = [spread([estimate(run, each) for run in runs], 2) for each in names]
                fractions = [
                    spread([estimate(run, each, "significant") for run in runs], 2) for each in names[:2]
                ]
                rows.append(
                    [
                        title,
                        f"{activation} ({len(runs)})",
                        name,
                        f"{found[0]} ({paper[0]:.2f})",
                        f"{fractions[0]} ({paper[1]:.2f})",
                        f"{found[1]} ({paper[2]:.2f})",
                        f"{fractions[1]} ({paper[3]:.2f})",
                        f"{found[2]} ({paper[4]:.2f})",
                        f"{found[3]} ({paper[5]:.2f})",
                    ]
                )
    heads = ["data", "attention", "class", "τ_g", "sig.", "τ_loo", "sig.", "permutation", "random"]
    text = (
        "### Table 1 of the paper\n\nOurs, canonical gauge, mean ± standard deviation over the means of the "
        "seeds (how many: after the activation) whose margin is 0.1 or more; the paper's in brackets.\n\n"
    )
    return text + markdown(heads, rows)
