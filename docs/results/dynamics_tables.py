"""The JSON of `dynamics.py` → dynamics.md, which docs/dynamics.md includes: every claim with its verdict.

python docs/results/dynamics_tables.py

A number of a claim is taken run by run. Its effect is the mean over all settings (models and λ) of a seed,
with the 95 % t-interval over seeds: seeds are independent, the settings of a seed are not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from dynamics import MODELS, PENALTY, PUBLISHED, RANGES, RATIOS, SCALES, STUDY
from encoder_tables import table
from study import HERE, t_half

Run = dict[str, Any]
Number = Callable[[Run], float]
Values = dict[str, dict[int, float]]
"""Setting → seed → number."""

GRIDS = {
    "data_1": "Data I",
    "data_2": "Data II (5 % noise)",
    "skewed": "3 positive texts to 1 negative",
    "three_classes": "three classes",
}
REAL = {"sst2": "SST-2", "sports": "20 Newsgroups sports", "imdb": "IMDB, 5,000 reviews"}
BINARY = ("data_1", "data_2", "skewed")
STILL = 0.1
"""A group stays where it is if it moves less than this part of the gap that opens between the others."""


@dataclass(frozen=True)
class Estimate:
    """A mean over n seeds with its 95 % t-interval; without one for a single seed."""

    mean: float
    half: float
    n: int

    def side(self, bar: float) -> int:
        """+1 or −1 if the whole interval lies above or below a bar, 0: undecided."""
        if self.n < 2 or abs(self.mean - bar) <= self.half:
            return 0
        return 1 if self.mean > bar else -1

    def said(self, digits: int = 2) -> str:
        """mean [low, high]."""
        if self.n < 2:
            return f"{self.mean:.{digits}f} (one seed)" if self.n else "–"
        return (
            f"{self.mean:.{digits}f} [{self.mean - self.half:.{digits}f}, {self.mean + self.half:.{digits}f}]"
        )


def estimate(values: Sequence[float]) -> Estimate:
    """Of one number per seed.

    Raises:
        ValueError: on a number that is not finite: a claim is not judged on what is left.
    """
    found = np.asarray(values, dtype=float)
    if not np.isfinite(found).all():
        raise ValueError(f"not finite: {found}")
    n = len(found)
    half = t_half(found) if n > 1 else 0.0
    return Estimate(float(found.mean()) if n else 0.0, float(half), n)


def pooled(values: Values) -> Estimate:
    """The mean over settings of every seed that all of them have."""
    seeds = set.intersection(*map(set, values.values())) if values else set()
    return estimate([float(np.mean([each[seed] for each in values.values()])) for seed in sorted(seeds)])


@dataclass(frozen=True)
class Claim:
    """A number that a claim wants above a bar in every run (or below it)."""

    said: str
    unit: str
    number: Number
    bar: float = 0.0
    below: bool = False

    def sides(self, values: Values) -> list[int]:
        """Of every setting: +1 the claim holds, −1 its opposite, 0 its seeds do not tell."""
        turn = -1 if self.below else 1
        return [turn * estimate(list(each.values())).side(self.bar) for each in values.values()]

    def verdict(self, values: Values) -> str:
        """In words: of the settings one by one, and of all together."""
        sides, whole = self.sides(values), pooled(values)
        if whole.n < 2:
            return "too few seeds"
        for_, against = sides.count(1), sides.count(-1)
        together = (-1 if self.below else 1) * whole.side(self.bar)
        if for_ == len(sides):
            return "**holds**"
        if against == len(sides):
            return "**fails**: the opposite holds"
        if against:
            return f"**fails** in {against} of {len(sides)} settings"
        if together > 0:
            return f"**holds** over all; {len(sides) - for_} of {len(sides)} settings alone do not tell"
        return "**not shown**" if together == 0 else "**fails** over all"

    def row(self, values: Values) -> list[str]:
        """The cells that follow the claim and where it was tested."""
        sides, whole = self.sides(values), pooled(values)
        counts = " / ".join(str(sides.count(side)) for side in (1, -1, 0))
        return [f"{whole.said()} {self.unit}", str(whole.n), counts, self.verdict(values)]


# What is taken from a run.


def polar(run: Run) -> list[str]:
    """The groups of tokens that belong to a class."""
    return [group for group in run["groups"] if group != "neutral"]


def end(run: Run, quantity: str, group: str = "") -> float:
    """A mean after the last step."""
    return float(run["curves"][f"{quantity}/{group}"][1])


def change(run: Run, quantity: str, group: str) -> float:
    """How far a mean has come since before the first step."""
    first, last = run["curves"][f"{quantity}/{group}"]
    return float(last - first)


def least_separation(quantity: str) -> Number:
    """The probability that a token of a class has more than a neutral one, in the group where it is least;
    of two classes the polarity of negative tokens is meant to be less."""

    def number(run: Run) -> float:
        groups = polar(run)
        mirrored = quantity == "polarity" and set(groups) == {"positive", "negative"}
        found = {group: run["separation"][f"{quantity}/{group}"] for group in groups}
        return min(1 - each if mirrored and group == "negative" else each for group, each in found.items())

    return number


def mean_separation(run: Run) -> float:
    """The same of attention scores, as the mean over groups."""
    return float(np.mean([run["separation"][f"score/{group}"] for group in polar(run)]))


def products(run: Run) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Ω within and between the polar groups: [before the first step, after the last]."""
    groups = polar(run)
    within = {group: run["products"][f"e/{group} × {group}"] for group in groups}
    between = {
        f"{first} {second}": run["products"][f"e/{first} × {second}"]
        for place, first in enumerate(groups)
        for second in groups[place + 1 :]
    }
    return within, between


def within_grows(run: Run) -> float:
    """The least growth of Ω within a group."""
    return min(last - first for first, last in products(run)[0].values())


def between_falls(run: Run) -> float:
    """The least fall of Ω between groups."""
    return min(first - last for first, last in products(run)[1].values())


def excess(of_within: Callable[[list[float]], float], of_between: Callable[[list[float]], float]) -> Number:
    """|Ω| within groups minus |Ω| between them, after the last step."""

    def number(run: Run) -> float:
        within, between = ([abs(last) for _, last in each.values()] for each in products(run))
        return float(of_within(within) - of_between(between))

    return number


def gap(run: Run) -> float:
    """Mean attention score of positive tokens minus that of negative ones, after the last step."""
    return end(run, "score", "positive") - end(run, "score", "negative")


def coupling(run: Run) -> float:
    """VᵀW of the model at hand: V′ᵀW′ behind an affine layer, V′ᵀW of additive attention."""
    for name in ("V′ᵀW′", "V′ᵀW", "VᵀW"):
        if f"{name}/" in run["curves"]:
            return end(run, name)
    raise KeyError("no coupling was recorded")


def gap_opens(run: Run) -> float:
    """How far positive and negative scores have come apart, positive ones upwards."""
    return change(run, "score", "positive") - change(run, "score", "negative")


def neutral_share(run: Run) -> float:
    """How far neutral scores moved, as a part of the gap that opened."""
    return abs(change(run, "score", "neutral")) / abs(gap_opens(run))


EVERYWHERE = (
    Claim("polarity tokens get a polarity on their side", "AUC", least_separation("polarity"), 0.5),
    Claim("tokens of every class get larger attention scores", "AUC", least_separation("score"), 0.5),
    Claim("polarity tokens get larger attention scores on average", "AUC", mean_separation, 0.5),
    Claim("Ω within a class grows (eqs. 46, 50)", "least growth", within_grows),
    Claim("Ω between classes falls (eqs. 46, 53)", "least fall", between_falls),
    Claim(
        "every \\|Ω\\| within exceeds every \\|Ω\\| between (eqs. 48–55)",
        "least difference",
        excess(min, max),
    ),
    Claim("\\|Ω\\| within exceeds \\|Ω\\| between on average", "difference", excess(np.mean, np.mean)),
)
SIGN = Claim(
    "the class that VᵀW favours has the larger scores",
    "of runs",
    lambda run: float(np.sign(gap(run)) == np.sign(coupling(run))),
    0.5,
)
SIGNED = (
    Claim("positive and negative scores move apart", "gap opened", gap_opens),
    Claim("positive scores rise", "change", lambda run: change(run, "score", "positive")),
    Claim("negative scores fall", "change", lambda run: change(run, "score", "negative"), below=True),
    Claim("neutral scores stay", "of the gap", neutral_share, STILL, below=True),
)


# Where it is tested.


def cells(name: str, *chosen: str) -> dict[str, dict[int, Run]]:
    """Setting → seed → run of what is trained; ``chosen`` are words that its name must have."""
    known = STUDY.known(name)
    return {
        f"{name} {cell.name}": known[cell.name]
        for cell in STUDY.tables[name]
        if cell.name in known and all(word in cell.name.split() for word in chosen)
    }


def over(runs: dict[str, dict[int, Run]], number: Number) -> Values:
    """A number of every run."""
    return {name: {seed: number(run) for seed, run in seeds.items()} for name, seeds in runs.items()}


def together(names: Sequence[str], *chosen: str) -> dict[str, dict[int, Run]]:
    """The settings of several tables."""
    return {title: seeds for name in names for title, seeds in cells(name, *chosen).items()}


HEADS = ("claim", "data", "effect", "seeds", "settings: holds / opposite / undecided", "verdict")


def verdicts() -> list[str]:
    """Every claim that is about every model, with what became of it."""
    places = [("made up, two classes", together(BINARY)), ("made up, three classes", cells("three_classes"))]
    places += [(title, cells(name)) for name, title in REAL.items()]
    rows = [
        [claim.said if number == 0 else "", title, *claim.row(over(runs, claim.number))]
        for claim in EVERYWHERE
        for number, (title, runs) in enumerate(each for each in places if each[1])
    ]
    return table(HEADS, rows)


def split(names: Sequence[str], columns: dict[str, tuple[Sequence[str], tuple[str, ...]]]) -> list[str]:
    """The effects again, column by column: tables of data, and words of the names of their cells."""
    rows = []
    for claim in EVERYWHERE:
        said = []
        for tables, chosen in columns.values():
            runs = together(tables, *chosen)
            sides = claim.sides(over(runs, claim.number))
            whole = pooled(over(runs, claim.number)).said()
            said.append(f"{whole}, {sides.count(1)} of {len(sides)}" if sides else "–")
        rows.append([claim.said, *said])
    return table(("claim", *names), rows)


def by_data() -> list[str]:
    """Each set of made-up data."""
    return split(list(GRIDS.values()), {name: ((name,), ()) for name in GRIDS})


def by_scale() -> list[str]:
    """Each λ, on the made-up data of two classes."""
    return split(
        [f"λ = {scale:g}" for scale in SCALES], {f"{scale:g}": (BINARY, (f"{scale:g}",)) for scale in SCALES}
    )


def by_model() -> list[str]:
    """Each model, on the made-up data of two classes."""
    return split(list(MODELS), {model: (BINARY, (model,)) for model in MODELS})


def range_table() -> list[str]:
    """Fig. 1: when the signs of Ω settle, by the range in which embeddings start."""
    starts = {0.1: cells("data_1", "DP", "10")} | {bound: cells("ranges", f"{bound:g}") for bound in RANGES}
    steps: dict[float, dict[int, float]] = {}
    rows = []
    for bound, found in starts.items():
        runs = next(iter(found.values()), {})
        # A run that has not settled counts as settled at its last step: a lower bound.
        steps[bound] = {
            seed: float(run["steps"] if run["settled"] is None else run["settled"])
            for seed, run in runs.items()
        }
        never = sum(run["settled"] is None for run in runs.values())
        said = estimate(list(steps[bound].values())).said(0)
        rows.append([f"± {bound:g}", said, str(len(runs)), str(never)])
    first, *others = steps
    for other in others:
        seeds = sorted(steps[first].keys() & steps[other].keys())
        later = estimate([steps[other][seed] - steps[first][seed] for seed in seeds])
        verdict = {1: "**later**", -1: "**sooner**", 0: "no difference that these seeds show"}[later.side(0)]
        rows.append([f"± {other:g} against ± {first:g}, paired", later.said(0), str(later.n), verdict])
    return table(("embeddings start in", "signs of Ω settle at step", "seeds", "never settled"), rows)


def ratio_table() -> list[str]:
    """Fig. 7: VᵀW by the ratio of positive to negative texts."""
    found = {ratio: cells("ratios", f"{ratio:g}") for ratio in RATIOS} | {1.0: cells("data_1", "DP", "10")}
    runs = {ratio: next(iter(each.values()), {}) for ratio, each in sorted(found.items())}
    balanced = {seed: abs(coupling(run)) for seed, run in runs[1.0].items()}
    rows = []
    for ratio, seeds in runs.items():
        common = sorted(seeds.keys() & balanced.keys())
        more = estimate([abs(coupling(seeds[seed])) - balanced[seed] for seed in common])
        rows.append(
            [
                f"{ratio:g}",
                str(len(seeds)),
                estimate([coupling(run) for run in seeds.values()]).said(),
                estimate([abs(coupling(run)) for run in seeds.values()]).said(),
                "" if ratio == 1 else more.said(),
                estimate([gap(run) for run in seeds.values()]).said(3),
            ]
        )
    heads = ("positive : negative", "seeds", "VᵀW", "\\|VᵀW\\|", "\\|VᵀW\\| more than at 1, paired", "gap")
    return table(heads, rows)


def within_settings() -> Estimate:
    """Spearman's ρ of gap and VᵀW over the seeds of a setting: a mean over settings with its t-interval."""
    found = [
        float(spearmanr([gap(run) for run in seeds.values()], [coupling(run) for run in seeds.values()])[0])
        for seeds in together(BINARY).values()
        if len(seeds) >= 4
    ]
    return estimate(found)


def gap_table() -> list[str]:
    """Does VᵀW explain the gap between positive and negative scores?"""
    rows = [
        ["", title, *SIGN.row(over(cells(name), SIGN.number))]
        for name, title in GRIDS.items()
        if name in BINARY
    ]
    rows += [
        ["", title, *SIGN.row(over(cells(name), SIGN.number))] for name, title in REAL.items() if cells(name)
    ]
    rows[0][0] = SIGN.said
    rho = within_settings()
    verdict = "**holds**" if rho.side(0) > 0 else "**not shown**"
    said = "the gap is the larger, the larger VᵀW, over the seeds of a setting"
    rows.append(
        [said, "made up, two classes", f"{rho.said()} Spearman's ρ", "5", f"{rho.n} settings", verdict]
    )
    return table(HEADS, rows)


def penalty_table() -> list[str]:
    """Figs. 5 and 9: the gap without and with a penalty on the coupling of V and W."""
    rows = []
    for name in ("data_1", "skewed"):
        for model in ("DP", "DP-A"):
            without, with_ = cells(name, model, "10"), cells("penalty", name, model)
            first, second = (next(iter(each.values()), {}) for each in (without, with_))
            seeds = sorted(first.keys() & second.keys())
            logs = estimate([float(np.log10(abs(gap(second[s]) / gap(first[s])))) for s in seeds])
            left = [10**each for each in (logs.mean, logs.mean - logs.half, logs.mean + logs.half)]
            verdict = (
                "too few seeds" if logs.n < 2
                else "**almost gone**" if left[2] < 0.1
                else "**smaller**" if left[2] < 1
                else "**larger**" if left[1] > 1
                else "**not shown**"
            )  # fmt: skip
            weaker = least_separation("score")
            rows.append(
                [
                    f"{GRIDS[name]}, {model}",
                    str(logs.n),
                    *(estimate([abs(coupling(each[s])) for s in seeds]).said() for each in (first, second)),
                    *(estimate([abs(gap(each[s])) for s in seeds]).said(3) for each in (first, second)),
                    f"{left[0]:.2f} [{left[1]:.2f}, {left[2]:.2f}]" if logs.n > 1 else "–",
                    verdict,
                    *(estimate([weaker(each[s]) for s in seeds]).said() for each in (first, second)),
                ]
            )
    heads = (
        "", "seeds", "\\|VᵀW\\| without", "with", "\\|gap\\| without", "with", "what is left", "the gap is",
        "AUC of the weaker class without", "with",
    )  # fmt: skip
    return table(heads, rows)


def signed_table() -> list[str]:
    """Huang, Yang and Wang (2024), after eq. 7: positive and negative scores part, neutral ones stay."""
    rows = []
    for name in ("tanhmax", "softmax"):
        runs = cells("tanhmax", PUBLISHED, name)
        rows += [[name, claim.said, *claim.row(over(runs, claim.number))] for claim in SIGNED if runs]
    heads = ("attention", "claim", *HEADS[2:])
    learned = {
        model: [run["accuracy"] for run in seeds.values()]
        for model in MODELS
        for name, seeds in cells("tanhmax", model, "tanhmax").items()
    }
    said = ", ".join(f"{model} {np.mean(found):.2f}" for model, found in learned.items())
    return [
        f"Settings of the preset `{PUBLISHED}` on Data I.",
        "",
        *table(heads, rows),
        "At the settings of the other tables TanhMax does not learn, and says nothing of the claim: accuracy "
        f"on train of {said} after the last step. Near zero its weights are as small as the scores, a saddle "
        "that gradient descent leaves slowly.",
        "",
    ]


def ledger_table() -> list[str]:
    """What moved the attention scores of Data I at λ = 1 and 10, term by term."""
    rows = []
    for model in MODELS:
        for scale in (1.0, 10.0):
            seeds = next(iter(cells("data_1", model, f"{scale:g}").values()), {})
            for group in ("positive", "negative"):
                told = [run["added"][group] for run in seeds.values() if group in run["added"]]
                if told:
                    terms = [name for name in told[0] if name != "change"]
                    rest = [each["change"] - sum(each[name] for name in terms) for each in told]
                    shown = [f"{name} {estimate([each[name] for each in told]).said(3)}" for name in terms]
                    rows.append(
                        [
                            f"{model}, λ = {scale:g}",
                            group,
                            "; ".join(shown),
                            estimate(rest).said(3),
                            estimate([each["change"] for each in told]).said(3),
                        ]
                    )
    return table(("", "tokens", "added by the terms", "not explained", "change of the score"), rows)


def write() -> None:
    """dynamics.md."""
    parts: list[tuple[str, list[str]]] = [
        ("### What every model should show", verdicts()),
        ("### Data by data", by_data()),
        ("### λ by λ, two classes", by_scale()),
        ("### Model by model, two classes", by_model()),
        ("### Where embeddings start", range_table()),
        ("### VᵀW and the gap", gap_table()),
        ("### VᵀW and the ratio of classes", ratio_table()),
        (f"### A penalty of {PENALTY:g} on (VᵀW)²", penalty_table()),
        ("### TanhMax", signed_table()),
        ("### What moved the scores of Data I", ledger_table()),
    ]
    lines = [line for title, body in parts for line in (title, "", *body)]
    (HERE / "dynamics.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write()
