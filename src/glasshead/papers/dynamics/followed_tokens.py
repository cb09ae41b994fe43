"""Which tokens of a model have a history of their own, and what is known of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshead.errors import InputError
from glasshead.opening import Run, load_run
from glasshead.papers.dynamics.post_hoc import token_score
from glasshead.papers.results import History
from glasshead.registry import did_you_mean
from glasshead.spelling import spell


@dataclass(frozen=True)
class UntrackedToken:
    """A token without a history: how often it occurs in train, and its score and polarities in the trained
    model; None where they depend on the text."""

    token: str
    count: int
    score: float | None
    polarity: tuple[float, ...]


def split_followed_tokens(
    folder: Path, history: History, tokens: Sequence[str]
) -> tuple[tuple[str, ...], list[UntrackedToken]]:
    """The tokens with a history, and what is known about each of the others.

    Raises:
        InputError: for a token that the model does not know.
    """
    if not tokens:
        return (), []
    if not history.tokens:
        raise InputError(
            f"{folder} has no scores of single tokens (they are in models with one attention output): leave "
            f"{spell('tokens')} out"
        )
    followed = set(history.tokens["token"].tolist())
    others = [token for token in tokens if token not in followed]
    if not others:
        return tuple(tokens), []
    run = load_run(folder)
    vocabulary = run.tokenizer.get_vocab()
    for token in others:
        if token not in vocabulary:
            hint = did_you_mean(token, followed)
            near = f": {hint}" if hint.startswith("did you mean") else ", and no followed token is similar"
            raise InputError(f"the model knows no token {token!r}{near}")
    return (
        tuple(token for token in tokens if token in followed),
        [measure_untracked_token(run, token, vocabulary[token]) for token in others],
    )


def measure_untracked_token(run: Run, token: str, token_id: int) -> UntrackedToken:
    """What the trained model makes of a token."""
    score, polarity = token_score(run.model, token_id) or (None, [])
    return UntrackedToken(token, int(run.counts[:, token_id].sum()), score, tuple(polarity))
