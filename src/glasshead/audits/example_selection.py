"""Example texts worth reading: right, wrong, most and least in agreement with weight removal, …"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.judging.settings import Settings
from glasshead.audits.judging.table import Table
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.view import ModelView
from glasshead.data import Encoded
from glasshead.explainers import by_word, with_intervals
from glasshead.huggingface import answers_of, question_in_words
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
    sample: Sample,
    view: ModelView,
    inputs: Table,
    columns: Mapping[str, Any],
    *,
    tolerance: float | None = None,
) -> list[Highlight]:
    """The picked texts as the audited explanation reads them, attention coloured by contribution; with a
    tolerance by the weights, with the interval of each."""
    explainer, settings = view.explainer, view.settings
    if explainer.reads_weights:
        statistic = "contribution"
    else:
        statistic = view.method if view.scores_signed else view.method + ABSOLUTE
    agreement = columns.get(ERASURE_AGREEMENT.format(statistic))
    correct, names = correct_predictions(inputs, settings)
    picks = select_examples(correct, inputs["tokens"], agreement, seed=sample.seed)
    if tolerance is not None:
        heads = view.explanation.site.num_heads if view.explanation.site is not None else 1
        cost = np.cumsum([heads * inputs["tokens"][row] for _, row in picks])
        picks = [pick for pick, total in zip(picks, cost, strict=True) if total <= MAX_WEIGHTS]
    firsts, seconds = sample.inputs
    tokenizer, attention_selector = view.explanation.tokenizer, view.explanation.attention_selector
    if not explainer.reads_attention:
        attention_selector = AttentionSelector(level=attention_selector.level)
    texts = [firsts[row] for _, row in picks]
    pairs = None if seconds is None else [seconds[row] for _, row in picks]
    encoded = sample.encoded.some(np.array([row for _, row in picks], dtype=int))
    attributions = explainer(
        view.explanation.model,
        tokenizer,
        texts,
        pairs,
        attention_selector=attention_selector,
        encoded=encoded,
        known=sample.known,
    )
    if view.explanation.encoded.unit == "word":
        attributions = [by_word(attribution) for attribution in attributions]
    if tolerance is not None:
        attributions = with_intervals(
            attributions,
            view.trained_model,
            tokenizer,
            texts,
            pairs,
            attention_selector=attention_selector,
            tolerance=tolerance,
            encoded=encoded,
        )
    labels = inputs["label"]
    return [
        Highlight(
            reason=names.get(reason, reason),
            label=label_in_words(view, encoded, place, labels[row]),
            attribution=attribution,
            faithfulness=None if agreement is None or np.isnan(agreement[row]) else float(agreement[row]),
        )
        for place, ((reason, row), attribution) in enumerate(zip(picks, attributions, strict=True))
    ]


def label_in_words(view: ModelView, encoded: Encoded, row: int, label: Any) -> str:
    """What is true of an input; of a given answer it itself."""
    model = view.explanation.model
    if view.rates_answers:
        return question_in_words(model, encoded, row, "") or ""
    return f"{label:g}" if view.is_regression else answers_of(model, encoded, row)[label]


def correct_predictions(inputs: Table, settings: Settings) -> tuple[NDArray[np.bool_], dict[str, str]]:
    """Which predictions are right, and what that is called; of ratings, those closer than most."""
    if not settings.is_regression:
        return inputs["predicted"] == inputs["label"], {}
    if settings.rates_answers:
        likely = inputs["predicted"] >= np.median(inputs["predicted"])
        return likely, {"correct": "likelier than most", "wrong": "less likely than most"}
    error = np.abs(inputs["predicted"] - inputs["label"])
    return error <= np.median(error), {"correct": "closer than most", "wrong": "further off than most"}
