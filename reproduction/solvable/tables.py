"""What each audit says of a map that says nothing, and of one that does."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest

from glasshead.papers.report import Estimate, EstimateRow, interval_figure
from reproduction.markdown import markdown, plus_minus, t_half
from reproduction.solvable.measure import FINDINGS, SEEDS, TRAININGS
from reproduction.study import picture, read_numbers

USED = 0.98
"""Weights of a greater entropy are nearly uniform (`glasshead.results`)."""
SMALL = 0.05
"""A change of ŷ below is small (`glasshead.results.SMALL_CHANGE`)."""
OVER_RANDOM = ("agreement with gradients", "agreement with erasure", "comprehensiveness", "planted places")
CHANGES = ("shuffled weights", "uniform weights", "random weights", "without the heads")
RARE = ("another map", "another map of the head")
Run = dict[str, Any]
QUESTIONS = ("entropy", *FINDINGS)
DOES, DOES_NOT, OPEN, NOT_ASKED = "notices", "does not notice", "undecided", "not asked"


def finding_of(run: Run, question: str) -> dict[str, Any] | None:
    """The finding of one run, its entropy among them; None where the question has no meaning."""
    if question == "entropy":
        return {"estimate": run["entropy"], "interval": run["entropy interval"], "over random": None}
    return run["findings"].get(question)


def says_something(run: Run, question: str) -> bool:
    """Whether an audit, by its own threshold and interval, takes the map of a run for one that says
    something; not where it has nothing to ask about."""
    finding = finding_of(run, question)
    if finding is None or finding["estimate"] is None:
        return False
    over, ends = finding["over random"], finding["interval"]
    if question in OVER_RANDOM:
        return over is not None and over[0] > 0
    if question == "sufficiency":  # what the first tokens alone lose
        return over is not None and over[1] < 0
    if question == "operators":
        return finding["estimate"] > 0.5
    if ends is None:
        return False
    if question == "entropy":
        return ends[1] < USED
    if question in CHANGES:
        return ends[0] >= SMALL
    return ends[1] < 0.5 if question in RARE else ends[0] > 0.5


def verdict(noticed: int, n: int) -> str:
    """Of how many seeds an audit noticed, by the exact 95 % interval of that share."""
    ends = binomtest(noticed, n).proportion_ci()
    return DOES if ends.low > 0.5 else DOES_NOT if ends.high < 0.5 else OPEN


def noticed(empty: Sequence[Run], full: Sequence[Run], question: str) -> int:
    """In how many seeds an audit takes the map that says something for one that does, and the other not."""
    return sum(
        says_something(second, question) and not says_something(first, question)
        for first, second in zip(empty, full, strict=True)
    )


def mean_and_interval(values: Sequence[float | None]) -> str:
    """Mean ± half of the 95 % t-interval over seeds; a dash where the question has no meaning."""
    known = [value for value in values if value is not None]
    return plus_minus(known) if known else "–"


def estimates(runs: Sequence[Run], question: str) -> list[float | None]:
    """The estimate of every seed."""
    return [None if (finding := finding_of(run, question)) is None else finding["estimate"] for run in runs]


def row(question: str, kinds: dict[str, list[Run]], empty: str, full: str) -> list[str]:
    """What an audit says of each kind, and what that makes of it."""
    count = noticed(kinds[empty], kinds[full], question)
    pairs = [
        (b, a)
        for a, b in zip(estimates(kinds[empty], question), estimates(kinds[full], question), strict=True)
        if a is not None and b is not None
    ]
    said = [f"{sum(says_something(run, question) for run in runs)} of {len(runs)}" for runs in kinds.values()]
    values = [mean_and_interval(estimates(runs, question)) for runs in kinds.values()]
    difference = mean_and_interval([b - a for b, a in pairs])
    cells = [f"{value} ({times})" for value, times in zip(values, said, strict=True)]
    asked = any(finding_of(run, question) is not None for run in kinds[empty])
    words = f"**{verdict(count, len(kinds[empty]))}** ({count})" if asked else NOT_ASKED
    return [question, *cells, difference, words]


def table(name: str, empty: str, full: str) -> str:
    """All audits of one table."""
    kinds = runs_of(name)
    heads = ["", *kinds, f"{full} − {empty}", "verdict"]
    return markdown(heads, [row(question, kinds, empty, full) for question in QUESTIONS])


def runs_of(name: str) -> dict[str, list[Run]]:
    """Kind → its runs in the order of seeds."""
    return {kind: [seeds[seed] for seed in sorted(seeds)] for kind, seeds in TRAININGS.known(name).items()}


def accuracies(name: str) -> str:
    """Accuracy and entropy of each kind."""
    rows = [
        [
            kind,
            str(len(runs)),
            mean_and_interval([run["accuracy"] for run in runs]),
            f"{min(run['accuracy'] for run in runs):.3f}",
            mean_and_interval([run["entropy"] for run in runs]),
        ]
        for kind, runs in runs_of(name).items()
    ]
    return markdown(["", "seeds", "accuracy", "least", "entropy"], rows)


def landscape() -> str:
    """The loss of training around models, and barriers."""
    values = list(read_numbers("solvable", "minima").values())
    rows = [
        [
            f"{kind}, {stage}",
            mean_and_interval([value[kind][stage]["accuracy"] for value in values]),
            problem,
            *(
                two_digits([value[kind][stage][problem][name] for value in values])
                for name in ("loss", "gradient", "smallest", "largest")
            ),
        ]
        for kind in ("positional", "semantic")
        for stage in ("trained", "polished")
        for problem in ("constrained", "freed")
    ]
    heads = [
        "", "accuracy", "scores", "loss of training", "gradient", "smallest eigenvalue", "largest",
    ]  # fmt: skip
    barriers = [mean_and_interval([value[name] for value in values]) for name in ("as it is", "matched")]
    return "\n".join(
        [
            markdown(heads, rows),
            "",
            f"Barrier of the loss of training between the two of a seed, as trained: {barriers[0]}; with "
            f"hidden units matched {barriers[1]} (n = {len(values)}).",
        ]
    )


def unseen(name: str) -> str:
    """Accuracy on the texts of test that do not stand in train, and where maps of "histogram" are large."""
    rows, heads = [], ["", "unseen texts", "of", "distinct", "accuracy on unseen"]
    for kind, runs in texts_of(name).items():
        counts = [str(runs[0][count]) for count in ("unseen", "texts", "distinct")]
        rows.append([kind, *counts, mean_and_interval([run["accuracy on unseen"] for run in runs])])
    if name == "histogram":
        columns = ["largest where it asks", "other copies", "at random"]
        heads += columns
        for cells, runs in zip(rows, texts_of(name).values(), strict=True):
            cells += [mean_and_interval([run[column] for run in runs]) for column in columns]
    return markdown(heads, rows)


def texts_of(name: str) -> dict[str, list[Run]]:
    """Kind → what the table of texts has of its runs."""
    kinds: dict[str, list[Run]] = {}
    for key, entry in read_numbers("solvable", "texts").items():
        table, kind, _ = key.split(" | ")
        if table == name:
            kinds.setdefault(kind, []).append(entry)
    return kinds


def two_digits(values: Sequence[float]) -> str:
    """Mean ± half of the 95 % t-interval over seeds, of numbers of very different size."""
    return f"{np.mean(values):.2g} ± {t_half(values):.2g}"


def draw() -> None:
    """How often each audit takes a map for one that says something."""
    parts = {}
    for name, title in (("histogram", "Histogram"), ("dyck", "Bounded Dyck")):
        kinds = runs_of(name)
        if kinds:
            parts[title] = [EstimateRow(question, "", shares(kinds, question)) for question in QUESTIONS]
    figure = interval_figure(
        "Which audit takes the map for one that says something?",
        parts,
        "share of the seeds",
        f"Exact 95 % intervals over {SEEDS} seeds of each kind.",
    )
    figure.save(picture("solvable-audits.png"), overwrite=True)


def shares(kinds: dict[str, list[Run]], question: str) -> list[Estimate]:
    """The share of the seeds of each kind, with its exact interval."""
    found = []
    for kind, runs in kinds.items():
        count = sum(says_something(run, question) for run in runs)
        ends = binomtest(count, len(runs)).proportion_ci()
        found.append(Estimate(kind, count / len(runs), (float(ends.low), float(ends.high))))
    return found


def page() -> Iterator[str]:
    """A part of when-attention-says-nothing.md."""
    yield from ("### Histogram: the models", accuracies("histogram"), unseen("histogram"))
    yield from ("### Histogram: the loss around and between the two solutions", landscape())
    yield from ("### Histogram: what each audit says", table("histogram", "positional", "semantic"))
    yield from ("### Bounded Dyck: the models", accuracies("dyck"), unseen("dyck"))
    yield from ("### Bounded Dyck: what each audit says", table("dyck", "uniform", "softmax"))
