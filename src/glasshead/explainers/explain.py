"""Explain texts before any model: `glasshead.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import (
    Encoded,
    EncodedTextsWithImages,
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
from glasshead.explainers.intervals import check_tolerance, require_weights, with_intervals
from glasshead.explainers.read_prompts import gather_segments, read_prompts
from glasshead.huggingface import (
    NO_PLACE,
    Inputs,
    NextTokenClassifier,
    Target,
    TaskModel,
    lend_copy,
    token_id,
    with_images_of,
)
from glasshead.opening import OpenOptions, open_subject
from glasshead.requests import ExplainRequest, MethodRequest, takes
from glasshead.results import ONE_SIGN, UNDECIDED, Attribution, Attributions
from glasshead.spelling import spell
from glasshead.tasks import GIVEN, as_choosing, ask_answer
from glasshead.torch_modes import in_own_modes
from glasshead.trace import AttentionSelector, Subject


def check_method(request: MethodRequest) -> None:
    """Refuse, before anything is opened, what no model has.

    Raises:
        InputError: on an unknown method, on one whose package is missing, on intervals of numbers that are no
            weights, on a contrast with nothing, and on an answer that is empty or has a target.
    """
    explainer = find_explainer(request.method)
    check_heads(explainer, AttentionSelector.of(request))
    if request.against is not None and request.answer is None and request.target is None:
        raise InputError(
            f"a contrast is between two tokens, or two answers: name the other one too, as {spell('target')} "
            f"or {spell('answer')}"
        )
    if request.answer is not None and request.target is not None:
        raise InputError(f"an answer is explained as it is given: leave {spell('target')} out")
    for name, text in (("answer", request.answer), ("against", request.against)):
        if request.answer is not None and text == "":
            raise ParameterError(name, "is empty: give the text that is explained")
    if request.choices is not None and request.answer is not None:
        raise InputError(f"an answer is given, or one of several is chosen: leave {spell('choices')} out")
    if request.template is not None and request.choices is None:
        raise InputError(f"a template is for choices: name these too, as {spell('choices')}")
    if request.segments is not None and not all(name.strip() for name in request.segments):
        raise ParameterError("segments", "names an empty part: give parts of the texts")
    if request.level != "word" and (request.segments or request.unit in ("segment", "message")):
        raise InputError(f"segments stand among words, not sentences: leave {spell('level')} out")
    if request.segments and request.unit == "token":
        raise InputError(f"segments stand among words, not tokens: leave {spell('unit')} out")
    if request.tolerance and not request.intervals:
        raise InputError(
            f"{spell('tolerance')} is about {spell('intervals', True)}: add that, or leave it out"
        )
    if request.intervals:
        require_weights(explainer)
        check_tolerance(request.tolerance)


@takes(ExplainRequest)
def explain(request: ExplainRequest) -> Attributions:
    """Explain the prediction of a model for each text, word by word (or token by token: ``unit``).

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``texts`` are strings, what the tokenizer makes of them, chats (a list of messages with ``role`` and
    ``content``, of which its chat template makes the text that the model reads) or, of a model that
    classifies images, files, folders of them, images of Pillow, or arrays of NumPy and torch; its
    ``tokenizer`` is its image processor. Of a model that reads images and texts together they may be
    ``{"image": …, "text": …}``; its ``tokenizer`` is its processor. ``pairs`` are the second texts of a
    model that compares two. ``target`` is the class that is explained, by name or number; left out, class 1
    of two classes, else the predicted one.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`), on an unknown method, class or option,
            and if the model knows nothing of any text.
    """
    return run_explanation(request)


@in_own_modes
def run_explanation(request: ExplainRequest) -> Attributions:
    """Open the model of a request, and explain.

    Raises:
        InputError: as `explain`.
    """
    check_method(request)
    opening = OpenOptions.of(request, dtype=request.dtype, answers=request.answer is not None, images=True)
    subject = open_subject(request.model, request.tokenizer, opening, shared=True)
    firsts = reader_of(subject.tokenizer).inputs(as_sources(request.texts))
    seconds = None if request.pairs is None else as_texts(request.pairs)
    return explain_texts(subject, firsts, seconds, request)


def explain_texts(
    subject: Subject, texts: Sequence[Any], pairs: Sequence[str] | None, request: MethodRequest
) -> Attributions:
    """Explain texts, chats, pairs of texts, or images, word by word, token by token or patch by patch, as a
    request says that `check_method` found nothing wrong with.

    Raises:
        InputError: if the model knows nothing of any text, and as an explainer does.
    """
    selector = AttentionSelector.of(request)
    if pairs is not None and len(pairs) != len(texts):
        raise InputError(f"{len(texts)} texts need as many second texts, not {len(pairs)}")
    tokenizer = subject.tokenizer
    texts, pairs, segments, own_notes = read_prompts(subject, texts, pairs, request)
    check_utf8(*map(str, texts), *(pairs or ()))
    encoded = encode(tokenizer, texts, pairs, unit=request.whole)
    skipped = unreadable_texts(tokenizer, encoded, texts, pairs)
    if len(skipped) == len(texts):
        raise InputError(f"{skipped.get(0, 'there is no text')}: there is nothing to explain")
    if skipped:
        kept = [number for number in range(len(texts)) if number not in skipped]
        encoded, texts = encoded.some(np.array(kept)), [texts[number] for number in kept]
        pairs = None if pairs is None else [pairs[number] for number in kept]
    # Of its own: another thread may explain with the same subject, and hooks are a module's.
    with lend_copy(subject.model) as own:
        asked = ask(own, Inputs(tokenizer, texts, pairs, encoded), request)
        units = gather_segments(asked.inputs, segments).encoded
        inputs = asked.model, tokenizer, asked.inputs.texts, asked.inputs.pairs
        explainer = find_explainer(request.method)
        attributions = explainer(
            *inputs,
            target=asked.target,
            target_fn=request.target_fn,
            attention_selector=selector,
            encoded=units,
        )
        if request.unit != "token":
            attributions = [by_word(attribution) for attribution in attributions]
        if request.intervals:
            attributions = with_intervals(
                attributions,
                *inputs,
                attention_selector=selector,
                tolerance=request.tolerance,
                encoded=units,
            )
    read = coverage(*asked.read[:4])
    caveats = dict.fromkeys(one.caveat for one in attributions if one.caveat is not None)
    signs = sign_note(subject) if any(is_signed_attention(one) for one in attributions) else None
    places = encoded.notes if isinstance(encoded, EncodedTextsWithImages) else ()
    notes = (*subject.notes, *own_notes, *asked.notes, *places, *read.lines("read"), *caveats)
    notes += () if signs is None else (signs,)
    return Attributions(tuple(attributions), tuple(skipped.items()), notes)


class Asked(NamedTuple):
    """A model and what it is asked: inputs, and the class of these that is explained.

    ``read`` are the inputs as it reads them, each once, and ``notes`` what a person should know of them.
    """

    model: PreTrainedModel
    inputs: Inputs
    target: Target
    read: Inputs
    notes: tuple[str, ...] = ()


def ask(model: PreTrainedModel, inputs: Inputs, request: MethodRequest) -> Asked:
    """What a request asks of inputs.

    Raises:
        InputError: if the model cannot be asked that.
    """
    if isinstance(inputs.encoded, EncodedTextsWithImages):
        if not isinstance(model, NextTokenClassifier) or request.choices is not None:
            raise InputError(
                "of images with texts a next token or a given answer is explained: leave "
                f"{spell('choices')} out"
            )
        model = with_images_of(model, inputs.encoded)
    if request.answer is not None:
        if request.at is not None:
            raise ParameterError("at", NO_PLACE)
        about = ask_answer(model, inputs, request.answer, request.against)
        return Asked(about.model, about.inputs, GIVEN, about.whole, about.notes)
    if request.choices is not None:
        inputs = inputs._replace(choices=request.choices, template=request.template)
        model = as_choosing(model, inputs)
    model, target = resolve_target(model, inputs.tokenizer, request)
    if isinstance(model, TaskModel):
        asked, target = model.ask(inputs, target, request.at)
        return Asked(model, asked, target, asked if model.reads_others else inputs)
    if request.at is not None:
        raise ParameterError("at", NO_PLACE)
    return Asked(model, inputs, target, inputs)


def resolve_target(
    model: PreTrainedModel, tokenizer: Any, request: MethodRequest
) -> tuple[PreTrainedModel, int | str | None]:
    """The model that is asked, and its class: of a language model a token, between two if one is contrasted.

    Raises:
        InputError: if the model has no such token, and on a contrast of classes.
    """
    if not isinstance(model, NextTokenClassifier):
        if request.against is not None:
            raise InputError(
                "only next tokens are contrasted, and this model predicts classes: leave "
                f"{spell('against')} out"
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
    tokenizer: PreTrainedTokenizerBase | UnitReader,
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
