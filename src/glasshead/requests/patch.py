"""What `glasshead patch` is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from glasshead.requests.fields import option
from glasshead.requests.subject import LARGEST_SEED, RenamingRequest, name_of


class PatchRequest(RenamingRequest):
    """Which activations of which model are exchanged between which texts."""

    model: Any = option(
        kw_only=False,
        help="A folder with a saved model and its tokenizer, or a Hub id: a language model, or a classifier.",
    )
    pairs: Any = option(
        kw_only=False,
        help="A file (csv, tsv, json, jsonl, parquet or xlsx) with the columns clean, corrupted, answer and, "
        "where another answer is held against it, against; in Python also a table or a list of rows.",
    )
    sites: Literal["residual", "heads", "attention", "mlp"] = option(
        default="heads",
        help="What is exchanged: heads (each at all tokens); or at each token the residual stream before a "
        "layer, the output of all heads of a layer (attention), or that of its MLP (mlp).",
    )
    direction: Literal["denoise", "noise"] = option(
        default="denoise",
        help="denoise puts activations of the clean text into the corrupted one: what brings it back; "
        "noise the other way round: what breaks the answer.",
    )
    source: Literal["pair", "zero", "mean", "resample"] = option(
        default="pair",
        help="What is put in: pair, from the other text; or into the clean text zero, the mean over all "
        "clean texts of its length, or what another of them has there (resample).",
    )
    method: Literal["exact", "attribution", "both"] = option(
        default="exact",
        help="exact: a pass for each site; attribution: all at once to first order; or both.",
    )
    n_steps: int = option(
        default=1,
        help="Of attribution: the gradient is the mean over so many inputs between both texts.",
        least=1,
        most=1000,
    )
    null: bool = option(
        default=True,
        help="Of denoise: exchange with another pair too, which must not do the same.",
        flag="--null/--no-null",
    )
    limit: int | None = option(default=None, help="Read this many random pairs.", least=1)
    seed: int = option(default=0, help="Seed of all that is drawn.", least=0, most=LARGEST_SEED)
    dtype: Any = option(default="float32", help="In which precision: float32 or float64.")
    progress: Callable[..., None] | None = option(
        default=None, help="A function that is told what is being done.", flag="", measures=False
    )

    @property
    def name(self) -> str:
        """What the model is called."""
        return name_of(self.model)
