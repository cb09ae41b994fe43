"""Who may attend to whom, and where the tokens stand. True means: may attend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glasshead.errors import InputError


@dataclass(frozen=True)
class TokenPositions:
    """Positions of real tokens, ``[b, queries]`` and ``[b, keys]`` (b is 1 where all sequences agree).

    ``start`` is the position of the first query, if queries and keys are consecutive and the first key has
    position 0. Then the offset j − i is a band matrix, and nothing has to be gathered. None otherwise.
    """

    query: Int[Tensor, "b queries"]
    key: Int[Tensor, "b keys"]
    start: int | None

    def offsets(self) -> Int[Tensor, "b 1 queries keys"]:
        """j − i for every pair: negative towards the past."""
        return (self.key[:, None, :] - self.query[:, :, None])[:, None]


@dataclass(frozen=True)
class Mask:
    """Padding ∧ pairs ∧ causality, materialised only when a kernel needs it.

    ``padding`` [B, K] is true on real keys, ``attn_mask`` [B|1, H|1, Q, K] is any further pattern.
    ``query_positions`` are the indices of the queries among the keys (self-attention, with a cache too); None
    means that queries and keys are different sequences, where neither causality nor a distance has a meaning.
    The values of such a tensor are checked only where this needs no round trip to a GPU.

    ``count_padding`` says whether positions have to be counted, because there is padding between real tokens;
    None finds out when needed. A call finds out once (`with_position_policy`), and its blocks reuse the
    answer.
    """

    queries: int
    keys: int
    padding: Bool[Tensor, "b keys"] | None = None
    attn_mask: Bool[Tensor, "#b #h queries keys"] | None = None
    causal: bool = False
    query_positions: range | Int[Tensor, " queries"] | None = None
    count_padding: bool | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.padding is not None:
            check_boolean(self.padding)
            if self.padding.ndim != 2 or self.padding.shape[1] != self.keys:
                raise InputError(f"padding must be [batch, {self.keys}], not {list(self.padding.shape)}")
        if self.attn_mask is not None:
            check_boolean(self.attn_mask)
            if self.attn_mask.ndim != 4 or self.attn_mask.shape[2:] != (self.queries, self.keys):
                raise InputError(
                    f"attn_mask is [batch, heads, {self.queries}, {self.keys}], "
                    f"not {list(self.attn_mask.shape)}"
                )
        if self.query_positions is not None:
            check_query_positions(self.query_positions, self.queries, self.keys)
        if self.span is not None and (self.span[0] < 0 or self.span[1] >= self.keys):
            raise InputError(f"the queries are at {self.query_positions}, outside the {self.keys} keys")
        if self.causal and self.query_positions is None:
            raise InputError(
                "a causal mask needs the positions of the queries among the keys: "
                "pass glasshead.Mask(queries, keys, causal=True, "
                "query_positions=range(first, first + queries))"
            )

    @classmethod
    def of(cls, q: Tensor, k: Tensor, mask: Tensor | Mask | None = None, is_causal: bool = False) -> Mask:
        """The caller's mask, checked against q ``[B, H, Q, d]`` and k ``[B, H, K, d]``.

        A tensor is boolean: padding is ``[B, K]`` or ``[B|1, 1, 1, K]``; pairs are ``[Q, K]`` or anything
        that broadcasts to ``[B, H, Q, K]``. If there are as many queries as keys, they are one sequence.

        Raises:
            InputError: on another type, shape or device, and on a causal mask over two different lengths.
        """
        batch, heads, queries = q.shape[:3]
        keys = k.shape[2]
        if isinstance(mask, Mask):
            if (mask.queries, mask.keys) != (queries, keys):
                raise InputError(
                    f"the mask is for {mask.queries} queries and {mask.keys} keys, not {queries} and {keys}"
                )
            for part, full in ((mask.padding, [batch]), (mask.attn_mask, [batch, heads])):
                if part is not None:
                    check_device(part, q.device)
                    built = list(part.shape[: len(full)])
                    if not fits(built, full):
                        raise InputError(f"the mask is for [batch, heads] = {built}, not {full}")
            return replace(mask, causal=True) if is_causal else mask
        at = range(queries) if queries == keys else None
        if is_causal and at is None:
            raise InputError(
                f"is_causal needs as many queries as keys, not {queries} and {keys}: with a cache, pass "
                "glasshead.Mask(queries, keys, causal=True, query_positions=range(first, first + queries))"
            )
        unmasked = cls(queries, keys, causal=is_causal, query_positions=at)
        if mask is None:
            return unmasked
        check_boolean(mask)
        check_device(mask, q.device)
        shape = tuple(mask.shape)
        if mask.ndim == 2:
            is_padding, is_pairs = shape == (batch, keys), shape == (queries, keys)
            if is_padding and is_pairs and batch > 1:
                raise InputError(
                    f"a mask of shape {shape} can be padding [batch, keys] or pairs [queries, keys]: "
                    "give mask[:, None, None, :] or mask[None, None]"
                )
            if is_padding:
                return replace(unmasked, padding=mask)
            mask = mask[None, None] if is_pairs else mask
        if mask.ndim != 4 or not fits(mask.shape, (batch, heads, queries, keys)):
            raise InputError(
                f"a mask of shape {shape} does not fit [batch, heads, queries, keys] = "
                f"{[batch, heads, queries, keys]}, nor padding [batch, keys]"
            )
        if mask.shape[1] == mask.shape[2] == 1:
            return replace(unmasked, padding=mask[:, 0, 0].expand(batch, keys))
        return replace(unmasked, attn_mask=mask.expand(-1, -1, queries, keys))

    @property
    def span(self) -> tuple[int, int] | None:
        """The first and the last position of any query; None if they are not a range, or none."""
        if not isinstance(self.query_positions, range) or self.queries == 0:
            return None
        at = self.query_positions
        ends = at.start, at.start + at.step * (self.queries - 1)
        return min(ends), max(ends)

    @property
    def first(self) -> int | None:
        """The position of the first query where the queries are consecutive; None where they are not."""
        at = self.query_positions
        return at.start if isinstance(at, range) and at.step == 1 else None

    @property
    def is_full(self) -> bool:
        """Whether every query may attend to every key."""
        return self.padding is None and self.attn_mask is None and not self.causal

    def rows(self, rows: slice | Int[Tensor, " rows"]) -> Mask:
        """The mask of some of the queries."""
        numbers = range(self.queries)[rows] if isinstance(rows, slice) else rows
        at: range | Tensor | None
        if self.query_positions is None:
            at = None
        elif isinstance(self.query_positions, range):
            at = (
                self.query_positions[rows]
                if isinstance(rows, slice)
                else self.query_positions.start + self.query_positions.step * rows
            )
        else:
            at = self.query_positions[rows]
        pairs = None if self.attn_mask is None else self.attn_mask[:, :, rows]
        return replace(self, queries=len(numbers), attn_mask=pairs, query_positions=at)

    def index(self, device: torch.device) -> Int[Tensor, " queries"]:
        """The positions of the queries among the keys, as a tensor; raises as `row_index`."""
        at = self.query_positions_or_raise()
        if isinstance(at, range):
            return torch.arange(self.queries, device=device) * at.step + at.start
        return at.to(device)

    def query_positions_or_raise(self) -> range | Int[Tensor, " queries"]:
        """The positions of the queries among the keys, as given.

        Raises:
            InputError: if queries and keys are different sequences.
        """
        if self.query_positions is None:
            raise InputError(
                "this mechanism needs the positions of the queries among the keys: it is for "
                "self-attention (with a cache, pass glasshead.Mask(…, query_positions=range(first, "
                "first + queries))); in cross-attention use one without a position"
            )
        return self.query_positions

    def allowed(self, device: torch.device) -> Bool[Tensor, "b h queries keys"]:
        """The whole mask, ``[1|B, 1|H, Q, K]``."""
        allowed = torch.ones(1, 1, self.queries, self.keys, dtype=torch.bool, device=device)
        if self.causal:
            allowed = (torch.arange(self.keys, device=device) <= self.index(device)[:, None])[None, None]
        if self.padding is not None:
            allowed = allowed & self.padding[:, None, None, :]
        return allowed if self.attn_mask is None else allowed & self.attn_mask

    def with_position_policy(self, reach: int | None = None) -> Mask:
        """A copy of the mask that knows whether its positions have to be counted, and so do its copies.

        With more keys than ``reach`` they are always counted, so that padding is no farther away than real
        tokens are. A compiler cannot find out, so it counts.
        """
        if self.padding is None:
            return self
        far = reach is not None and self.keys > reach
        return replace(self, count_padding=far or has_holes(self.padding))

    def max_span(self) -> int:
        """The largest number of real tokens between a query and a key, both included.

        Padding does not count, nor does the unfilled part of a cache.
        """
        last = self.span[1] if self.causal and self.span is not None else self.keys - 1
        if self.padding is None and self.attn_mask is None and isinstance(self.query_positions, range):
            return last + 1
        known = next(
            (
                part
                for part in (self.padding, self.attn_mask, self.query_positions)
                if isinstance(part, Tensor)
            ),
            None,
        )
        device = torch.device("cpu") if known is None else known.device
        index, keys = self.index(device), torch.arange(self.keys, device=device)
        real = torch.ones_like(keys[None], dtype=torch.bool) if self.padding is None else self.padding
        visible = real
        if self.causal and self.queries:
            visible = visible & (keys <= index.max())
        if self.attn_mask is not None:
            visible = visible & self.attn_mask.any(dim=2).any(dim=1).index_fill(1, index, True)
        place = real.cumsum(dim=-1).expand(visible.shape)
        most = place.masked_fill(~visible, 0).amax(dim=-1)
        least = place.masked_fill(~visible, self.keys).amin(dim=-1)
        return max([0, *(most - least + 1).tolist()])

    def token_positions(self, device: torch.device) -> TokenPositions:
        """Positions that count real tokens only, so that padding never shifts a distance.

        Padding at either end leaves every distance as it is; only holes between real tokens make positions
        differ from indices.
        """
        at = self.index(device)
        if self.padding is not None and (
            has_holes(self.padding) if self.count_padding is None else self.count_padding
        ):
            key = self.padding.long().cumsum(dim=-1) - 1
            return TokenPositions(key[:, at], key, None)
        return TokenPositions(at[None], torch.arange(self.keys, device=device)[None], self.first)


def count(at: range | Tensor) -> int:
    """How many positions there are; the length of a range of unknown size stays readable for a compiler."""
    return max(0, -(-(at.stop - at.start) // at.step)) if isinstance(at, range) else at.shape[0]


def check_query_positions(at: object, queries: int, keys: int) -> None:
    """Raise InputError unless these are positions of so many queries among so many keys."""
    if isinstance(at, Tensor) and at.ndim == 1 and at.dtype in (torch.int32, torch.int64):
        asks = at.device.type == "cpu" and not torch.compiler.is_compiling() and len(at) > 0 < keys
        if asks and not 0 <= int(at.min()) <= int(at.max()) < keys:
            raise InputError(
                f"the queries are at {int(at.min())} to {int(at.max())}, outside the {keys} keys"
            )
    elif not isinstance(at, range):
        kind = f"{at.dtype} {list(at.shape)}" if isinstance(at, Tensor) else type(at).__name__
        raise InputError(
            f"query_positions is a range or an integer tensor [{queries}] with the places of the queries, "
            f"not {kind}: give range(first, first + queries) or torch.tensor([…])"
        )
    if count(at) != queries:
        raise InputError(f"query_positions has {count(at)} positions for {queries} queries")


def has_holes(padding: Bool[Tensor, "b keys"]) -> bool:
    """Whether some sequence has padding between two real tokens; a compiler cannot ask, and hears yes."""
    if torch.compiler.is_compiling():
        return True
    starts = padding[:, 1:] & ~padding[:, :-1]
    return bool((starts.sum(dim=-1) + padding[:, :1].sum(dim=-1) > 1).any())


def check_boolean(mask: object) -> None:
    """Raise InputError unless this is a boolean tensor."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        advice = "compare an additive mask with 0"
        if isinstance(mask, Tensor) and not mask.is_floating_point():
            advice = "make it one with .bool()"
        raise InputError(
            f"a mask must be a boolean tensor, true where a query may attend, not {kind}: {advice}"
        )


def check_device(mask: Tensor, device: torch.device) -> None:
    """Raise InputError unless the mask is where the queries are."""
    if mask.device != device:
        raise InputError(
            f"the mask is on {mask.device} and the queries on {device}: move it with .to({str(device)!r})"
        )


def fits(shape: Sequence[int], full: Sequence[int]) -> bool:
    """Whether a shape broadcasts to another of as many dimensions."""
    return all(n in (1, whole) for n, whole in zip(shape, full, strict=True))
