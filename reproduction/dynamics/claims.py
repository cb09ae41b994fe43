"""The claims about every training, and how they are judged.

A number of a claim is taken run by run, of every class apart. Its effect is the mean over all settings
(models and λ) of a seed, with the 95 % t-interval over seeds: seeds are independent, the settings of a seed
are not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.stats import norm

from reproduction.dynamics.measure import COUPLINGS
from reproduction.markdown import t_half

DASH = "–"
Run = dict[str, Any]
Parts = Callable[[Run], dict[str, float]]
"""What is taken from a run: a number, or one of every class or pair of classes."""
Runs = dict[str, dict[int, Run]]
"""Setting → seed → run."""
Values = dict[str, dict[str, list[float]]]
"""Setting → part → a number per seed."""

STILL = 0.1
"""A group stays where it is if it moves less than this part of the gap that opens between the others."""
MIN_SEEDS = 3
"""No verdict of fewer seeds."""


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


def common(settings: Runs) -> list[int]:
    """The seeds that all settings have."""
    return sorted(set.intersection(*map(set, settings.values()))) if settings else []


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
