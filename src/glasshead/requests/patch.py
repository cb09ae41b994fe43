"""What `glasshead patch` is asked."""

from __future__ import annotations

from typing import Any, Literal

from glasshead.requests.fields import option
from glasshead.requests.subject import LARGEST_SEED, RenamingRequest, WatchedRequest


class PatchRequest(RenamingRequest, WatchedRequest):
    """The options of ``patch``: the model, the pairs of texts, and the activations to exchange."""

    model: Any = option(
        kw_only=False,
        help="A folder with a saved model and its tokenizer, or a Hub id: a language model, or any model of "
        "one text.",
    )
    pairs: Any = option(
        kw_only=False,
        help="A file (csv, tsv, json, jsonl, parquet or xlsx) with the columns clean, corrupted, answer "
        "and optionally against, another answer to compare with, and at, the word to ask about; in Python "
        "also a table or a list of rows.",
    )
    sites: Literal["residual", "heads", "attention", "mlp"] = option(
        default="heads",
        help="What is exchanged: heads (each at all tokens); or at each token the residual stream before a "
        "layer, the output of all heads of a layer (attention), or that of its MLP (mlp).",
    )
    direction: Literal["denoise", "noise"] = option(
        default="denoise",
        help="denoise puts activations of the clean text into the corrupted one and shows what restores "
        "the answer; noise does the reverse and shows what breaks it.",
    )
    source: Literal["pair", "zero", "mean", "resample"] = option(
        default="pair",
        help="What is put in: pair, the activation of the other text; or, into the clean text, zero, the "
        "mean over all clean texts of its length, or the activation of another one (resample).",
    )
    method: Literal["exact", "attribution", "both"] = option(
        default="exact",
        help="exact: a pass for each site; attribution: all at once to first order; or both.",
    )
    n_steps: int = option(
        default=1,
        help="For attribution: average the gradient over this many inputs between the two texts.",
        least=1,
        most=1000,
    )
    into: str | None = option(
        default=None,
        help="For heads: only what one head of a later layer reads of them, such as 1-2:k, the keys of head "
        "2 of layer 1 (q: queries, v: values, 1-2: all three).",
        metavar="HEAD",
    )
    null: bool = option(
        default=True,
        help=(
            "Also exchange with foreign activations, which should not have the same effect: those of "
            "another pair (denoise), or else a change of equal size in a random direction."
        ),
        flag="--null/--no-null",
    )
    limit: int | None = option(default=None, help="Use this many random pairs.", least=1)
    seed: int = option(default=0, help="Seed of all random draws.", least=0, most=LARGEST_SEED)
    dtype: Any = option(default="float32", help="Precision: float32 or float64.")
