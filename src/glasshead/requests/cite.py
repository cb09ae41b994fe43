"""What `glasshead.cite` and `glasshead.audit_sources` are asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import option
from glasshead.requests.subject import LARGEST_SEED, OpeningRequest, WatchedRequest


class PassagesRequest(OpeningRequest, WatchedRequest):
    """How passages are shown to a model, how it answers, and how a passage is removed."""

    removal: Literal["delete", "replace", "mask"] = option(
        default="delete",
        help="What it means to remove a passage: delete it from the prompt, replace its text by a neutral "
        "one, or mask its tokens.",
    )
    draws: int = option(
        default=64,
        help="Number of random ablations (for shapley a minimum: at least 32 orders are run).",
        least=16,
        most=4096,
    )
    split: Literal["paragraph", "whole"] | None = option(
        default=None,
        help="What a passage is: a paragraph, or a whole text or file (default: whole, unless there is only "
        "one).",
    )
    beside: Sequence[str] = option(
        default=("attention",),
        help="Methods of glasshead generate to compare: their numbers are added up over each passage.",
        metavar="A,B,…",
        read=readers.names,
    )
    layer: int | str | None = option(
        default=None,
        help="For the method attention: which layer, by number (-1: the last) or name.",
        metavar="N",
        read=readers.number_or_name,
    )
    head: int | str | None = option(
        default=None,
        help=(
            "For the method attention: which head, or how to combine the maps of all heads (default: "
            "their mean)."
        ),
        metavar="N|mean|max|min|sum",
        read=readers.number_or_name,
    )
    prompt: str | None = option(
        default=None,
        help=(
            "How the prompt is written, with {context} and {question} in it (default: as documents of "
            "the tokenizer's chat template, or else as a chat or a plain text)."
        ),
        metavar="TEXT",
    )
    neutral: str = option(
        default="There is nothing here.", help="The text that replaces a passage.", metavar="TEXT"
    )
    tokens: int = option(default=100, help="Maximum number of tokens to write.", least=1)
    strategy: Any = option(
        default=None, help="How a token of the answer is chosen, as in glasshead generate (default: greedy)."
    )
    seed: int = option(default=0, help="Seed of all random draws.", least=0, most=LARGEST_SEED)
    dtype: Any = option(default=None, help="Precision: float32 or float64 (default: the model's).")


class CiteRequest(PassagesRequest):
    """The options of ``cite``: the model, the passages, the answer, and the method."""

    model: Any = option(kw_only=False, help="A folder with a saved language model, or a Hub id.")
    context: Any = option(
        kw_only=False,
        help="The passages: texts, files, folders of text files, or tables and JSON files of passages with "
        "titles and links, as retrievers return them.",
    )
    question: Any = option(kw_only=False, help="The question, or a chat that ends with it.")
    answer: str | None = option(
        kw_only=False, default=None, help="The answer (default: the model's own).", metavar="TEXT"
    )
    method: Literal["contextcite", "leave-one-out", "shapley"] = option(
        default="contextcite",
        help="contextcite: a sparse surrogate of random ablations; leave-one-out: each passage removed "
        "alone; shapley: its mean over all orders.",
    )


class SourcesRequest(PassagesRequest):
    """The options of ``audit_sources``: the model, the questions and their passages."""

    model: Any = option(kw_only=False, help="A folder with a saved language model, or a Hub id.")
    questions: Any = option(
        kw_only=False,
        help="A file (csv, tsv, json, jsonl, parquet or xlsx) with the columns question, context (passages, "
        "or a text whose paragraphs they are) and optionally answer; in Python also a table, "
        "a data set or a list of rows.",
        measures=False,  # each row is compared
    )
    store: Path | None = option(
        default=None,
        help="A file that keeps measured questions, to continue from.",
        flag="",
        measures=False,
    )
