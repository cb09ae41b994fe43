"""What every token of an answer was chosen from."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glasshead.results import Alternative, WrittenToken


def describe_tokens(
    logits: Float[Tensor, "answer vocabulary"],
    answer: Int[Tensor, " answer"],
    chances: Sequence[Float[Tensor, " vocabulary"]] | None,
    names: Sequence[str],
    count: int,
) -> tuple[WrittenToken, ...]:
    """Log-probability, rank and the ``count`` most probable tokens at each place.

    ``chances`` are those that a strategy gave every token; None where it chose among whole texts.
    """
    logs = logits.double().log_softmax(dim=-1)
    entropies = torch.special.entr(logs.exp()).sum(dim=-1)
    described = []
    for place, token in enumerate(answer.tolist()):
        own = logs[place]
        row = None if chances is None else chances[place]
        top = own.topk(min(count, len(own))).indices.tolist()
        described.append(
            WrittenToken(
                float(own[token]),
                int((own > own[token]).sum()) + 1,
                sampling_chance(row, token),
                float(entropies[place]),
                tuple(
                    Alternative(names[other], other, float(own[other].exp()), sampling_chance(row, other))
                    for other in top
                ),
            )
        )
    return tuple(described)


def chances_of(
    scores: Sequence[Float[Tensor, "1 vocabulary"]], *, draws: bool
) -> list[Float[Tensor, " vocabulary"]]:
    """The chances of all tokens at each place, by the scores that a strategy made of the logits: their
    softmax where tokens are drawn, else certainty for the highest."""
    if draws:
        return [row[0].double().softmax(dim=-1) for row in scores]
    return [nn.functional.one_hot(row[0].argmax(), row.shape[1]).double() for row in scores]


def sampling_chance(chances: Float[Tensor, " vocabulary"] | None, token: int) -> float | None:
    """The probability with which a token would have been chosen."""
    return None if chances is None else float(chances[token])
