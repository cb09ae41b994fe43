"""Every claim with its verdict, and by data, λ and model."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from glasshead.papers.results import NOT_EXPLAINED
from glasshead.results import NONE_LEADS, TOO_MUCH_LEFT, TOO_SPARSE
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
    every_class_ahead,
    gap,
    opened,
)
from reproduction.dynamics.measure import MODELS, PENALTY, PUBLISHED, RANGES, RATIOS, SCALES, TRAININGS
from reproduction.markdown import markdown, t_half

GRIDS = {
    "data_1": "Data I",
    "data_2": "Data II (5 % noise)",
    "skewed": "3 positive texts to 1 negative",
    "three_classes": "three classes",
}
REAL = {"sst2": "SST-2", "sports": "20 Newsgroups sports", "imdb": "IMDB, 5,000 reviews"}
BINARY = ("data_1", "data_2", "skewed")
GONE = 0.1
"""A gap is almost gone if less than this part of it is left."""
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


def range_table() -> str:
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
    return markdown(
        ("embeddings start in", "signs of Ω settle at step", "seeds", "never settled"), rows, rule="---"
    )


def ratio_table() -> str:
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
    return markdown(heads, rows, rule="---")


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


def penalty_table() -> str:
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
    return markdown(heads, rows, rule="---")


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


SHORT = {
    TOO_SPARSE.words: "snapshots too far apart",
    TOO_MUCH_LEFT.words: "too much left",
    NONE_LEADS.words: "none leads",
}
"""Why no part is surely the largest, as there is room for."""


def rest_of(told: dict[str, float]) -> float:
    """What the terms do not explain of a change."""
    return told["change"] - sum(value for name, value in told.items() if name != "change")


def ledger_table() -> str:
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
    return markdown(
        (
            "",
            "tokens",
            "added by the terms",
            NOT_EXPLAINED,
            "change of the score",
            "surely the largest part, in seeds",
        ),
        rows,
        rule="---",
    )


def page() -> Iterator[str]:
    """A part of training-claims.md."""
    yield from ("### What every model should show", verdicts())
    yield from ("### Data by data", by_data())
    yield from ("### λ by λ, two classes", by_scale())
    yield from ("### Model by model, two classes", by_model())
    yield from ("### Where every class gets larger attention scores, in trainings", ahead_table())
    yield from ("### Where embeddings start", range_table())
    yield from ("### VᵀW and the gap", gap_table())
    yield from ("### VᵀW and the ratio of classes", ratio_table())
    yield from (f"### A penalty of {PENALTY:g} on (VᵀW)²", penalty_table())
    yield from ("### TanhMax", signed_table())
    yield from ("### What moved the scores of Data I", ledger_table())
