"""What `glasshead.lens` and `glasshead.logit_attribution` are asked."""

from __future__ import annotations

from typing import Any

from glasshead.requests.fields import option
from glasshead.requests.subject import RenamingRequest


class InsideRequest(RenamingRequest):
    """Which model reads which text, and which answer is asked about."""

    model: Any = option(
        kw_only=False,
        help="A folder with a saved language model or classifier and its tokenizer, or a Hub id.",
    )
    text: Any = option(kw_only=False, help="The text that the model reads.")
    target: int | str | None = option(
        default=None,
        help="The next token, or the class, that is asked about (default: the predicted one).",
        metavar="TEXT",
    )
    at: int | str | None = option(
        default=None,
        help="Of models that are asked about a word: the word, or its number from 0.",
        metavar="WORD",
    )
    dtype: Any = option(default=None, help="In which precision: float32 or float64 (default: the model's).")


class LensRequest(InsideRequest):
    """What is shown of each layer."""

    alternatives: int = option(default=5, help="How many tokens are named at each place.", least=1)
    tuned: Any = option(
        default=None,
        help="A file of texts like yours: an affine map is fitted for each layer (the tuned lens), and "
        "measured on texts that were left out.",
        metavar="TEXTS",
    )


class LogitAttributionRequest(InsideRequest):
    """Which logit is taken apart."""

    against: int | str | None = option(
        default=None,
        help="Another token or class: its logit is subtracted from that of the target.",
        metavar="TEXT",
    )


class InsideViewRequest(LensRequest, LogitAttributionRequest):
    """What `glasshead lens` shows: both."""
