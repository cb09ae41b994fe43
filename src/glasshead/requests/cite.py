"""What `glasshead.cite` is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import option
from glasshead.requests.subject import LARGEST_SEED, OpeningRequest, name_of


class CiteRequest(OpeningRequest):
    """Which answer of which model, behind which passages, and how its sources are found."""

    model: Any = option(kw_only=False, help="A folder with a saved language model, or a Hub id.")
    context: Any = option(
        kw_only=False,
        help="The passages: texts, files, folders of text files, or tables and JSON files of passages with "
        "titles and links, as retrievers return them.",
    )
    question: Any = option(kw_only=False, help="The question, or the chat that ends with it.")
    answer: str | None = option(
        kw_only=False, default=None, help="The answer (default: what the model writes).", metavar="TEXT"
    )
    method: Literal["contextcite", "leave-one-out", "shapley"] = option(
        default="contextcite",
        help="contextcite: a sparse surrogate of random ablations; leave-one-out: each passage removed "
        "alone; shapley: its mean over all orders.",
    )
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
    beside: tuple[str, ...] = option(
        default=("attention",),
        help="Methods of glasshead generate whose numbers are added up over each passage and stand beside.",
        metavar="A,B,…",
        read=readers.names,
    )
    prompt: str | None = option(
        default=None,
        help="How the prompt is written, with {context} and {question} in it (default: the documents of the "
        "tokenizer's chat template, else a chat, else a plain text).",
        metavar="TEXT",
    )
    neutral: str = option(
        default="There is nothing here.", help="The text that replaces a passage.", metavar="TEXT"
    )
    tokens: int = option(default=100, help="How many tokens are written at most.", least=1)
    strategy: Any = option(
        default=None, help="How a token of the answer is chosen, as in glasshead generate (default: greedy)."
    )
    seed: int = option(default=0, help="Seed of all that is drawn.", least=0, most=LARGEST_SEED)
    dtype: Any = option(default=None, help="In which precision: float32 or float64 (default: the model's).")
    progress: Callable[..., None] | None = option(
        default=None, help="A function that is told what is being done.", flag="", measures=False
    )

    @property
    def name(self) -> str:
        """What the model is called."""
        return name_of(self.model)
