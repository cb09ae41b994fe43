"""Who may attend to whom, and where the tokens stand. True means: may attend."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glasshead.errors import InputError


@dataclass(frozen=True)
class Places:
    """Positions of real tokens, ``[b, queries]`` and ``[b, keys]`` (b is 1 where all sequences agree).

    ``start`` is the position of the first query where queries and keys are both consecutive and the first key
    has position 0: then the offset j − i is a band matrix and nothing has to be gathered. None otherwise.
    """

    query: Int[Tensor, "b queries"]
    key: Int[Tensor, "b keys"]
    start: int | None

    def offsets(self) -> Int[Tensor, "b 1 queries keys"]:
        """j − i for every pair: negative towards the past."""
        return (self.key[:, None, :] - self.query[:, :, None])[:, None]


@dataclass(frozen=True)
class Mask:
    """Padding ∧ pairs ∧ causality, none of them materialised before a kernel asks.

    ``padding`` [B, K] is true on real keys, ``pairs`` [B|1, H|1, Q, K] is any further pattern. ``at`` are the
    indices of the queries among the keys (self-attention, with a cache too); None means that queries and keys
    are different sequences, where neither causality nor a distance has a meaning.
    """

    queries: int
    keys: int
    padding: Bool[Tensor, "b keys"] | None = None
    pairs: Bool[Tensor, "b h queries keys"] | None = None
    causal: bool = False
    at: range | Int[Tensor, " queries"] | None = None

    @classmethod
    def of(cls, q: Tensor, k: Tensor, mask: Tensor | Mask | None = None, is_causal: bool = False) -> Mask:
        """What the caller gave, checked against q ``[B, H, Q, d]`` and k ``[B, H, K, d]``.

        A tensor is boolean: ``[B, K]`` for padding, or anything that broadcasts to ``[B, H, Q, K]``. Queries
        and keys of equal number are taken for one sequence.

        Raises:
            InputError: on another type or shape, and on a causal mask over two different lengths.
        """
        batch, heads, queries = q.shape[:3]
        keys = k.shape[2]
        if isinstance(mask, Mask):
            if (mask.queries, mask.keys) != (queries, keys):
                raise InputError(
                    f"the mask is for {mask.queries} queries and {mask.keys} keys, not {queries} and {keys}"
                )
            return replace(mask, causal=True) if is_causal else mask
        at = range(queries) if queries == keys else None
        if is_causal and at is None:
            raise InputError(
                f"is_causal needs as many queries as keys, not {queries} and {keys}: "
                "with a cache, pass Mask(queries, keys, causal=True, at=range(first, first + queries))"
            )
        made = cls(queries, keys, causal=is_causal, at=at)
        if mask is None:
            return made
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
            found = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
            raise InputError(
                f"a mask is a boolean tensor, true where a query may attend, not {found}: "
                "compare an additive mask with 0"
            )
        shape = tuple(mask.shape)
        if mask.ndim == 2:
            is_padding, is_pairs = shape == (batch, keys), shape == (queries, keys)
            if is_padding and is_pairs and batch > 1:
                raise InputError(
                    f"a mask of shape {shape} can be padding [batch, keys] or pairs [queries, keys]: "
                    "give mask[:, None, None, :] or mask[None, None]"
                )
            if is_padding:
                return replace(made, padding=mask)
            mask = mask[None, None] if is_pairs else mask
        allowed = zip(mask.shape, (batch, heads, queries, keys), strict=False)
        if mask.ndim != 4 or mask.shape[3] != keys or any(n not in (1, full) for n, full in allowed):
            raise InputError(
                f"a mask of shape {shape} does not fit [batch, heads, queries, keys] = "
                f"{[batch, heads, queries, keys]}, nor padding [batch, keys]"
            )
        if mask.shape[1] == mask.shape[2] == 1:
            return replace(made, padding=mask[:, 0, 0].expand(batch, keys))
        return replace(made, pairs=mask.expand(-1, -1, queries, keys))

    @property
    def everything(self) -> bool:
        """Whether every query may attend to every key."""
        return self.padding is None and self.pairs is None and not self.causal

    def rows(self, rows: slice | Int[Tensor, " rows"]) -> Mask:
        """The mask of some of the queries."""
        chosen = range(self.queries)[rows] if isinstance(rows, slice) else rows
        at: range | Tensor | None
        if self.at is None:
            at = None
        elif isinstance(self.at, range):
            at = self.at[rows] if isinstance(rows, slice) else self.at.start + rows
        else:
            at = self.at[rows]
        pairs = None if self.pairs is None else self.pairs[:, :, rows]
        return replace(self, queries=len(chosen), pairs=pairs, at=at)

    def index(self, device: torch.device) -> Int[Tensor, " queries"]:
        """Where the queries stand among the keys.

        Raises:
            InputError: if queries and keys are different sequences.
        """
        if self.at is None:
            raise InputError(
                "this mechanism needs to know where the queries stand among the keys: it is for "
                "self-attention (with a cache, pass Mask(…, at=range(first, first + queries)))"
            )
        if isinstance(self.at, range):
            return torch.arange(self.at.start, self.at.stop, device=device)
        return self.at.to(device)

    def allowed(self, device: torch.device) -> Bool[Tensor, "b h queries keys"]:
        """The whole mask, ``[1|B, 1|H, Q, K]``."""
        allowed = torch.ones(1, 1, self.queries, self.keys, dtype=torch.bool, device=device)
        if self.causal:
            allowed = (torch.arange(self.keys, device=device) <= self.index(device)[:, None])[None, None]
        if self.padding is not None:
            allowed = allowed & self.padding[:, None, None, :]
        return allowed if self.pairs is None else allowed & self.pairs

    def places(self, device: torch.device) -> Places:
        """Positions that count real tokens only, so that padding never shifts a distance.

        Padding at either end leaves every distance as it is; only holes between real tokens make positions
        differ from indices.
        """
        at = self.index(device)
        if self.padding is not None and has_holes(self.padding):
            key = self.padding.long().cumsum(dim=-1) - 1
            return Places(key[:, at], key, None)
        start = self.at.start if isinstance(self.at, range) else None
        return Places(at[None], torch.arange(self.keys, device=device)[None], start)


def has_holes(padding: Bool[Tensor, "b keys"]) -> bool:
    """Whether some sequence has padding between two real tokens."""
    starts = padding[:, 1:] & ~padding[:, :-1]
    return bool((starts.sum(dim=-1) + padding[:, 0] > 1).any())
