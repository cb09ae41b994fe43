"""Explain texts before any model: `glasshead.explain`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.data import (
    Encoded,
    UnitReader,
    as_sources,
    as_texts,
    check_utf8,
    coverage,
    encode,
    join_pair,
    reader_of,
)
from glasshead.errors import InputError, ParameterError, pluralise
from glasshead.explainers.aggregate_words import by_word
from glasshead.explainers.explainer import check_heads, find_explainer
from glasshead.explainers.explanation_context import DEFAULT_SELECTOR
from glasshead.explainers.intervals import check_tolerance, require_weights, with_intervals
from glasshead.huggingface import NextTokenClassifier, lend_copy, token_id
from glasshead.opening import OpenOptions, open_subject
from glasshead.options import check_kinds, check_options, is_whole, is_word
from glasshead.results import ONE_SIGN, UNDECIDED, Attribution, Attributions
from glasshead.torch_modes import in_own_modes
from glasshead.trace import HEAD_COMBINATIONS, AttentionSelector, Subject

WORD, TOKEN = UNITS = ("word", "token")
"""What has a number."""


@dataclass(frozen=True)
class ExplainRequest:
    """How texts are explained: by which method, for which class (None: class 1 of two, else the predicted
    one), and whether weights come with the values that give the same output. Of a language model ``target``
    is the next token, and ``against`` another one with which it is contrasted. The ``unit`` that has a number
    is a word, or a token of the model.

    Raises:
        InputError: on an unknown method, on one whose package is missing, on intervals of numbers that are no
            weights, on a contrast with nothing, and on an unknown unit.
    """

    method: str = "attention"
    target: int | str | None = None
    target_fn: str | None = None
    attention_selector: AttentionSelector = DEFAULT_SELECTOR
    intervals: bool = False
    tolerance: float = 0.0
    against: str | None = None
    unit: str = WORD

    def __post_init__(self) -> None:
        explainer = find_explainer(self.method)
        check_heads(explainer, self.attention_selector)
        if self.unit not in UNITS:
            raise ParameterError("unit", f"is {' or '.join(map(repr, UNITS))}, not {self.unit!r}")
        if self.against is not None and self.target is None:
            raise InputError("a contrast is between two tokens: name the other one too, as `target`")
        if self.intervals:
            require_weights(explainer)
            check_tolerance(self.tolerance)


class ExplainOptions(TypedDict, total=False):
    """What can be said beside the method: what is explained (``target_fn``: probability, log-probability,
    logit, log-odds, margin, entropy, rating), the token ``against`` which the next one is held, which
    attention is read (``layer``, ``head``, ``row``, ``level``), whether words or tokens have a number
    (``unit``), the ``intervals`` of weights at a ``tolerance``, names for the classes (``labels``),
    ``trust_remote_code``, and on which ``device`` and in which precision (``dtype``) the model is read."""

    target_fn: str | None
    against: str | None
    layer: int | str | None
    head: int | str | None
    row: str | None
    level: str
    unit: str
    intervals: bool
    tolerance: float
    labels: Mapping[str, str]
    trust_remote_code: bool
    device: str | torch.device | None
    dtype: str | torch.dtype | None


@in_own_modes
def explain(
    model: object,
    texts: Any,
    *,
    tokenizer: Any = None,
    pairs: str | Iterable[str] | None = None,
    method: str = "attention",
    target: int | str | None = None,
    **options: Unpack[ExplainOptions],
) -> Attributions:
    """Explain the prediction of a model for each text, word by word (or token by token: ``unit``).

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``texts`` are strings or, of a model that classifies images, files, folders of them, or images of Pillow;
    its ``tokenizer`` is its image processor. ``pairs`` are the second texts of a model that compares two.
    ``target`` is the class that is explained, by name or number; left out, class 1 of two classes, else the
    predicted one. ``options`` are `ExplainOptions`.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`), on an unknown method, class or option,
            and if the model knows nothing of any text.
    """
    check_options(
        options, ("tokenizer", "method", "target", "pairs", *ExplainOptions.__annotations__), "explain"
    )
    check_kinds({"method": method, "target": target}, required=["method"])
    selector = AttentionSelector(
        options.get("layer"),
        check_head(options.get("head")),
        options.get("row"),
        options.get("level", "word"),
    )
    request = ExplainRequest(
        method,
        target,
        options.get("target_fn"),
        selector,
        options.get("intervals", False),
        options.get("tolerance", 0.0),
        options.get("against"),
        options.get("unit", WORD),
    )
    opening = OpenOptions(
        options.get("labels", {}),
        trust_remote_code=options.get("trust_remote_code", False),
        device=options.get("device"),
        dtype=options.get("dtype"),
    )
    subject = open_subject(model, tokenizer, opening, shared=True)
    firsts = reader_of(subject.tokenizer).inputs(as_sources(texts))
    seconds = None if pairs is None else as_texts(pairs)
    return explain_texts(subject, firsts, seconds, request)


def check_head(head: int | str | None) -> int | str | None:
    """The number of a head, or how all are combined.

    Raises:
        InputError: if it is neither.
    """
    if head is None or is_whole(head) or (is_word(head) and head in HEAD_COMBINATIONS):
        return head
    raise InputError(f"`head` is a number, {', '.join(HEAD_COMBINATIONS)}, not {head!r}")


def explain_texts(
    subject: Subject, texts: Sequence[Any], pairs: Sequence[str] | None, request: ExplainRequest
) -> Attributions:
    """Explain texts, pairs of texts, or images, word by word, token by token or patch by patch.

    Raises:
        InputError: if the model knows nothing of any text, and as an explainer does.
    """
    check_utf8(*map(str, texts), *(pairs or ()))
    if pairs is not None and len(pairs) != len(texts):
        raise InputError(f"{len(texts)} texts need as many second texts, not {len(pairs)}")
    tokenizer = subject.tokenizer
    encoded = encode(tokenizer, texts, pairs)
    skipped = unreadable_texts(tokenizer, encoded, texts, pairs)
    if len(skipped) == len(texts):
        raise InputError(f"{skipped.get(0, 'there is no text')}: there is nothing to explain")
    if skipped:
        kept = [number for number in range(len(texts)) if number not in skipped]
        encoded, texts = encoded.some(np.array(kept)), [texts[number] for number in kept]
        pairs = None if pairs is None else [pairs[number] for number in kept]
    # Of its own: another thread may explain with the same subject, and hooks are a module's.
    with lend_copy(subject.model) as own:
        model, target = aim(own, tokenizer, request)
        inputs = model, tokenizer, texts, pairs
        explainer = find_explainer(request.method)
        attributions = explainer(
            *inputs,
            target=target,
            target_fn=request.target_fn,
            attention_selector=request.attention_selector,
            encoded=encoded,
        )
        if request.unit == WORD:
            attributions = [by_word(attribution) for attribution in attributions]
        if request.intervals:
            attributions = with_intervals(
                attributions,
                *inputs,
                attention_selector=request.attention_selector,
                tolerance=request.tolerance,
            )
    read = coverage(tokenizer, texts, pairs, encoded)
    caveats = dict.fromkeys(each.caveat for each in attributions if each.caveat is not None)
    signs = sign_note(subject) if any(is_signed_attention(each) for each in attributions) else None
    notes = (*subject.notes, *read.lines("read"), *caveats, *([] if signs is None else [signs]))
    return Attributions(tuple(attributions), tuple(skipped.items()), notes)


def aim(
    model: PreTrainedModel, tokenizer: Any, request: ExplainRequest
) -> tuple[PreTrainedModel, int | str | None]:
    """The model that is asked, and its class: of a language model a token, between two if one is contrasted.

    Raises:
        InputError: if the model has no such token, and on a contrast of classes.
    """
    if not isinstance(model, NextTokenClassifier):
        if request.against is not None:
            raise InputError(
                "only next tokens are contrasted, and this model predicts classes: leave `against` out"
            )
        return model, request.target
    target = token_id(tokenizer, request.target) if isinstance(request.target, str) else request.target
    if request.against is None or target is None:
        return model, target
    other = token_id(tokenizer, request.against)
    if other == target:
        raise InputError(f"{request.against!r} is contrasted with itself: name two tokens")
    return model.between([other, target]), 1


def is_signed_attention(attribution: Attribution) -> bool:
    """Whether weights with signs are shown."""
    return attribution.signed and attribution.method == "attention"


def sign_note(subject: Subject) -> str | None:
    """What keeps the signs of printed weights from being read; None: nothing."""
    if getattr(subject.model.config, "gauge", None) is None:
        return "raw signs: no gauge was fixed, so read the contributions"
    gauge = subject.gauge or {}
    if "kinds" in gauge:  # of several heads each has one
        kinds = [kind for layer in gauge["kinds"] for kind in layer]
        undecided = kinds.count(UNDECIDED)
        if not undecided:
            return None
        return (
            f"it is undecided of {undecided} of {pluralise(len(kinds), 'head')} whether their sign lives in "
            "the weights: read the contributions"
        )
    return {
        ONE_SIGN: "the weights have one sign: the contributions say for which side",
        UNDECIDED: "it is undecided whether the sign lives in the weights: read the contributions",
    }.get(str(gauge.get("kind")))


def unreadable_texts(
    tokenizer: PreTrainedTokenizerFast | UnitReader,
    encoded: Encoded,
    texts: Sequence[Any],
    pairs: Sequence[str] | None,
) -> dict[int, str]:
    """The numbers of texts, or pictures, of which the model knows nothing whatever is explained, and why."""
    reasons = {}
    for row, (ids, words) in enumerate(zip(encoded.ids.numpy(), encoded.words, strict=True)):
        if not (words >= 0).any():
            reasons[row] = "the text is empty"
        elif (ids[words >= 0] == tokenizer.unk_token_id).all():
            text = join_pair(texts[row], None if pairs is None else pairs[row])
            reasons[row] = f"the model knows no word of {text!r}"
    return reasons
