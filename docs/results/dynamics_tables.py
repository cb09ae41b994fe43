"""The JSON of `dynamics.py` → dynamics.md, which docs/dynamics.md includes: every claim with its verdict.

python docs/results/dynamics_tables.py
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from scipy.stats import t as student

from dynamics import MODELS, RANGES, RATIOS, SCALES, STUDY
from encoder_tables import table
from study import HERE

MADE_UP = {
    "data_1": "Data I",
    "data_2": "Data II (5 % noise)",
    "skewed": "three positive texts to a negative one",
    "three_classes": "three classes and neutral words",
}
REAL = {"sst2": "SST-2", "sports": "20 Newsgroups sports", "imdb": "IMDB, 5,000 reviews of 200 tokens"}
Number = Callable[[dict[str, Any]], float]


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % t-interval."""

    mean: float
    low: float
    high: float
    n: int

    def against(self, bar: float) -> str:
        """On which side of a bar the whole interval lies."""
        if self.n < 2 or not np.isfinite([self.low, self.high]).all():
            return "undecided"
        return "above" if self.low > bar else "below" if self.high < bar else "undecided"

    def said(self, digits: int = 2) -> str:
        """mean [low, high]."""
        if not self.n:
            return "–"
        if self.n < 2:
            return f"{self.mean:.{digits}f} (one seed)"
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def estimate(values: Iterable[float]) -> Estimate:
    """Over what is a number."""
    found = np.array([each for each in values if each is not None and np.isfinite(each)])
    if not len(found):
        return Estimate(np.nan, np.nan, np.nan, 0)
    if len(found) < 2:
        return Estimate(float(found[0]), np.nan, np.nan, 1)
    half = student.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    mean = float(found.mean())
    return Estimate(mean, mean - half, mean + half, len(found))


def over_seeds(name: str, cell: str, number: Number) -> Estimate:
    """A number of one cell."""
    return estimate(number(each) for each in STUDY.known(name).get(cell, {}).values())


def runs(*names: str) -> list[dict[str, Any]]:
    """All runs of some tables."""
    return [each for name in names for cell in STUDY.known(name).values() for each in cell.values()]


def separation(quantity: str, group: str) -> Number:
    """The probability that a token of the group has more than a neutral one."""
    return lambda run: run["separation"].get(f"{quantity}/{group}", np.nan)


def end(quantity: str, group: str = "") -> Number:
    """A mean after the last step."""
    return lambda run: run["curves"].get(f"{quantity}/{group}", [np.nan, np.nan])[1]


def polar_groups(name: str) -> list[str]:
    """The groups of tokens that belong to a class."""
    found = runs(name)
    return [group for group in found[0]["groups"] if group != "neutral"] if found else []


def same(run: dict[str, Any], of: str = "e") -> list[float]:
    """How much Ω within each polar group has grown."""
    return [
        run["products"][f"{of}/{group} × {group}"][1] - run["products"][f"{of}/{group} × {group}"][0]
        for group in run["groups"]
        if group != "neutral"
    ]


def across(run: dict[str, Any], of: str = "e") -> list[float]:
    """How much Ω between polar groups has grown."""
    polar = [group for group in run["groups"] if group != "neutral"]
    return [
        run["products"][f"{of}/{first} × {second}"][1] - run["products"][f"{of}/{first} × {second}"][0]
        for place, first in enumerate(polar)
        for second in polar[place + 1 :]
    ]


def excess(run: dict[str, Any]) -> float:
    """min(|Ω₊₊|, |Ω₋₋|) − max |Ω₊₋| after the last step."""
    polar = [group for group in run["groups"] if group != "neutral"]
    within = [abs(run["products"][f"e/{group} × {group}"][1]) for group in polar]
    between = [
        abs(run["products"][f"e/{first} × {second}"][1])
        for place, first in enumerate(polar)
        for second in polar[place + 1 :]
    ]
    return min(within) - max(between)


def gap(run: dict[str, Any]) -> float:
    """Mean attention score of positive tokens minus that of negative ones."""
    return end("score", "positive")(run) - end("score", "negative")(run)


@dataclass(frozen=True)
class Claim:
    """A number of every cell that a claim wants above a bar."""

    said: str
    number: Number
    bar: float
    unit: str


def claims_of(groups: Sequence[str]) -> list[Claim]:
    """What Sun and Lu (2020) claim of every setting."""
    binary = set(groups) == {"positive", "negative"}
    found = []
    for group in groups:
        right = -1 if group == "negative" and binary else 1

        def polarity(run: dict[str, Any], group: str = group, right: int = right) -> float:
            value = separation("polarity", group)(run)
            return value if right > 0 else 1 - value

        found.append(Claim(f"{group} tokens: polarity on their side", polarity, 0.5, "AUC against neutral"))
    found += [
        Claim(
            f"{group} tokens: larger attention score", separation("score", group), 0.5, "AUC against neutral"
        )
        for group in groups
    ]
    found += [
        Claim("Ω within a group grows", lambda run: min(same(run)), 0.0, "least change"),
        Claim("Ω between groups falls", lambda run: -max(across(run)), 0.0, "least fall"),
        Claim("|Ω| within exceeds |Ω| between", excess, 0.0, "least difference"),
    ]
    return found


def claim_table(names: dict[str, str], cells: Callable[[str], list[str]]) -> list[str]:
    """In how many settings each claim holds, fails or is undecided, data set by data set."""
    rows = []
    for name, title in names.items():
        settings = [cell for cell in cells(name) if cell in STUDY.known(name)]
        if not settings:
            continue
        for place, claim in enumerate(claims_of(polar_groups(name))):
            found = [over_seeds(name, cell, claim.number) for cell in settings]
            sides = [each.against(claim.bar) for each in found]
            rows.append(
                [
                    f"{title} ({len(settings)} settings)" if place == 0 else "",
                    claim.said,
                    *(str(sides.count(side)) for side in ("above", "below", "undecided")),
                    f"{np.median([each.mean for each in found]):.2f} ({claim.unit})" if found else "–",
                ]
            )
    return table(("", "claim", "holds", "the opposite holds", "undecided", "median over settings"), rows)


def score_table(name: str) -> list[str]:
    """How attention scores tell polar from neutral tokens, model by model and λ by λ."""
    rows = [
        [
            model if place == 0 else "",
            group,
            *(over_seeds(name, f"{model} {scale:g}", separation("score", group)).said() for scale in SCALES),
        ]
        for model in MODELS
        for place, group in enumerate(polar_groups(name))
    ]
    return table(("", "tokens", *(f"λ = {scale:g}" for scale in SCALES)), rows)


def real_table() -> list[str]:
    """Texts of people: accuracy, and how polarity and attention scores tell polar from neutral tokens."""
    rows = []
    for name, title in REAL.items():
        for place, cell in enumerate(STUDY.tables[name]):
            found = [
                over_seeds(name, cell.name, separation(quantity, group))
                for quantity in ("polarity", "score")
                for group in ("positive", "negative")
            ]
            rows.append(
                [
                    title if place == 0 else "",
                    cell.name.replace(" ", ", λ = "),
                    str(found[0].n),
                    *(each.said() for each in found),
                ]
            )
    return table(
        ("", "model", "seeds", "polarity of positive", "of negative", "score of positive", "of negative"),
        rows,
    )


def range_table() -> list[str]:
    """Fig. 1: when the signs of Ω settle, by the range in which embeddings start."""
    rows = []
    for bound in RANGES:
        found = STUDY.known("ranges").get(f"DP {bound:g}", {}).values()
        steps = [run["settled"] for run in found]
        settled = [step for step in steps if step is not None]
        rows.append([f"± {bound:g}", str(len(steps)), str(len(settled)), estimate(settled).said(0)])
    return table(("embeddings start in", "seeds", "settled", "at step"), rows)


def ratio_table() -> list[str]:
    """Fig. 7: VᵀW by the ratio of positive to negative texts."""
    rows = []
    for ratio in RATIOS:
        cell = f"DP {ratio:g}"
        rows.append(
            [
                f"{ratio:g}",
                over_seeds("ratios", cell, end("VᵀW")).said(),
                over_seeds("ratios", cell, lambda run: abs(end("VᵀW")(run))).said(),
                over_seeds("ratios", cell, gap).said(3),
            ]
        )
    return table(("positive : negative", "VᵀW", "|VᵀW|", "gap: score of positive − negative"), rows)


def penalty_table() -> list[str]:
    """Figs. 5 and 9: the gap without and with a penalty on the coupling of V and W."""
    rows = []
    for cell in STUDY.tables["penalty"]:
        coupling = "V′ᵀW′" if cell.name.startswith("DP-A") else "VᵀW"
        said = [
            over_seeds("penalty", cell.name, number)
            for number in (
                end(coupling),
                lambda run: abs(gap(run)),
                separation("score", "positive"),
                separation("score", "negative"),
                lambda run: run["accuracy"],
            )
        ]
        model, weight = cell.name.split()
        rows.append([model, weight, *(each.said(3) for each in said)])
    heads = ("", "weight", "V′ᵀW′", "|gap|", "positive: AUC against neutral", "negative", "accuracy on train")
    return table(heads, rows)


def gaps_explained() -> str:
    """The rank correlation of the gap with the coupling over all runs on made-up data of two classes."""
    found = []
    for name in ("data_1", "data_2", "skewed"):
        for cell, seeds in STUDY.known(name).items():
            coupling = "V′ᵀW′" if cell.startswith("DP-A") else "V′ᵀW" if cell.startswith("AD") else "VᵀW"
            found += [(gap(run), end(coupling)(run)) for run in seeds.values()]
    points = np.array([each for each in found if np.isfinite(each).all()])
    if len(points) < 10:
        return "Too few runs to say how the gap and the coupling go together."
    rho = spearmanr(points[:, 0], points[:, 1]).statistic
    low, high = resampled(points)
    return (
        f"Over {len(points)} runs (all models and λ on Data I, Data II and skewed data), Spearman's ρ of the "
        f"gap with the coupling is {rho:.2f} [{low:.2f}, {high:.2f}] (bootstrap over runs)."
    )


def resampled(points: NDArray[np.float64]) -> tuple[float, float]:
    """A 95 % bootstrap interval of Spearman's ρ."""
    rng = np.random.default_rng(0)
    draws = [points[rng.integers(len(points), size=len(points))] for _ in range(1000)]
    low, high = np.quantile([spearmanr(each[:, 0], each[:, 1]).statistic for each in draws], [0.025, 0.975])
    return float(low), float(high)


def tanhmax_table() -> list[str]:
    """Huang, Yang and Wang (2024), after eq. 7: positive and negative scores part, neutral ones stay."""
    rows = []
    for cell in STUDY.tables["tanhmax"]:
        # The sign of TanhMax scores is a gauge: a run counts with the sign that puts positive tokens on top.
        numbers: list[Number] = [
            lambda run: abs(gap(run)),
            lambda run: np.sign(gap(run)) * end("score", "positive")(run),
            lambda run: np.sign(gap(run)) * end("score", "negative")(run),
            lambda run: np.sign(gap(run)) * end("score", "neutral")(run),
            lambda run: abs(end("score", "neutral")(run)) / abs(gap(run)),
        ]
        rows.append(
            [cell.name.split()[0], *(over_seeds("tanhmax", cell.name, number).said() for number in numbers)]
        )
    return table(("", "gap", "positive", "negative", "neutral", "|neutral| / gap"), rows)


def ledger_table() -> list[str]:
    """What moved the attention scores of Data I at λ = 1 and 10, term by term."""
    rows = []
    for model in MODELS:
        for scale in (1.0, 10.0):
            seeds = list(STUDY.known("data_1").get(f"{model} {scale:g}", {}).values())
            for group in ("positive", "negative"):
                told = [run["added"][group] for run in seeds if group in run["added"]]
                if told:
                    terms = [name for name in told[0] if name != "change"]
                    shown = ", ".join(
                        f"{name}: {estimate(each[name] for each in told).said(3)}" for name in terms
                    )
                    rows.append(
                        [f"{model}, λ = {scale:g}", group, shown, estimate(e["change"] for e in told).said(3)]
                    )
    return table(("", "tokens", "added by the terms", "change of the score"), rows)


def write() -> None:
    """dynamics.md."""
    grid_cells = lambda name: [cell.name for cell in STUDY.tables[name]]  # noqa: E731
    parts: list[tuple[str, list[str]]] = [
        ("### The claims, setting by setting", claim_table(MADE_UP, grid_cells)),
        ("### What moved the scores", ledger_table()),
        *(
            (f"### Attention scores: {title}", score_table(name))
            for name, title in MADE_UP.items()
            if STUDY.known(name)
        ),
        ("### Texts of people", [*claim_table(REAL, grid_cells), *real_table()]),
        ("### Where embeddings start", range_table()),
        ("### The coupling of V and W", [*ratio_table(), gaps_explained(), "", *penalty_table()]),
        ("### TanhMax", tanhmax_table()),
    ]
    lines = [line for title, body in parts for line in (title, "", *body)]
    (HERE / "dynamics.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
