"""What `glasshead.lens` and `glasshead.logit_attribution` are asked."""

from __future__ import annotations

from typing import Any

from glasshead.requests.fields import option
from glasshead.requests.subject import RenamingRequest


class InsideRequest(RenamingRequest):
    """The options of ``lens``: the model, the text, and the target."""

    model: Any = option(
        kw_only=False,
        help="A folder with a saved language model or classifier and its tokenizer, or a Hub id.",
    )
    text: Any = option(kw_only=False, help="The text to run the model on.")
    target: int | str | None = option(
        default=None,
        help="The next token, or the class, to explain (default: the predicted one).",
        metavar="TEXT",
    )
    at: int | str | None = option(
        default=None,
        help="For models that predict one word: the word, or its number from 0.",
        metavar="WORD",
    )
    dtype: Any = option(default=None, help="Precision: float32 or float64 (default: the model's).")


class LensRequest(InsideRequest):
    """The findings of each layer."""

    alternatives: int = option(default=5, help="How many alternatives to list for each token.", least=1)
    tuned: Any = option(
        default=None,
        help="A file of texts like yours, to fit an affine map for each layer (the tuned lens); some texts"
        " are held out to measure the fit.",
        metavar="TEXTS",
    )


class LogitAttributionRequest(InsideRequest):
    """The logit that is taken apart."""

    against: int | str | None = option(
        default=None,
        help="Another token or class: its logit is subtracted from that of the target.",
        metavar="TEXT",
    )


class InsideViewRequest(LensRequest, LogitAttributionRequest):
    """What `glasshead lens` shows: both."""
