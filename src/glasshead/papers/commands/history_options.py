"""Arguments and options of the commands that show a history, and how these load it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli import progress_stages
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.papers.dynamics import LoadedHistory, UntrackedToken
    from glasshead.papers.results import History


def require_non_negative(step: int | None) -> int | None:
    """The step; raise InputError for a step below 0, before any work."""
    if step is not None and step < 0:
        raise InputError(f"steps count from 0: there is no step {step:,}")
    return step


TrainingData = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATA]",
        help="The data of the training, for an LSTM or a run without a history, if they are not found.",
        show_default=False,
    ),
]
Step = Annotated[
    int | None,
    typer.Option(
        help="Show the snapshot nearest to this step (default: the last).",
        callback=require_non_negative,
    ),
]


def open_history(run: Path, data: str | None, *, contexts: bool = True) -> "LoadedHistory":
    """The history of a run, with a line on standard error about what is being done."""
    with progress_stages(f"looking at {run.name}") as progress:
        progress("loading")
        from glasshead.papers.dynamics import load_history

        return load_history(run, data, contexts=contexts, progress=progress)


def split_tokens(run: Path, history: "History", tokens: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The tokens with a history, and a remark on each of the others."""
    from glasshead.papers.dynamics import split_followed_tokens

    followed, others = split_followed_tokens(run, history, tokens)
    return followed, [describe_untracked_token(token) for token in others]


def describe_untracked_token(token: "UntrackedToken") -> str:
    """What is known of a token whose numbers were not recorded."""
    from glasshead.report import number

    times = "once" if token.count == 1 else f"{token.count:,} times"
    start = f"{token.token!r} was not followed (it occurs {times} in train)"
    if token.score is None:
        return f"{start}, and its score depends on its text: try 'glasshead explain'"
    polarity = ", ".join(map(number, token.polarity))
    return f"{start}: in the trained model its score is {number(token.score)}, its polarity {polarity}"
