"""Five mechanisms beside each other and beside the paper, and the sign of w_h that readers imply."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from reproduction.markdown import markdown, t_half
from reproduction.news.measure import (
    COMPARED,
    FIGURE,
    FIGURE_HEADS,
    LEVELS,
    MECHANISMS,
    OURS,
    SEEDS,
    SIGNS,
    Values,
    jobs,
    key,
    measured,
)

METRICS = ("auc", "mrr", "ndcg@5", "ndcg@10")
NAMES = ("AUC", "MRR", "nDCG@5", "nDCG@10")


def page() -> Iterator[str]:
    """A part of news-recommender.md, once every run is there."""
    values, wanted = measured(), len(jobs())
    if len(values) < wanted:
        yield f"Not measured yet ({len(values)} of {wanted} runs): run the command above."
        return
    for part in (mechanism_table, difference_table, lead_table, sign_table, level_table):
        yield part(values)


def found(values: Values, interest: str, mechanism: str, seeds: range, *path: str) -> np.ndarray:
    """One number of the runs, in the order of the seeds."""
    numbers = []
    for seed in seeds:
        value: Any = values[key((interest, mechanism, seed))]
        for name in path:
            value = value[name]
        numbers.append(value)
    return np.array(numbers, dtype=float)


def spread(numbers: np.ndarray) -> str:
    """Mean ± standard deviation over seeds, in percent."""
    return f"{100 * numbers.mean():.1f} ± {100 * numbers.std(ddof=1):.1f}"


def interval(numbers: np.ndarray, digits: int) -> str:
    """Mean, and the 95 % interval of Student's t over seeds."""
    mean, half = numbers.mean(), t_half(numbers)
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table below its title."""
    return f"### {title}\n\n{markdown(heads, rows)}"


def mechanism_table(values: Values) -> str:
    """Ours in percent, the paper's Table 5 on MIND beside it."""
    rows = []
    for title, (mechanism, paper) in MECHANISMS.items():
        ours = [
            spread(found(values, COMPARED, mechanism, SEEDS, "metrics", "model", each, "mean"))
            for each in METRICS
        ]
        rows.append([title, *ours, " / ".join(f"{number:.2f}" for number in paper)])
    heads = ["model", *NAMES, "paper, Table 5, on MIND"]
    return table(f"Five mechanisms on logs with {COMPARED}-term interests, {len(SEEDS)} seeds", heads, rows)


def difference_table(values: Values) -> str:
    """Distance-aware minus each other mechanism, on the same logs and seeds."""
    rows = []
    ours, paper = MECHANISMS[OURS]
    for title, (mechanism, theirs) in MECHANISMS.items():
        if title == OURS:
            continue
        cells = []
        for metric in ("auc", "ndcg@10"):
            first, second = (
                100 * found(values, COMPARED, each, SEEDS, "metrics", "model", metric, "mean")
                for each in (ours, mechanism)
            )
            cells += [interval(first - second, 1), f"{stats.ttest_rel(first, second).pvalue:.2g}"]
        rows.append([title, *cells, f"{paper[0] - theirs[0]:+.2f}"])
    heads = [f"{OURS} minus", "AUC", "p", "nDCG@10", "p", "AUC, paper, on MIND"]
    return table("The same, paired by seed", heads, rows)


def lead_table(values: Values) -> str:
    """How much the distance-aware model ranks better than popularity and than chance."""
    rows = [
        [
            interest,
            baseline,
            *(
                interval(
                    100
                    * found(values, interest, "distance-aware", SEEDS, "differences", baseline, each, "mean"),
                    1,
                )
                for each in METRICS
            ),
        ]
        for interest in SIGNS
        for baseline in ("popularity", "random")
    ]
    return table(f"Lead of the {OURS}, {len(SEEDS)} seeds", ["interest", "over", *NAMES], rows)


def sign_table(values: Values) -> str:
    """The news-level w of every seed; it starts at 0."""
    rows = []
    for interest, implied in SIGNS.items():
        w = found(values, interest, "distance-aware", SEEDS, "news", "w").ravel()
        rows.append([interest, implied, interval(w, 2), ", ".join(f"{each:+.2f}" for each in w)])
    return table(
        f"The news-level w after training, {len(SEEDS)} seeds",
        ["interest", "implied sign", "mean w", "w of each seed"],
        rows,
    )


def level_table(values: Values) -> str:
    """Fig. 7: w and v of both levels, sorted as in the paper; means over seeds of the least, …, greatest."""
    rows = []
    for letter in ("w", "v"):
        for level in LEVELS:
            heads = np.sort(found(values, FIGURE, "distance-aware", SEEDS, level, letter), axis=1)
            share = 100 * (heads > 0).mean(axis=1)
            low, high = np.clip(share.mean() + t_half(share) * np.array([-1, 1]), 0, 100)
            cells = [interval(head, 2) for head in heads.T]
            rows.append([f"{level}-level {letter}", *cells, f"{share.mean():.0f} [{low:.0f}, {high:.0f}]"])
    places = ["least", *["next"] * (FIGURE_HEADS - 2), "greatest"]
    return table(
        f"Figure 7: w and v of {FIGURE_HEADS} heads at both levels, {FIGURE} logs, {len(SEEDS)} seeds",
        ["", *places, "above 0, % of the heads"],
        rows,
    )
