"""The JSON of `dynamics.py` → dynamics.md, a part of training-claims.md: every claim with its verdict.

python docs/results/dynamics_tables.py

A number of a claim is taken run by run, of every class apart. Its effect is the mean over all settings
(models and λ) of a seed, with the 95 % t-interval over seeds: seeds are independent, the settings of a seed
are not.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from dynamics import COUPLINGS, MODELS, PENALTY, PUBLISHED, RANGES, RATIOS, SCALES, STUDY
from encoder_scale import table
from glasshead.papers.results import NOT_EXPLAINED
from glasshead.results import NONE_LEADS, TOO_MUCH_LEFT, TOO_SPARSE
from study import HERE, t_half

DASH = "–"
Run = dict[str, Any]
Parts = Callable[[Run], dict[str, float]]
"""What is taken from a run: a number, or one of every class or pair of classes."""
Runs = dict[str, dict[int, Run]]
"""Setting → seed → run."""
Values = dict[str, dict[str, list[float]]]
"""Setting → part → a number per seed."""

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
GONE = 0.1
"""A gap is almost gone if less than this part of it is left."""
MIN_SEEDS = 3
"""No verdict of fewer seeds."""
LEVEL = 0.05
"""A p-value above it shows nothing."""


@dataclass(frozen=True)
class Estimate:
    """A mean over n seeds with its 95 % t-interval; without one for a single seed."""

    mean: float
    half: float
    n: int

    def side(self, bar: float) -> int:
        """+1 or −1 if the whole interval lies above or below a bar, 0: undecided."""
        if self.n < MIN_SEEDS or abs(self.mean - bar) <= self.half:
            return 0
        return 1 if self.mean > bar else -1

    def describe(self, digits: int = 2, ends: tuple[float, float] = (-np.inf, np.inf)) -> str:
        """mean [low, high], within the ends that such a number has."""
        if self.n < 2:
            return f"{self.mean:.{digits}f} (one seed)" if self.n else DASH
        low, high = np.clip((self.mean - self.half, self.mean + self.half), *ends)
        return f"{self.mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def estimate(values: Sequence[float], among: int = 1) -> Estimate:
    """Of one number per seed; ``among``: how many such intervals are to be right at once (Bonferroni).

    Raises:
        ValueError: on a number that is not finite: a claim is not judged on what is left.
    """
    found = np.asarray(values, dtype=float)
    if not np.isfinite(found).all():
        raise ValueError(f"not finite: {found}")
    n = len(found)
    half = t_half(found, among) if n > 1 else 0.0
    return Estimate(float(found.mean()) if n else 0.0, float(half), n)


def over(runs: Runs, parts: Parts) -> Values:
    """The numbers of every run, part by part."""
    found: Values = {}
    for name, seeds in runs.items():
        each = [parts(run) for run in seeds.values()]
        found[name] = {part: [numbers[part] for numbers in each] for part in each[0]}
    return found


def pooled(runs: Runs, parts: Parts) -> dict[str, list[float]]:
    """Part → for every seed that all settings have, the mean over the settings."""
    seeds = common(runs)
    settings = (
        over({name: {seed: of[seed] for seed in seeds} for name, of in runs.items()}, parts) if seeds else {}
    )
    named = dict.fromkeys(part for each in settings.values() for part in each)
    return {part: np.mean([each[part] for each in settings.values()], axis=0).tolist() for part in named}


@dataclass(frozen=True)
class Claim:
    """Numbers that a claim wants above a bar (or below it), every one of them."""

    statement: str
    unit: str
    parts: Parts
    bar: float = 0.0
    below: bool = False

    def side(self, parts: dict[str, list[float]], among: int = 1) -> int:
        """+1: every part lies on the claim's side of the bar; −1: one lies on the other; 0: no telling.

        That one of several lies on the other side has to hold of all their intervals at once, and of those of
        all settings ``among`` which it is looked for.
        """
        turn = -1 if self.below else 1
        if parts and all(estimate(each).side(self.bar) == turn for each in parts.values()):
            return 1
        intervals = [estimate(each, among * len(parts)) for each in parts.values()]
        return -1 if any(each.side(self.bar) == -turn for each in intervals) else 0

    def sides(self, runs: Runs) -> list[int]:
        """Of every setting."""
        return [self.side(parts, len(runs)) for parts in over(runs, self.parts).values()]

    def effect(self, runs: Runs) -> tuple[str, int]:
        """The mean over settings of the part that is nearest to failing, and of how many seeds."""
        parts = {name: estimate(each) for name, each in pooled(runs, self.parts).items()}
        if not parts:
            return DASH, 0
        turn = -1 if self.below else 1
        name, least = min(parts.items(), key=lambda part: turn * part[1].mean)
        return least.describe() + (f" ({name})" if len(parts) > 1 else ""), least.n

    def verdict(self, runs: Runs) -> str:
        """In words: of the settings one by one, and of all together."""
        sides, whole = self.sides(runs), pooled(runs, self.parts)
        if min(map(len, whole.values()), default=0) < MIN_SEEDS:
            return "too few seeds"
        for_, against = sides.count(1), sides.count(-1)
        if for_ == len(sides):
            return "**holds**"
        if against == len(sides):
            return "**fails**: the opposite holds"
        if against:
            return f"**fails** in {against} of {len(sides)} settings"
        together = self.side(whole)
        if together > 0:
            return f"**holds** on average; {len(sides) - for_} of {len(sides)} settings alone do not tell"
        return "**not shown**" if together == 0 else "**fails** on average"

    def row(self, runs: Runs) -> list[str]:
        """The cells that follow the claim and where it was tested."""
        sides, (said, n) = self.sides(runs), self.effect(runs)
        counts = " / ".join(str(sides.count(side)) for side in (1, -1, 0))
        return [f"{said} {self.unit}", str(n), counts, self.verdict(runs)]

    def cell(self, runs: Runs) -> str:
        """The effect, and in how many settings the claim holds."""
        sides = self.sides(runs)
        return f"{self.effect(runs)[0]}, {sides.count(1)} of {len(sides)}" if sides else DASH


@dataclass(frozen=True)
class Counted:
    """A claim that every training decides for itself: +1 it holds, −1 it fails, 0 its tokens do not tell."""

    statement: str
    decided: Callable[[Run], int]

    def sides(self, runs: Runs) -> list[int]:
        """Of every training."""
        return [self.decided(run) for seeds in runs.values() for run in seeds.values()]

    def row(self, runs: Runs) -> list[str]:
        """The cells that follow the claim and where it was tested."""
        sides = self.sides(runs)
        share = pooled(runs, lambda run: {"": float(self.decided(run) == 1)}).get("", [])
        counts = " / ".join(str(sides.count(side)) for side in (1, -1, 0))
        whole = estimate(share)
        alike = whole.n > 1 and whole.half == 0  # an interval of no width would say more than is known
        said = (
            f"{whole.mean:.2f} of them, in every seed" if alike else f"{whole.describe(ends=(0, 1))} of them"
        )
        return [
            said,
            str(len(share)),
            f"trainings: {counts}",
            self.verdict(runs),
        ]

    def verdict(self, runs: Runs) -> str:
        """In words."""
        sides = self.sides(runs)
        if -1 in sides:
            return f"**fails** in {sides.count(-1)} of {len(sides)} trainings"
        return (
            "**holds** in every training"
            if 0 not in sides
            else f"**not shown** in {sides.count(0)} of {len(sides)} trainings"
        )

    def cell(self, runs: Runs) -> str:
        """In how many trainings it holds, and in how many it fails."""
        sides = self.sides(runs)
        return f"holds in {sides.count(1)}, fails in {sides.count(-1)} of {len(sides)}" if sides else DASH


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


def clear_of(run: Run) -> dict[str, float]:
    """How far the AUC of attention scores of a class must lie from ½ to be no chance: the 97.5 % quantile of
    Mann and Whitney's null, √((n + m + 1)/12nm), of all classes at once (Bonferroni)."""
    m = run["groups"]["neutral"]
    level = norm.ppf(1 - 0.025 / len(polar(run)))
    return {
        group: float(level * np.sqrt((n + m + 1) / (12 * n * m)))
        for group, n in run["groups"].items()
        if group != "neutral"
    }


def every_class_ahead(run: Run) -> int:
    """+1: tokens of every class have larger attention scores than neutral ones; −1: those of one smaller."""
    bars = clear_of(run)
    ahead = {group: run["separation"][f"score/{group}"] - 0.5 for group in bars}
    if all(ahead[group] > bar for group, bar in bars.items()):
        return 1
    return -1 if any(ahead[group] < -bar for group, bar in bars.items()) else 0


def polarity_separation(run: Run) -> dict[str, float]:
    """The probability that a token of a class has more polarity than a neutral one, class by class; of two
    classes the polarity of negative tokens is meant to be less."""
    mirrored = set(polar(run)) == {"positive", "negative"}
    found = {group: run["separation"][f"polarity/{group}"] for group in polar(run)}
    return {group: 1 - each if mirrored and group == "negative" else each for group, each in found.items()}


def mean_separation(run: Run) -> dict[str, float]:
    """The same of attention scores, as the mean over classes."""
    return {"": float(np.mean([run["separation"][f"score/{group}"] for group in polar(run)]))}


def within(run: Run) -> dict[str, list[float]]:
    """Ω within every class: [before the first step, after the last]."""
    return {group: run["products"][f"e/{group} × {group}"] for group in polar(run)}


def between(run: Run) -> dict[tuple[str, str], list[float]]:
    """Ω between every two classes."""
    pairs = combinations(polar(run), 2)
    return {(first, second): run["products"][f"e/{first} × {second}"] for first, second in pairs}


def within_grows(run: Run) -> dict[str, float]:
    """Growth of Ω within every class."""
    return {group: last - first for group, (first, last) in within(run).items()}


def between_falls(run: Run) -> dict[str, float]:
    """Fall of Ω between every two classes."""
    return {" × ".join(pair): first - last for pair, (first, last) in between(run).items()}


def excess(run: Run) -> dict[str, float]:
    """|Ω| within a class minus |Ω| between it and another, of every class and other."""
    inside = within(run)
    return {
        f"{group} against {other}": abs(inside[group][1]) - abs(last)
        for pair, (_, last) in between(run).items()
        for group, other in permutations(pair)
    }


def mean_excess(run: Run) -> dict[str, float]:
    """The same on average."""
    return {"": float(np.mean(list(excess(run).values())))}


def gap(run: Run) -> float:
    """Mean attention score of positive tokens minus that of negative ones, after the last step."""
    return end(run, "score", "positive") - end(run, "score", "negative")


def coupling(run: Run) -> float:
    """VᵀW of the model at hand."""
    for name in COUPLINGS:
        if f"{name}/" in run["curves"]:
            return end(run, name)
    raise KeyError("no coupling was recorded")


def favoured(run: Run) -> dict[str, float]:
    """The gap towards the class that VᵀW favours, over the larger distance of a class from neutral tokens:
    2 if both classes are as far from them on either side, 1 if one is where they are, 0 without a gap."""
    neutral = end(run, "score", "neutral")
    farthest = max(abs(end(run, "score", group) - neutral) for group in ("positive", "negative"))
    return {"": float(gap(run) * np.sign(coupling(run)) / farthest)}


def opened(run: Run) -> float:
    """How far positive and negative scores have come apart, whichever is above."""
    return abs(change(run, "score", "positive") - change(run, "score", "negative"))


def around_zero(run: Run) -> dict[str, float]:
    """How far the other class has come to the other side of zero, over how far the farther one has come:
    1 as far, 0 it stays, −1 as far to the same side."""
    near, far = sorted((change(run, "score", group) for group in ("positive", "negative")), key=abs)
    return {"": -near / far}


def neutral_share(run: Run) -> dict[str, float]:
    """How far neutral scores moved, as a part of the gap that opened."""
    return {"": abs(change(run, "score", "neutral")) / opened(run)}


def neutral_moves(run: Run) -> dict[str, float]:
    """The same of a single neutral token, on average, whichever way it moved."""
    return {"": run["moved"]["neutral"] / opened(run)}


EVERYWHERE: tuple[Claim | Counted, ...] = (
    Claim("polarity tokens get a polarity on their side", "AUC", polarity_separation, 0.5),
    Counted("tokens of every class get larger attention scores", every_class_ahead),
    Claim("polarity tokens get larger attention scores on average", "AUC", mean_separation, 0.5),
    Claim("Ω within a class grows (eqs. 46, 50)", "growth", within_grows),
    Claim("Ω between classes falls (eqs. 46, 53)", "fall", between_falls),
    Claim(
        "\\|Ω\\| within every class exceeds \\|Ω\\| between it and another (eqs. 48–55)", "difference", excess
    ),
    Claim("\\|Ω\\| within exceeds \\|Ω\\| between on average", "difference", mean_excess),
)
FAVOURED = Claim("the class that VᵀW favours has the larger scores", "× the larger distance", favoured)
AROUND_ZERO = Claim("they part around zero", "× the farther", around_zero)
STAYING = (
    Claim("neutral scores stay on average", "of the gap", neutral_share, STILL, below=True),
    Claim("neutral tokens stay, one by one", "of the gap", neutral_moves, STILL, below=True),
)


# Where it is tested.


def cells(name: str, *chosen: str) -> Runs:
    """Setting → seed → run of what is trained; ``chosen`` are words that its name must have."""
    known = STUDY.known(name)
    return {
        f"{name} {cell.name}": known[cell.name]
        for cell in STUDY.tables[name]
        if cell.name in known and all(word in cell.name.split() for word in chosen)
    }


def together(names: Sequence[str], *chosen: str) -> Runs:
    """The settings of several tables."""
    return {title: seeds for name in names for title, seeds in cells(name, *chosen).items()}


HEADS = ("claim", "data", "effect", "seeds", "settings: holds / opposite / undecided", "verdict")


def verdicts() -> list[str]:
    """Every claim that is about every model, with what became of it."""
    places = [("made up, two classes", together(BINARY)), ("made up, three classes", cells("three_classes"))]
    places += [(title, cells(name)) for name, title in REAL.items()]
    rows = [
        [claim.statement if number == 0 else "", title, *claim.row(runs)]
        for claim in EVERYWHERE
        for number, (title, runs) in enumerate(each for each in places if each[1])
    ]
    return table(HEADS, rows)


def split(names: Sequence[str], columns: dict[str, tuple[Sequence[str], tuple[str, ...]]]) -> list[str]:
    """The effects again, column by column: tables of data, and words of the names of their cells."""
    rows = [
        [claim.statement, *(claim.cell(together(tables, *chosen)) for tables, chosen in columns.values())]
        for claim in EVERYWHERE
    ]
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


def ahead_table() -> list[str]:
    """In which trainings tokens of every class get larger attention scores than neutral ones."""
    titles = {"made up, two classes": BINARY, GRIDS["three_classes"]: ("three_classes",)}
    titles |= {title: (name,) for name, title in REAL.items()}
    (claim,) = [each for each in EVERYWHERE if isinstance(each, Counted)]
    rows = [
        [title, model, *(claim.cell(together(names, model, f"{scale:g}")) for scale in SCALES)]
        for title, names in titles.items()
        for model in MODELS
    ]
    return table(("data", "model", *(f"λ = {scale:g}" for scale in SCALES)), rows)


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
        said = estimate(list(steps[bound].values())).describe(0)
        rows.append([f"± {bound:g}", said, str(len(runs)), str(never)])
    first, *others = steps
    for other in others:
        seeds = sorted(steps[first].keys() & steps[other].keys())
        later = estimate([steps[other][seed] - steps[first][seed] for seed in seeds])
        verdict = {1: "**later**", -1: "**sooner**", 0: "no difference that these seeds show"}[later.side(0)]
        rows.append([f"± {other:g} against ± {first:g}, paired", later.describe(0), str(later.n), verdict])
    return table(("embeddings start in", "signs of Ω settle at step", "seeds", "never settled"), rows)


def ratio_table() -> list[str]:
    """Fig. 7: VᵀW by the ratio of positive to negative texts."""
    found = {ratio: cells("ratios", f"{ratio:g}") for ratio in RATIOS} | {1.0: cells("data_1", "DP", "10")}
    runs = {ratio: next(iter(each.values()), {}) for ratio, each in sorted(found.items())}
    balanced = {seed: abs(coupling(run)) for seed, run in runs[1.0].items()}
    rows = []
    for ratio, seeds in runs.items():
        both = sorted(seeds.keys() & balanced.keys())
        more = estimate([abs(coupling(seeds[seed])) - balanced[seed] for seed in both])
        signed = estimate([coupling(run) for run in seeds.values()])
        rows.append(
            [
                f"{ratio:g}",
                str(len(seeds)),
                signed.describe(),
                estimate([abs(coupling(run)) for run in seeds.values()]).describe(),
                "" if ratio == 1 else more.describe(),
                estimate([gap(run) for run in seeds.values()]).describe(3),
                "" if ratio == 1 else of_the_frequent_class(ratio, signed, more),
            ]
        )
    heads = (
        "positive : negative", "seeds", "VᵀW", "\\|VᵀW\\|", "\\|VᵀW\\| more than at 1, paired", "gap",
        "larger than at 1, with the sign of the frequent class",
    )  # fmt: skip
    return table(heads, rows)


def of_the_frequent_class(ratio: float, signed: Estimate, more: Estimate) -> str:
    """The verdict of a ratio other than 1."""
    if min(signed.n, more.n) < MIN_SEEDS:
        return "too few seeds"
    found = {signed.side(0) * (1 if ratio > 1 else -1), more.side(0)}
    return "**holds**" if found == {1} else "**fails**" if -1 in found else "**not shown**"


def ranked(settings: Runs, seeds: Sequence[int], number: Callable[[Run], float]) -> NDArray[np.float64]:
    """The ranks of a number over the seeds of every setting, with mean 0 and length 1, so that the product of
    two of them is Spearman's ρ; NaN where all are alike."""
    ranks = rankdata([[number(runs[seed]) for seed in seeds] for runs in settings.values()], axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    found: NDArray[np.float64] = ranks / np.linalg.norm(ranks, axis=1, keepdims=True)
    return found


def rank_correlations(settings: Runs, seeds: Sequence[int]) -> NDArray[np.float64]:
    """Spearman's ρ of gap and VᵀW over the seeds of every setting."""
    found: NDArray[np.float64] = (ranked(settings, seeds, gap) * ranked(settings, seeds, coupling)).sum(
        axis=1
    )
    return found


def common(settings: Runs) -> list[int]:
    """The seeds that all settings have."""
    return sorted(set.intersection(*map(set, settings.values()))) if settings else []


def gap_follows(settings: Runs) -> Estimate:
    """The mean ρ over settings, with the standard error of the jackknife, which leaves out a seed of all
    settings at once."""
    seeds = common(settings)
    n = len(seeds)
    if n < 5:  # four points are left
        return Estimate(0.0, 0.0, 0)
    whole = rank_correlations(settings, seeds).mean()
    left = [rank_correlations(settings, [seed for seed in seeds if seed != out]).mean() for out in seeds]
    return Estimate(float(whole), t_half([n * whole - (n - 1) * each for each in left]), n)


def by_chance(settings: Runs) -> float:
    """The share of the orders of the seeds in which the gaps, all settings alike, go as well or ill with the
    VᵀW of other seeds as with their own: the p-value of the mean ρ, exact whatever settings share."""
    seeds = common(settings)
    orders = np.array(list(permutations(range(len(seeds)))))  # the first is that of the seeds themselves
    gaps, couplings = ranked(settings, seeds, gap), ranked(settings, seeds, coupling)
    means = np.abs(np.einsum("sn,son->o", gaps, couplings[:, orders]) / len(settings))
    return float((means >= means[0] - 1e-9).mean())


def called(setting: str) -> str:
    """A setting for readers: its set by its title."""
    name, _, model = setting.partition(" ")
    return f"{(GRIDS | REAL).get(name, name)} {model}".rstrip()


def follows_row(settings: Runs) -> list[str]:
    """Over the seeds of a setting the gap is the larger, the larger VᵀW: the cells behind that."""
    whole, seeds = gap_follows(settings), common(settings)
    if whole.n < MIN_SEEDS:
        return [DASH, str(len(seeds)), DASH, "too few seeds"]
    alone, p = rank_correlations(settings, seeds), by_chance(settings)
    opposite = [called(name) for name, each in zip(settings, alone, strict=True) if each < 0]
    above, below = int((alone > 0).sum()), len(opposite)
    least = ", the least of all orders of the seeds" if p < 1.5 / factorial(len(seeds)) else ""
    verdict = (
        "**not shown**" if p > LEVEL or whole.mean == 0
        else "**fails**: the opposite holds" if whole.mean < 0
        else f"**holds** on average; opposite in {', '.join(opposite)}" if opposite
        else "**holds**"
    )  # fmt: skip
    said = f"{whole.describe(ends=(-1, 1))} Spearman's ρ, p = {p:.3f}{least}"
    return [said, str(whole.n), f"ρ above / below 0: {above} / {below}", verdict]


def gap_table() -> list[str]:
    """Does VᵀW explain the gap between positive and negative scores?"""
    places = [(GRIDS[name], cells(name)) for name in BINARY]
    places += [(f"λ = {scale:g}, made up", together(BINARY, f"{scale:g}")) for scale in SCALES]
    places += [(title, cells(name)) for name, title in REAL.items()]
    rows = [
        [FAVOURED.statement if number == 0 else "", title, *FAVOURED.row(runs)]
        for number, (title, runs) in enumerate(each for each in places if each[1])
    ]
    places = [(f"λ = {scale:g}, made up", together(BINARY, f"{scale:g}")) for scale in SCALES]
    places += [(title, cells(name)) for name, title in REAL.items()]
    said = "over the seeds of a setting the gap is the larger, the larger VᵀW"
    rows += [
        [said if number == 0 else "", title, *follows_row(settings)]
        for number, (title, settings) in enumerate(places)
    ]
    return table(HEADS, rows)


def penalty_table() -> list[str]:
    """Figs. 5 and 9: the gap without and with a penalty on the coupling of V and W, as means over the
    snapshots of the last half."""
    rows = []
    for name in ("data_1", "skewed"):
        for model in ("DP", "DP-A"):
            without, with_ = cells(name, model, "10"), cells("penalty", name, model)
            first, second = (next(iter(each.values()), {}) for each in (without, with_))
            seeds = sorted(first.keys() & second.keys())
            left_of = [second[s]["late"]["gap"] / first[s]["late"]["gap"] for s in seeds]
            logs = estimate([float(np.log10(each)) for each in left_of])
            left = [10**each for each in (logs.mean, logs.mean - logs.half, logs.mean + logs.half)]
            verdict = (
                "too few seeds" if logs.n < MIN_SEEDS
                else "**almost gone**" if left[2] < GONE
                else "**smaller**" if left[2] < 1
                else "**larger**" if left[1] > 1
                else "**not shown**"
            )  # fmt: skip
            rows.append(
                [
                    f"{GRIDS[name]}, {model}",
                    str(logs.n),
                    *(
                        estimate([each[s]["late"][name] for s in seeds]).describe(digits)
                        for name, digits in (("VᵀW", 2), ("largest VᵀW", 2), ("gap", 3))
                        for each in (first, second)
                    ),
                    f"{left[0]:.2f} [{left[1]:.2f}, {left[2]:.2f}]" if logs.n > 1 else "–",
                    verdict,
                    *(f"{[every_class_ahead(each[s]) for s in seeds].count(1)}" for each in (first, second)),
                ]
            )
    heads = (
        "", "seeds", "\\|VᵀW\\| without", "with", "its maximum without", "with", "\\|gap\\| without", "with",
        "what is left", "the gap is",
        "every class ahead of neutral without", "with",
    )  # fmt: skip
    return table(heads, rows)


def signed_table() -> list[str]:
    """Huang, Yang and Wang (2024), after eq. 7: positive and negative scores part, neutral ones stay."""
    runs = {name: cells("tanhmax", PUBLISHED, name) for name in ("tanhmax", "softmax")}
    first, second = (next(iter(each.values()), {}) for each in runs.values())
    seeds = sorted(first.keys() & second.keys())
    more = estimate([opened(first[seed]) - opened(second[seed]) for seed in seeds])
    verdict = {1: "**holds**", -1: "**fails**: less than under softmax", 0: "**not shown**"}[more.side(0)]
    rows = [
        [
            "positive and negative scores move apart",
            name,
            f"{estimate([opened(each[seed]) for seed in seeds]).describe()} gap opened",
            str(len(seeds)),
            "",
        ]
        for name, each in (("tanhmax", first), ("softmax", second))
    ]
    rows.append(["", "tanhmax more than softmax, paired", f"{more.describe()} gap", str(more.n), verdict])
    for claim, name in (
        *((AROUND_ZERO, name) for name in runs),
        *((claim, "tanhmax") for claim in STAYING),
    ):
        said, n = claim.effect(runs[name])
        title = claim.statement if name == "tanhmax" else ""
        rows.append([title, name, f"{said} {claim.unit}", str(n), claim.verdict(runs[name])])
    heads = ("claim", "attention", "effect", "seeds", "verdict")
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


SHORT = {
    TOO_SPARSE.words: "snapshots too far apart",
    TOO_MUCH_LEFT.words: "too much left",
    NONE_LEADS.words: "none leads",
}
"""Why no part is surely the largest, as there is room for."""


def rest_of(told: dict[str, float]) -> float:
    """What the terms do not explain of a change."""
    return told["change"] - sum(value for name, value in told.items() if name != "change")


def ledger_table() -> list[str]:
    """What moved the attention scores of Data I at λ = 1 and 10, term by term."""
    rows = []
    for model in MODELS:
        for scale in (1.0, 10.0):
            seeds = next(iter(cells("data_1", model, f"{scale:g}").values()), {})
            for group in ("positive", "negative"):
                runs = [run for run in seeds.values() if group in run["added"]]
                told = [run["added"][group] for run in runs]
                if told:
                    terms = [name for name in told[0] if name != "change"]
                    parts = [
                        {name: each[name] for name in terms} | {NOT_EXPLAINED: rest_of(each)} for each in told
                    ]
                    largest = Counter(SHORT.get(run["largest"][group], run["largest"][group]) for run in runs)
                    rows.append(
                        [
                            f"{model}, λ = {scale:g}",
                            group,
                            "; ".join(
                                f"{name} {estimate([each[name] for each in parts]).describe(3)}"
                                for name in terms
                            ),
                            estimate([each[NOT_EXPLAINED] for each in parts]).describe(3),
                            estimate([each["change"] for each in told]).describe(3),
                            ", ".join(f"{name} {count}" for name, count in largest.most_common()),
                        ]
                    )
    return table(
        (
            "",
            "tokens",
            "added by the terms",
            NOT_EXPLAINED,
            "change of the score",
            "surely the largest part, in seeds",
        ),
        rows,
    )


def write() -> None:
    """dynamics.md."""
    parts: list[tuple[str, list[str]]] = [
        ("### What every model should show", verdicts()),
        ("### Data by data", by_data()),
        ("### λ by λ, two classes", by_scale()),
        ("### Model by model, two classes", by_model()),
        ("### Where every class gets larger attention scores, in trainings", ahead_table()),
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
