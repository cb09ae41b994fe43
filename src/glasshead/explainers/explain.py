"""Explain texts before any model: `glasshead.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import (
    CaptionedImage,
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
from glasshead.explainers.attention_observation import OnTexts
from glasshead.explainers.explainer import ResolvedTargets, check_heads, find_explainer
from glasshead.explainers.intervals import check_tolerance, require_weights, with_intervals
from glasshead.explainers.noise_floor import FLOOR_TEXTS, with_floor
from glasshead.explainers.read_prompts import gather_segments, read_prompts
from glasshead.huggingface import (
    NO_PLACE,
    Inputs,
    NextTokenClassifier,
    Target,
    TaskModel,
    isolated_copy,
    lend_copy,
    narrow_products,
    token_id,
    with_images_of,
)
from glasshead.nouns import Nouns
from glasshead.opening import OpenOptions, dtype_name, fit_tokenizer, halves_of, open_subject
from glasshead.requests import ExplainRequest, MethodRequest, WatchedRequest, methods_of, takes
from glasshead.results import ONE_SIGN, UNDECIDED, Attribution, Attributions
from glasshead.spelling import spell
from glasshead.tasks import GIVEN, CaptionModel, as_choosing, ask_answer
from glasshead.torch_modes import in_own_modes
from glasshead.trace import AttentionSelector, KnownStates, Subject


def check_method(request: MethodRequest) -> None:
    """Raise InputError for options that no model supports, before a model is opened.

    Raises:
        InputError: on an unknown method, on one whose package is missing, on intervals of numbers that are
            not weights, on a contrast with nothing, and on an answer that is empty or comes with a target.
    """
    explainers = [find_explainer(name) for name in methods_of(request)]
    if not explainers:
        raise ParameterError("method", "is empty: give at least one")
    for explainer in explainers:
        check_heads(explainer, AttentionSelector.of(request))
    if request.against is not None and request.answer is None and request.target is None:
        raise InputError(
            "a contrast is between two tokens, or two answers: name the "
            f"other one, too, as {spell('target')} "
            f"or {spell('answer')}"
        )
    if request.answer is not None and request.target is not None:
        raise InputError(f"an answer is explained as a whole: leave {spell('target')} out")
    for name, text in (("answer", request.answer), ("against", request.against)):
        if request.answer is not None and text == "":
            raise ParameterError(name, "is empty: give the text that is explained")
    if request.choices is not None and request.answer is not None:
        raise InputError(f"an answer and choices exclude each other: leave {spell('choices')} out")
    if request.template is not None and request.choices is None:
        raise InputError(f"a template is for choices: name these, too, as {spell('choices')}")
    if request.segments is not None and not all(name.strip() for name in request.segments):
        raise ParameterError("segments", "names an empty part: give parts of the texts")
    if request.level != "word" and (request.segments or request.unit in ("segment", "message")):
        raise InputError(f"segments need words as units, not sentences: leave {spell('level')} out")
    if request.segments and request.unit == "token":
        raise InputError(f"segments need words as units, not tokens: leave {spell('unit')} out")
    if request.tolerance and not request.intervals:
        raise InputError(
            f"{spell('tolerance')} is about {spell('intervals', True)}: add that, or leave it out"
        )
    if request.intervals:
        if halves_of(getattr(request, "dtype", None)) is not None:
            raise InputError(f"intervals need more than half precision: use {spell('dtype', 'float32')}")
        for explainer in explainers:
            require_weights(explainer)
        check_tolerance(request.tolerance)


@takes(ExplainRequest)
def explain(request: ExplainRequest) -> Attributions:
    """Explain the prediction of a model for each text, word by word (or token by token: ``unit``).

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``texts`` are strings, what the tokenizer makes of them, chats (a list of messages with ``role`` and
    ``content``, which its chat template turns into the text that the model reads) or, for a model that
    classifies images, files, folders of them, images of Pillow, or arrays of NumPy and torch; its
    ``tokenizer`` is its image processor. For a model that reads images and texts together they may be
    ``{"image": …, "text": …}``, or ``{"images": [… , …], "text": …}``; its ``tokenizer`` is its processor.
    ``pairs`` are the second texts of a model that compares two. ``target`` is the class to explain, by name
    or number (default: class 1 of two classes, or else the predicted one). A list of methods gives a map by
    each for every text, in the order of the texts.

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
    dtype = None if halves_of(request.dtype) else request.dtype
    opening = OpenOptions.of(request, dtype=dtype, answers=request.answer is not None, images=True)
    subject = open_subject(request.model, request.tokenizer, opening, shared=True)
    firsts = reader_of(subject.tokenizer).inputs(as_sources(request.texts))
    seconds = None if request.pairs is None else as_texts(request.pairs)
    return explain_texts(subject, firsts, seconds, request)


def explain_in_halves(
    subject: Subject,
    texts: Sequence[Any],
    pairs: Sequence[str] | None,
    request: MethodRequest,
    half: torch.dtype,
) -> Attributions:
    """Explain with products of halves, and the first texts in float32, for the same classes: what differs is
    the noise floor.

    Raises:
        InputError: as `explain_as_is`, and of quantised weights.
    """
    fine, coarse = (replace(subject, model=isolated_copy(subject.model, torch.float32)) for _ in range(2))
    narrow_products(coarse.model, half)
    targets = ResolvedTargets()
    explained = explain_as_is(coarse, texts, pairs, request, targets)
    skipped = {number for number, _ in explained.skipped}
    first = [number for number in range(len(texts)) if number not in skipped][:FLOOR_TEXTS]
    seconds = None if pairs is None else [pairs[number] for number in first]
    exact = explain_as_is(
        fine, [texts[number] for number in first], seconds, request, ResolvedTargets(targets)
    )
    return with_floor(explained, exact.attributions, dtype_name(half))


def explain_texts(
    subject: Subject, texts: Sequence[Any], pairs: Sequence[str] | None, request: MethodRequest
) -> Attributions:
    """Explain texts, chats, pairs of texts, or images, word by word, token by token or patch by patch, as a
    request says that has passed `check_method`.

    Raises:
        InputError: if the model knows nothing of any text, and as an explainer does.
    """
    if isinstance(subject.model, CaptionModel) and any(isinstance(text, CaptionedImage) for text in texts):
        return explain_captions(subject, subject.model, texts, request)
    half = halves_of(getattr(request, "dtype", None))
    if half is not None:
        return explain_in_halves(subject, texts, pairs, request, half)
    return explain_as_is(subject, texts, pairs, request)


def explain_as_is(
    subject: Subject,
    texts: Sequence[Any],
    pairs: Sequence[str] | None,
    request: MethodRequest,
    targets: ResolvedTargets | None = None,
) -> Attributions:
    """Explain in the precision in which the model computes; ``targets`` keep the classes, or say them.

    Raises:
        InputError: as `explain_texts`.
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
        methods, watch = methods_of(request), Watch(request, asked.inputs.encoded.nouns)
        known = KnownStates() if len(methods) > 1 else None  # what one pass said serves the others
        by_method = [
            find_explainer(name)(
                *inputs,
                target=asked.target,
                target_fn=request.target_fn,
                attention_selector=selector,
                encoded=units,
                known=known,
                targets=targets,
                progress=watch.on_texts(name),
            )
            for name in methods
        ]
        attributions = [one for of_input in zip(*by_method, strict=True) for one in of_input]
        if request.unit != "token":
            attributions = [by_word(attribution) for attribution in attributions]
        if request.intervals:
            watch.stage("intervals")
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


@dataclass(frozen=True)
class Watch:
    """Says to the ``progress`` of a request which method explains, and how many inputs it has done."""

    request: MethodRequest
    nouns: Nouns

    def stage(self, name: str, share: float | None = None) -> None:
        """What is being done."""
        if isinstance(self.request, WatchedRequest):
            self.request.tell(name, share)

    def on_texts(self, name: str) -> OnTexts:
        """What a method calls."""
        self.stage(name)
        furthest = 0.0

        def on_texts(done: float, total: int) -> None:
            nonlocal furthest
            furthest = max(furthest, done)  # what one text needs more of counts as done
            several = f": {int(furthest):,} of {total:,} {self.nouns.texts}" if total > 1 else ""
            self.stage(f"{name}{several}", furthest / total)

        return on_texts


SIDES = ("image", "caption")
"""What can be asked about of an image with a caption, by the name of a target."""


def explain_captions(
    subject: Subject, model: CaptionModel, inputs: Sequence[CaptionedImage], request: MethodRequest
) -> Attributions:
    """Which parts of each image, and which words of its caption, make the two similar. A method that explains
    one of the two alone leaves the other out, and says so.

    Raises:
        InputError: on a target that is neither, on choices, and if neither can be explained.
    """
    if request.choices is not None:
        raise InputError(f"these images have a caption each: leave {spell('choices')} out")
    if request.target not in (None, *SIDES):
        raise ParameterError("target", "is 'image' or 'caption' where an image has its caption")
    reader, found, notes = subject.tokenizer, list[Attribution](), list[str]()
    refused: dict[str, InputError] = {}
    for picture, caption in inputs:
        pixels = reader.encode([picture]).inputs(device=model.device)["pixel_values"]
        both = model.compare(reader, pixels, caption)
        tokenizer = fit_tokenizer(both.caption, reader.tokenizer)
        asked = {"image": (both.image, reader, picture), "caption": (both.caption, tokenizer, caption)}
        for side, (own, reads, text) in asked.items():
            if request.target in (None, side):
                own_subject = replace(subject, model=own, tokenizer=reads)
                try:
                    explained = explain_texts(own_subject, [text], None, request.replace(target=None))
                except InputError as error:
                    refused.setdefault(side, error)
                else:
                    found += explained
                    notes += explained.notes
    if not found:
        raise next(iter(refused.values()))
    notes += [f"the {side} is not explained: {error}" for side, error in refused.items()]
    return Attributions(tuple(found), (), tuple(dict.fromkeys(notes)))


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
    if isinstance(inputs.encoded, EncodedTextsWithImages) and request.choices is not None:
        raise InputError(
            f"images with texts are explained for a next token or an answer: leave {spell('choices')} out"
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
                "only next tokens can be contrasted, but this model predicts classes: leave "
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
        return "raw signs: no gauge was fixed, so use the contributions"
    gauge = subject.gauge or {}
    if "kinds" in gauge:  # of several heads each has one
        kinds = [kind for layer in gauge["kinds"] for kind in layer]
        undecided = kinds.count(UNDECIDED)
        if not undecided:
            return None
        return (
            f"for {undecided} of {pluralise(len(kinds), 'head')} it is undecided whether their sign is in "
            "the weights: use the contributions"
        )
    return {
        ONE_SIGN: "the weights have one sign: the contributions say which class a token supports",
        UNDECIDED: "it is undecided whether the sign is in the weights: use the contributions",
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
