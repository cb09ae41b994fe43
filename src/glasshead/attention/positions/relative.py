"""Functions of the offset j − i between two tokens, laid out as the queries × keys matrix of a block.

Where queries and keys are consecutive, the offset is constant along diagonals, and a matrix of diagonals is a
skewed view of rows that run over the offsets: nothing is indexed. The *line* of a block is all its offsets,
from its last query to its first key up to its first query to its last key.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from glasshead.attention.mask import TokenPositions


def require_positions(positions: TokenPositions | None) -> TokenPositions:
    """Places that have to be there."""
    if positions is None:
        raise TypeError("this mechanism needs the positions of the tokens")
    return positions


def offset_range(start: int, queries: int, keys: range, device: torch.device) -> Int[Tensor, " offsets"]:
    """Every offset j − i of the queries from ``start`` on and some consecutive keys, and one more.

    The last entry belongs to no pair: `skew` needs a spare one.
    """
    return torch.arange(keys.start - start - queries + 1, keys.stop - start + 1, device=device)


def skew(rows: Float[Tensor, "*head queries offsets"]) -> Float[Tensor, "*head queries keys"]:
    """M_qk = rows_q,(k − q + queries − 1): from the offsets of a line to the keys of a block."""
    queries, length = rows.shape[-2:]
    if queries == 0:
        return rows
    # Read with one entry less to a row, each row begins one entry earlier than the last.
    flat = rows.flatten(-2)[..., : queries * (length - 1)]
    return flat.unflatten(-1, (queries, length - 1))[..., queries - 1 :]


def unskew(block: Float[Tensor, "*head queries keys"]) -> Float[Tensor, "*head queries offsets"]:
    """The inverse of `skew`: rows_q,(k − q + queries − 1) = M_qk, and 0 where a line has no such key."""
    queries, keys = block.shape[-2:]
    if queries == 0:
        return block
    flat = pad(pad(block, (queries - 1, 0)).flatten(-2), (0, queries))
    return flat.unflatten(-1, (queries, queries + keys))


def max_distance(positions: TokenPositions) -> int:
    """One more than the largest distance that can occur."""
    return positions.key.shape[1] + 1  # padding before the first real token stands at −1


def by_distance(
    function: Callable[[Int[Tensor, " n"]], Float[Tensor, "h n"]], positions: TokenPositions
) -> Float[Tensor, "b h queries keys"]:
    """A function of the distance, one for each head, for every pair."""
    queries, keys = positions.query.shape[1], positions.key.shape[1]
    if positions.start is None:
        distances = positions.offsets()[:, 0].abs()
        table = function(torch.arange(max_distance(positions), device=distances.device))
        return table.index_select(1, distances.flatten()).unflatten(1, distances.shape).transpose(0, 1)
    along = function(offset_range(positions.start, queries, range(keys), positions.key.device).abs())
    return skew(along[:, None].expand(-1, queries, -1))[None]


def offset_of(positions: TokenPositions) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """(batch, query index, key index) → j − i, elementwise, for a score change of flex attention."""
    query, key, start = positions.query, positions.key, positions.start
    if start is not None:
        return lambda batch, query_index, key_index: key_index - query_index - start
    if key.shape[0] == 1:
        return lambda batch, query_index, key_index: key[0, key_index] - query[0, query_index]
    return lambda batch, query_index, key_index: key[batch, key_index] - query[batch, query_index]
