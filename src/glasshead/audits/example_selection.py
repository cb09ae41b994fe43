"""Example texts worth reading: right, wrong, most and least faithful, and some that every audit shows."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.context import AuditContext
from glasshead.explainers import EXPLAINERS, with_intervals
from glasshead.results import Highlight

# Faithful: the contribution orders the tokens as erasure with renormalised weights does. Zero-weight
# erasure would be no test, since it agrees with the contribution by construction.
FAITHFULNESS = "tau.contribution.erasure-renormalise"
PER_REASON = 5
SHARED = 6
READABLE = 4  # tokens that a text must have to be worth a look
WEIGHTS = 20_000  # whose intervals are computed for the picked texts, at most: half a minute


def pick(
    correct: NDArray[np.bool_],
    tokens: NDArray[np.int64],
    faithfulness: NDArray[np.float64] | None,
    *,
    seed: int,
) -> list[tuple[str, int]]:
    """Reasons and rows, no row twice among the first four reasons; ``shared`` depends on the split alone."""
    readable = np.flatnonzero(tokens >= READABLE)
    shuffled = np.random.default_rng([seed, 4]).permutation(readable)
    taken: set[int] = set()
    picks: list[tuple[str, int]] = []

    def take(reason: str, rows: Iterable[int]) -> None:
        free = [int(row) for row in rows if int(row) not in taken][:PER_REASON]
        taken.update(free)
        picks.extend((reason, row) for row in free)

    if faithfulness is not None:
        defined = shuffled[~np.isnan(faithfulness[shuffled])]
        ordered = defined[np.argsort(faithfulness[defined], kind="stable")]
        take("most faithful", ordered[::-1])
        take("least faithful", ordered)
    take("correct", shuffled[correct[shuffled]])
    take("wrong", shuffled[~correct[shuffled]])
    return picks + [("shared", int(row)) for row in shuffled[:SHARED]]


def highlights(
    subject: AuditContext,
    columns: Mapping[str, NDArray[np.float64]],
    *,
    seed: int,
    tolerance: float | None = None,
) -> list[Highlight]:
    """The picked texts with their attention, coloured by contribution; with a tolerance by the weights, with
    the interval of each."""
    faithfulness = columns.get(FAITHFULNESS)
    right, words = hits(subject)
    picks = pick(right, subject.real.sum(axis=1), faithfulness, seed=seed)
    if tolerance is not None:
        heads = subject.view.place.heads if subject.view.place is not None else 1
        cost = np.cumsum([heads * subject.real[row].sum() for _, row in picks])
        picks = [pick for pick, spent in zip(picks, cost, strict=True) if spent <= WEIGHTS]
    firsts, seconds = subject.pairs or (subject.texts, None)
    tokenizer, reading = subject.view.tokenizer, subject.view.reading
    texts = [firsts[row] for _, row in picks]
    pairs = None if seconds is None else [seconds[row] for _, row in picks]
    attributions = EXPLAINERS["attention"](subject.view.model, tokenizer, texts, pairs, reading=reading)
    if tolerance is not None:
        attributions = with_intervals(
            attributions, subject.trained, tokenizer, texts, pairs, reading=reading, tolerance=tolerance
        )
    return [
        Highlight(
            reason=words.get(reason, reason),
            label=f"{subject.labels[row]:g}" if subject.rates else subject.label_names[subject.labels[row]],
            attribution=attribution,
            faithfulness=None
            if faithfulness is None or np.isnan(faithfulness[row])
            else float(faithfulness[row]),
        )
        for (reason, row), attribution in zip(picks, attributions, strict=True)
    ]


def hits(subject: AuditContext) -> tuple[NDArray[np.bool_], dict[str, str]]:
    """Which predictions are right, and what that is called; of ratings, those closer than most."""
    if not subject.rates:
        return subject.predicted == subject.labels, {}
    error = np.abs(subject.predicted - subject.labels)
    return error <= np.median(error), {"correct": "closer than most", "wrong": "further off than most"}
