"""Maps between words, from maps between tokens."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.errors import InputError


def word_map(weights: Float[Tensor, "*h q k"], words: Sequence[int]) -> Float[Tensor, "*h w w"]:
    """The attention between words: Ã_st = 1/a Σ_i Σ_j A_{s_i t_j}, s having a pieces.

    Attention *to* a divided word is the sum over its pieces, attention *from* it the mean, so that every
    row sums to the mean of its pieces' row sums, which is one if theirs are. ``words`` is the word of each
    token; a special token (word −1) is a word.

    Raises:
        InputError: if a query or key has no word.

    Source: Clark et al. (2019), section 4.1.
    """
    if tuple(weights.shape[-2:]) != (len(words), len(words)):
        size = " × ".join(map(str, weights.shape[-2:]))
        raise InputError(f"a map of {size} tokens needs a word for each of them, not {len(words)} words")
    return word_means(word_sums(weights, words), words)


def word_sums(weights: Float[Tensor, "*h q k"], words: Sequence[int]) -> Float[Tensor, "*h q w"]:
    """The sum over the pieces of each attended word."""
    return weights @ word_members(words, weights)


def word_means(weights: Float[Tensor, "*h q k"], words: Sequence[int]) -> Float[Tensor, "*h w k"]:
    """The mean over the pieces of each querying word."""
    members = word_members(words, weights)
    return (members / members.sum(dim=0)).T @ weights


def word_members(words: Sequence[int], like: Tensor) -> Float[Tensor, "k w"]:
    """1 where a token is a piece of a word, in order of the words; 0 elsewhere."""
    units = unit_of_each(words)
    return torch.nn.functional.one_hot(
        torch.tensor(units, dtype=torch.long, device=like.device), max(units, default=-1) + 1
    ).to(like.dtype)


def word_pieces(words: Sequence[Sequence[int]], size: int) -> Bool[Tensor, "r w k"]:
    """Which tokens are the pieces of each word of several texts; a word has the place of its first token,
    and other places have no pieces. Each token beyond ``words`` is a word, up to ``size``."""
    pieces = torch.zeros(len(words), size, size, dtype=torch.bool)
    for text, own in enumerate(words):
        first: dict[int, int] = {}
        for place, unit in enumerate(unit_of_each([*own[:size], *[-1] * (size - len(own))])):
            pieces[text, first.setdefault(unit, place), place] = True
    return pieces


def unit_of_each(words: Sequence[int]) -> list[int]:
    """The number of the word that each token is a piece of, counted from 0; special tokens count too."""
    units: list[int] = []
    for place, word in enumerate(words):
        begins = place == 0 or word == -1 or word != words[place - 1]
        units.append((units[-1] if units else -1) + begins)
    return units
