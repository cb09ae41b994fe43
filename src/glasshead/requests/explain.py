"""What `glasshead explain` and `generate` are asked."""

from __future__ import annotations

from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import Request, option
from glasshead.requests.subject import LARGEST_SEED, OpeningRequest, RenamingRequest, UnitRequest


class MethodRequest(UnitRequest):
    """How texts are explained: by which method, for which class, as what."""

    method: str = option(default="attention", help="The method (glasshead list explainers).")
    target: int | str | None = option(
        default=None,
        help="The class to explain; else class 1 of two, or the predicted one.",
    )
    against: str | None = option(
        default=None,
        help="Of a language model: the token in place of which the target comes, or the answer in place of "
        "which another is given; why that one, and not this.",
        metavar="TEXT",
    )
    at: int | str | None = option(
        default=None,
        help="Of models that are asked about a part of a text: the word, as it is written or by its number "
        "from 0; of one that finds answers, the words.",
        metavar="WORD",
    )
    answer: str | None = option(
        default=None,
        help="Of a language model: the text that it might write behind each text, exactly as it would go on; "
        "of an encoder–decoder, in answer to it. Explained as a whole and token by token.",
        metavar="TEXT",
    )
    choices: tuple[str, ...] | None = option(
        default=None,
        help="Of a model that chooses, or is asked zero-shot (NLI, CLIP): a text to choose, once for each.",
        flag="--choice",
        metavar="TEXT",
        read=readers.each,
        repeated=True,
    )
    template: str | None = option(
        default=None,
        help="Of zero-shot choices: the sentence that each goes into, in the place of {} (default: This "
        "example is {}., of images: This is a photo of {}.).",
        metavar="TEXT",
    )
    unit: Literal["word", "token", "segment", "message"] = option(  # type: ignore[assignment]  # of data fewer
        default="word",
        help="What has a number: word, or token of the model; segment: also each part between << and >>; "
        "message: also what each message of a chat says.",
    )
    segments: tuple[str, ...] | None = option(
        default=None,
        help="A part of the text that has one number as a whole, once for each; words have theirs elsewhere.",
        flag="--segment",
        metavar="TEXT",
        read=readers.each,
        repeated=True,
    )
    target_fn: str | None = option(
        default=None,
        help="What is explained: probability, log-probability, logit, log-odds, margin or entropy; of "
        "ratings, rating.",
        flag="--target-function",
    )
    level: Literal["word", "sentence"] = option(
        default="word", help="word, or sentence where a model reads sentences."
    )
    intervals: bool = option(
        default=False, help="Show what else each weight could be while the heads give the same output."
    )
    tolerance: float = option(
        default=0.0, help="For intervals: how far an output may move, relative to its size.", least=0
    )


class ExplainRequest(MethodRequest, RenamingRequest):
    """Which texts of which model are explained, and how."""

    model: Any = option(
        kw_only=False,
        help="A folder made by glasshead train, any folder with a saved classifier and its tokenizer, or a "
        "Hub id.",
    )
    texts: Any = option(kw_only=False, help="One or more texts; or files and folders of images.")
    pairs: Any = option(default=None, help="The second text of each pair.", flag="--pair", metavar="TEXT")
    dtype: Any = option(default=None, help="In which precision: float32 or float64 (default: the model's).")


class WritingRequest(Request):
    """How a text is written."""

    tokens: int = option(default=20, help="How many tokens are written at most.", least=1)
    strategy: Any = option(
        default=None,
        help="How a token is chosen: greedy, sample, top-k=40, temperature=0.7, nucleus=0.9, beam=4 "
        "(glasshead list strategies); joined by +, as in temperature=0.7+top-k=40 (default: the model's own "
        "generation configuration, else greedy).",
    )
    seed: int | None = option(
        default=None, help="Of what is drawn; else one is drawn, and said.", least=0, most=LARGEST_SEED
    )
    alternatives: int = option(default=5, help="How many tokens are named at each place.", least=1)
    use_cache: bool = option(
        default=True, help="Keep keys and values of what stands before while the model writes.", flag=""
    )


class GenerateRequest(WritingRequest, OpeningRequest):
    """What a language model writes behind which prompts, and how."""

    model: Any = option(kw_only=False, help="A folder with a saved language model, or a Hub id.")
    prompt: Any = option(kw_only=False, help="One or more prompts.")
    dtype: Any = option(default=None, help="In which precision: float32 or float64 (default: the model's).")
