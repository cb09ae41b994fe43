"""What `glasshead explain` and `generate` are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import Request, option
from glasshead.requests.subject import (
    LARGEST_SEED,
    OpeningRequest,
    RenamingRequest,
    UnitRequest,
    WatchedRequest,
)


class MethodRequest(UnitRequest):
    """How texts are explained: the method, the target class, and the task."""

    method: str = option(default="attention", help="The method (glasshead list explainers).")
    target: int | str | None = option(
        default=None,
        help="The class to explain (default: class 1 of two, or else the predicted one).",
    )
    against: str | None = option(
        default=None,
        help="For language models: explain why the target rather than this token, or the answer rather "
        "than this one.",
        metavar="TEXT",
    )
    at: int | str | None = option(
        default=None,
        help="For models that predict a part of a text: the word, or its number from 0; for models that "
        "find answers, the words; for models that give pixels a class, row and column of a patch: 3,5.",
        metavar="WORD",
    )
    answer: str | None = option(
        default=None,
        help="For language models: a continuation of each text, exactly as the model would write it; for "
        "encoder–decoders, their output. Explained as a whole and token by token.",
        metavar="TEXT",
    )
    choices: Sequence[str] | None = option(
        default=None,
        help="For models that choose, and for zero-shot models (NLI, CLIP): one of the choices; repeat for"
        " each.",
        flag="--choice",
        metavar="TEXT",
        read=readers.each,
        repeated=True,
    )
    template: str | None = option(
        default=None,
        help="For zero-shot choices: the sentence around each choice, with {} in its place (default: This "
        "example is {}., for images: This is a photo of {}.).",
        metavar="TEXT",
    )
    unit: Literal["word", "token", "segment", "message"] = option(  # type: ignore[assignment]  # of data fewer
        default="word",
        help="The units: word, or token of the model; segment: also each part between << and >>; message: "
        "also each message of a chat.",
    )
    segments: Sequence[str] | None = option(
        default=None,
        help="A part of the text that is one unit; may be repeated. The rest of the text keeps words as "
        "units.",
        flag="--segment",
        metavar="TEXT",
        read=readers.each,
        repeated=True,
    )
    target_fn: str | None = option(
        default=None,
        help="The number to explain: probability, log-probability, logit, log-odds, margin or entropy; for"
        " ratings, rating.",
        flag="--target-function",
    )
    level: Literal["word", "sentence"] = option(
        default="word", help="word, or sentence for models that read sentences."
    )
    intervals: bool = option(
        default=False, help="Show what else each weight could be without changing the output of the heads."
    )
    tolerance: float = option(
        default=0.0, help="For intervals: how much an output may change, relative to its size.", least=0
    )


def methods_of(request: MethodRequest) -> tuple[str, ...]:
    """One method, or several."""
    return (request.method,) if isinstance(request.method, str) else tuple(request.method)


class ExplainRequest(MethodRequest, RenamingRequest, WatchedRequest):
    """The options of ``explain``: the model, the texts, and how to explain them."""

    method: str | Sequence[str] = option(  # type: ignore[assignment]  # of others one
        default="attention",
        help="The method (glasshead list explainers); may be repeated, for one map of each.",
        metavar="NAME",
        read=readers.one_or_several,
        repeated=True,
    )

    model: Any = option(
        kw_only=False,
        help="A folder made by glasshead train, any folder with a saved classifier and its tokenizer, or a "
        "Hub id.",
    )
    texts: Any = option(kw_only=False, help="One or more texts, or files and folders of images.")
    pairs: Any = option(default=None, help="The second text of each pair.", flag="--pair", metavar="TEXT")
    dtype: Any = option(
        default=None,
        help="Precision: float32, float64, bfloat16 or float16 (default: the model's). Results in bfloat16 "
        "and float16 come with a measured noise floor.",
    )


class WritingRequest(Request):
    """How a text is written."""

    tokens: int = option(default=20, help="Maximum number of tokens to write.", least=1)
    strategy: Any = option(
        default=None,
        help="The decoding strategy: greedy, sample, top-k=40, temperature=0.7, nucleus=0.9, beam=4 "
        "(glasshead list strategies); combine with +, as in temperature=0.7+top-k=40 (default: the "
        "model's own generation configuration, or else greedy).",
    )
    seed: int | None = option(
        default=None,
        help="Seed of the draws (default: a random one, which is printed).",
        least=0,
        most=LARGEST_SEED,
    )
    alternatives: int = option(default=5, help="How many alternatives to list for each token.", least=1)
    use_cache: bool = option(default=True, help="Cache keys and values while the model writes.", flag="")


class GenerateRequest(WritingRequest, OpeningRequest):
    """The options of ``generate``: the model, the prompts, and the strategy."""

    model: Any = option(kw_only=False, help="A folder with a saved language model, or a Hub id.")
    prompt: Any = option(kw_only=False, help="One or more prompts.")
    dtype: Any = option(default=None, help="Precision: float32 or float64 (default: the model's).")
