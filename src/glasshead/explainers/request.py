"""Explain texts before a run: those of which its model knows something."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from glasshead.data import Coverage, coverage, encode, join_pair
from glasshead.errors import InputError
from glasshead.explainers.aggregate_words import by_word
from glasshead.explainers.explainer import DEFAULT_SELECTOR, EXPLAINERS
from glasshead.explainers.intervals import check_tolerance, check_weights, with_intervals
from glasshead.results import Attribution
from glasshead.trace import AttentionSelector
from glasshead.training import Run


@dataclass(frozen=True)
class ExplainRequest:
    """How texts are explained: by which method, for which class (None: class 1 of two, else the predicted
    one), and whether weights come with the values that give the same output.

    Raises:
        InputError: on an unknown method, and on intervals of numbers that are no weights.
    """

    method: str = "attention"
    target: int | str | None = None
    target_fn: str | None = None
    attention_selector: AttentionSelector = DEFAULT_SELECTOR
    intervals: bool = False
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        explainer = EXPLAINERS[self.method]
        if self.intervals:
            check_weights(explainer)
            check_tolerance(self.tolerance)


@dataclass(frozen=True)
class Explanations:
    """Attributions of the texts that could be read, why the others could not, by number, and how much of
    the texts the model read."""

    attributions: list[Attribution]
    skipped: dict[int, str]
    coverage: Coverage


def explain_run(
    run: Run, texts: Sequence[str], pairs: Sequence[str] | None, request: ExplainRequest
) -> Explanations:
    """Explain texts, or pairs of texts, word by word.

    Raises:
        InputError: if the model knows nothing of any text, and as an explainer does.
    """
    skipped = unreadable_texts(run.tokenizer, texts, pairs)
    if len(skipped) == len(texts):
        raise InputError(f"{skipped[0]}: there is nothing to explain")
    texts = [text for number, text in enumerate(texts) if number not in skipped]
    if pairs is not None:
        pairs = [text for number, text in enumerate(pairs) if number not in skipped]
    inputs = run.model, run.tokenizer, texts, pairs
    explainer = EXPLAINERS[request.method]
    attributions = [
        by_word(attribution)
        for attribution in explainer(
            *inputs,
            target=request.target,
            target_fn=request.target_fn,
            attention_selector=request.attention_selector,
        )
    ]
    if request.intervals:
        attributions = with_intervals(
            attributions, *inputs, attention_selector=request.attention_selector, tolerance=request.tolerance
        )
    read = coverage(run.tokenizer, texts, pairs, encode(run.tokenizer, texts, pairs))
    return Explanations(attributions, skipped, read)


def unreadable_texts(
    tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], pairs: Sequence[str] | None
) -> dict[int, str]:
    """The numbers of texts of which the model knows nothing, whatever is going to be explained, and why."""
    encoded = encode(tokenizer, texts, pairs)
    reasons = {}
    for row, (ids, words) in enumerate(zip(encoded.ids.numpy(), encoded.words, strict=True)):
        if not (words >= 0).any():
            reasons[row] = "the text is empty"
        elif (ids[words >= 0] == tokenizer.unk_token_id).all():
            text = join_pair(texts[row], None if pairs is None else pairs[row])
            reasons[row] = f"the model knows no word of {text!r}"
    return reasons
