"""Every claim with its verdict, and by data, λ and model."""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from reproduction.dynamics.claims import (
    AROUND_ZERO,
    DASH,
    EVERYWHERE,
    FAVOURED,
    MIN_SEEDS,
    STAYING,
    Counted,
    Estimate,
    Run,
    Runs,
    common,
    coupling,
    estimate,
    gap,
    opened,
)
from reproduction.dynamics.measure import MODELS, PUBLISHED, SCALES, TRAININGS
from reproduction.markdown import markdown, t_half

GRIDS = {
    "data_1": "Data I",
    "data_2": "Data II (5 % noise)",
    "skewed": "3 positive texts to 1 negative",
    "three_classes": "three classes",
}
REAL = {"sst2": "SST-2", "sports": "20 Newsgroups sports", "imdb": "IMDB, 5,000 reviews"}
BINARY = ("data_1", "data_2", "skewed")
LEVEL = 0.05
"""A p-value above it shows nothing."""


def cells(name: str, *chosen: str) -> Runs:
    """Setting → seed → run of what is trained; ``chosen`` are words that its name must have."""
    known = TRAININGS.known(name)
    return {
        f"{name} {cell.name}": known[cell.name]
        for cell in TRAININGS.tables[name]
        if cell.name in known and all(word in cell.name.split() for word in chosen)
    }


def together(names: Sequence[str], *chosen: str) -> Runs:
    """The settings of several tables."""
    return {title: seeds for name in names for title, seeds in cells(name, *chosen).items()}


HEADS = ("claim", "data", "effect", "seeds", "settings: holds / opposite / undecided", "verdict")


def verdicts() -> str:
    """Every claim that is about every model, with what became of it."""
    places = [("made up, two classes", together(BINARY)), ("made up, three classes", cells("three_classes"))]
    places += [(title, cells(name)) for name, title in REAL.items()]
    rows = [
        [claim.statement if number == 0 else "", title, *claim.row(runs)]
        for claim in EVERYWHERE
        for number, (title, runs) in enumerate(each for each in places if each[1])
    ]
    return markdown(HEADS, rows, rule="---")


def split(names: Sequence[str], columns: dict[str, tuple[Sequence[str], tuple[str, ...]]]) -> str:
    """The effects again, column by column: tables of data, and words of the names of their cells."""
    rows = [
        [claim.statement, *(claim.cell(together(tables, *chosen)) for tables, chosen in columns.values())]
        for claim in EVERYWHERE
    ]
    return markdown(("claim", *names), rows, rule="---")


def by_data() -> str:
    """Each set of made-up data."""
    return split(list(GRIDS.values()), {name: ((name,), ()) for name in GRIDS})


def by_scale() -> str:
    """Each λ, on the made-up data of two classes."""
    return split(
        [f"λ = {scale:g}" for scale in SCALES], {f"{scale:g}": (BINARY, (f"{scale:g}",)) for scale in SCALES}
    )


def by_model() -> str:
    """Each model, on the made-up data of two classes."""
    return split(list(MODELS), {model: (BINARY, (model,)) for model in MODELS})


def ahead_table() -> str:
    """In which trainings tokens of every class get larger attention scores than neutral ones."""
    titles = {"made up, two classes": BINARY, GRIDS["three_classes"]: ("three_classes",)}
    titles |= {title: (name,) for name, title in REAL.items()}
    (claim,) = [each for each in EVERYWHERE if isinstance(each, Counted)]
    rows = [
        [title, model, *(claim.cell(together(names, model, f"{scale:g}")) for scale in SCALES)]
        for title, names in titles.items()
        for model in MODELS
    ]
    return markdown(("data", "model", *(f"λ = {scale:g}" for scale in SCALES)), rows, rule="---")


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


def gap_table() -> str:
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
    return markdown(HEADS, rows, rule="---")


def signed_table() -> str:
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
    return "\n\n".join(
        [
            f"Settings of the preset `{PUBLISHED}` on Data I.",
            markdown(heads, rows, rule="---"),
            "At the settings of the other tables TanhMax does not learn, and says nothing of the claim: "
            f"accuracy on train of {said} after the last step. Near zero its weights are as small as the "
            "scores, a saddle that gradient descent leaves slowly.",
        ]
    )


def page() -> Iterator[str]:
    """A part of training-claims.md."""
    yield from ("### What every model should show", verdicts())
    yield from ("### Data by data", by_data())
    yield from ("### λ by λ, two classes", by_scale())
    yield from ("### Model by model, two classes", by_model())
    yield from ("### Where every class gets larger attention scores, in trainings", ahead_table())
    yield from ("### VᵀW and the gap", gap_table())
    yield from ("### TanhMax", signed_table())
