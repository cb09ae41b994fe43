"""Example texts worth reading: right, wrong, most and least in agreement with weight removal, …"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.context import AuditContext
from glasshead.explainers import with_intervals
from glasshead.results import ABSOLUTE, Highlight
from glasshead.trace import AttentionSelector

# The explanation (of attention the contribution) orders the tokens as erasure with renormalised weights
# does. Zero-weight erasure would be no test, since it agrees with the contribution by construction.
ERASURE_AGREEMENT = "tau.{}.erasure-renormalise"
PER_REASON = 5
EXAMPLES_SHARED = 6
FEWEST_WORDS = 4  # tokens that a text must have to be worth a look
MAX_WEIGHTS = 20_000  # whose intervals are computed for the picked texts, at most: half a minute


def select_examples(
    correct: NDArray[np.bool_],
    tokens: NDArray[np.int64],
    agreement: NDArray[np.float64] | None,
    *,
    seed: int,
) -> list[tuple[str, int]]:
    """Reasons and rows, no row twice among the first four reasons; ``shared`` depends on the split alone."""
    readable = np.flatnonzero(tokens >= FEWEST_WORDS)
    shuffled = np.random.default_rng([seed, 4]).permutation(readable)
    taken: set[int] = set()
    picks: list[tuple[str, int]] = []

    def take(reason: str, rows: Iterable[int]) -> None:
        free = [int(row) for row in rows if int(row) not in taken][:PER_REASON]
        taken.update(free)
        picks.extend((reason, row) for row in free)

    if agreement is not None:
        defined = shuffled[~np.isnan(agreement[shuffled])]
        ordered = defined[np.argsort(agreement[defined], kind="stable")]
        take("most agreement with weight removal", ordered[::-1])
        take("least agreement with weight removal", ordered)
    take("correct", shuffled[correct[shuffled]])
    take("wrong", shuffled[~correct[shuffled]])
    return picks + [("shared", int(row)) for row in shuffled[:EXAMPLES_SHARED]]


def read_highlights(
    context: AuditContext,
    columns: Mapping[str, NDArray[np.float64]],
    *,
    seed: int,
    tolerance: float | None = None,
) -> list[Highlight]:
    """The picked texts as the audited explanation reads them, attention coloured by contribution; with a
    tolerance by the weights, with the interval of each."""
    explainer = context.explainer
    if explainer.reads_weights:
        statistic = "contribution"
    else:
        statistic = context.method if context.scores_signed else context.method + ABSOLUTE
    agreement = columns.get(ERASURE_AGREEMENT.format(statistic))
    correct, names = correct_predictions(context)
    picks = select_examples(correct, context.token_mask.sum(axis=1), agreement, seed=seed)
    if tolerance is not None:
        heads = context.explanation.site.num_heads if context.explanation.site is not None else 1
        cost = np.cumsum([heads * context.token_mask[row].sum() for _, row in picks])
        picks = [pick for pick, total in zip(picks, cost, strict=True) if total <= MAX_WEIGHTS]
    firsts, seconds = context.inputs or (context.texts, None)
    tokenizer, attention_selector = context.explanation.tokenizer, context.explanation.attention_selector
    if not explainer.reads_attention:
        attention_selector = AttentionSelector(level=attention_selector.level)
    texts = [firsts[row] for _, row in picks]
    pairs = None if seconds is None else [seconds[row] for _, row in picks]
    attributions = explainer(
        context.explanation.model, tokenizer, texts, pairs, attention_selector=attention_selector
    )
    if tolerance is not None:
        attributions = with_intervals(
            attributions,
            context.trained_model,
            tokenizer,
            texts,
            pairs,
            attention_selector=attention_selector,
            tolerance=tolerance,
        )
    return [
        Highlight(
            reason=names.get(reason, reason),
            label=f"{context.labels[row]:g}"
            if context.is_regression
            else context.label_names[context.labels[row]],
            attribution=attribution,
            faithfulness=None if agreement is None or np.isnan(agreement[row]) else float(agreement[row]),
        )
        for (reason, row), attribution in zip(picks, attributions, strict=True)
    ]


def correct_predictions(context: AuditContext) -> tuple[NDArray[np.bool_], dict[str, str]]:
    """Which predictions are right, and what that is called; of ratings, those closer than most."""
    if not context.is_regression:
        return context.predicted == context.labels, {}
    error = np.abs(context.predicted - context.labels)
    return error <= np.median(error), {"correct": "closer than most", "wrong": "further off than most"}
