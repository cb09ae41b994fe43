"""What the rows of a head look like before one text: shares, places, breadth, and what the gradient says.

Weights count by their size: p_ij = |a_ij| / Σ_k |a_ik| are the shares of a row. Every statistic is a mean
over the rows of a text that it is defined for, kept as a sum and a count; nulls are those of uniform shares
over the keys that a row may look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from glasshead.arrays import Flags, Floats, Integers
from glasshead.audits.head_report.text_statistics import (
    ELSEWHERE,
    FIRST,
    IMAGE,
    OFFSETS,
    PROFILE_REACH,
    PUNCTUATION,
    SPECIAL,
)
from glasshead.audits.head_report.token_kinds import TokenTable
from glasshead.audits.head_report.views import START_TOKEN, AttentionView
from glasshead.data import Encoded
from glasshead.results import OFFSET
from glasshead.trace import unit_of_each, word_map


class RowSum(NamedTuple):
    """A sum over rows, by head [h], and over how many; the same of uniform attention, where that says
    something."""

    statistic: str
    against: str
    total: Float[Tensor, " h"]
    rows: Float[Tensor, " h"]
    null: Float[Tensor, " h"] | None = None


class UnitMeans(NamedTuple):
    """What each word or special token receives in the map between words, on average over heads and rows; the
    same of uniform attention. ``places`` are those of their first pieces."""

    places: Integers
    own: Float[Tensor, " w"]
    uniform: Float[Tensor, " w"]


class Rows(NamedTuple):
    """The rows of a view as shares, those of uniform attention over the same keys, which rows have any
    weight, and the tokens that are its keys."""

    view: AttentionView
    shares: Float[Tensor, "h q k"]
    uniform: Float[Tensor, "h q k"]
    real: Bool[Tensor, "h q"]
    keys: TextTokens

    @property
    def allowed(self) -> Bool[Tensor, "h q k"]:
        """Which keys a row with any weight may look at."""
        return self.view.allowed & self.real[..., None]


class TextTokens(NamedTuple):
    """The tokens of one text: their ids, words and kinds, which of them are special (those of an answer are
    none), and from which an answer is predicted; ``encoded`` knows where they stand. Parts of an image have
    ids of their own; ``adjacent`` ones share an edge."""

    ids: Integers
    words: Integers
    kinds: NDArray[np.object_]
    special: Flags
    asking: Flags
    encoded: Encoded
    adjacent: Flags | None


def text_tokens(encoded: Encoded, table: TokenTable, text: int) -> TextTokens:
    """The tokens of one of many texts."""
    keep = encoded.mask[text].numpy()
    ids, kinds = encoded.ids[text].numpy()[keep], table.kinds[text][keep]
    ids = np.where(kinds == IMAGE, -2 - np.arange(len(ids)), ids)
    asked = np.zeros(len(ids) + 1, dtype=bool)
    if encoded.question is not None:
        asked[:-1] = encoded.question[text].numpy()[keep] > 0
    words, answer = encoded.words[text][keep], asked[:-1] & (not encoded.asks_place)
    adjacent = encoded.adjacent_parts(text)
    return TextTokens(ids, words, kinds, (words < 0) & ~answer, asked[1:], encoded, adjacent)


def tokens_at(tokens: TextTokens, places: NDArray[np.int64]) -> TextTokens:
    """The tokens at these places; what a decoder begins with is a special token without an id."""
    start = places == START_TOKEN
    return TextTokens(
        np.where(start, -1, tokens.ids[places]),
        np.where(start, -1, tokens.words[places]),
        np.where(start, "start of the decoder", tokens.kinds[places]),
        start | tokens.special[places],
        ~start & tokens.asking[places],
        tokens.encoded,
        tokens.adjacent,
    )


def rows_as_shares(view: AttentionView) -> tuple[Float[Tensor, "h q k"], Bool[Tensor, "h q"]]:
    """p, and which rows have any weight; zeros in the others."""
    sizes = view.weights.abs().masked_fill(~view.allowed, 0.0)
    totals = sizes.sum(dim=-1, keepdim=True)
    return sizes / totals.masked_fill(totals == 0, 1.0), totals[..., 0] > 0


def row_sums(view: AttentionView, tokens: TextTokens) -> Iterator[RowSum | UnitMeans]:
    """Every statistic of a view."""
    shares, real = rows_as_shares(view)
    allowed = view.allowed & real[..., None]
    uniform = allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1)
    keys = tokens_at(tokens, view.keys)
    rows = Rows(view, shares, uniform, real, keys)
    masks = kind_masks(view, keys)
    for kind, mask in masks.items():
        at = torch.from_numpy(mask).to(shares.device)
        yield mean_over("share", kind, shares[..., at].sum(-1), real, uniform[..., at].sum(-1))
    yield from entropy_statistics(view, shares, allowed)
    if view.facts.within:
        yield from neighbour_shares(rows)
        if tokens.encoded.in_line:
            yield from image_sums(rows)
            yield from offset_shares(rows)
            yield from repeat_shares(rows)
            yield from row_sums_of_words(rows)
        else:
            yield mean_distance(rows)
    if view.gradient is not None:
        yield from gradient_sums(view, uniform, allowed, masks)


def mean_over(
    statistic: str, against: str, values: Tensor, rows: Bool[Tensor, "h q"], null: Tensor | None = None
) -> RowSum:
    """Numbers of rows [h, q], summed over some of the rows."""
    zero = values.new_zeros(())
    return RowSum(
        statistic,
        against,
        torch.where(rows, values, zero).sum(-1),
        rows.sum(-1).to(values),
        None if null is None else torch.where(rows, null.to(values), zero).sum(-1),
    )


def kind_masks(view: AttentionView, keys: TextTokens) -> dict[str, NDArray[np.bool_]]:
    """Which keys are of which kind: every special token by its name, all of them together, punctuation, and
    the first token of a causal text where that is a word."""
    special = keys.special
    masks = {kind: special & (keys.kinds == kind) for kind in dict.fromkeys(keys.kinds[special].tolist())}
    if len(masks) > 1:
        masks[SPECIAL] = special
    masks[PUNCTUATION] = keys.kinds == PUNCTUATION
    if view.facts.kind == "causal" and not special[0]:
        masks[FIRST] = np.arange(len(special)) == 0
    return masks


def entropy_statistics(
    view: AttentionView, shares: Float[Tensor, "h q k"], allowed: Bool[Tensor, "h q k"]
) -> Iterator[RowSum]:
    """H(p) / log n and exp H(p) of rows with n > 1 keys, and the standard deviation of their scores."""
    counts = allowed.sum(-1)
    rows = counts > 1
    sizes = counts.clamp(min=2).to(shares)
    entropy = torch.special.entr(shares).sum(-1)
    yield mean_over("entropy", "", entropy / sizes.log(), rows, torch.ones_like(entropy))
    yield mean_over("effective-tokens", "", entropy.exp(), rows, sizes)
    scores = view.scores.to(shares).masked_fill(~allowed, 0.0)
    means = scores.sum(-1, keepdim=True) / sizes[..., None]
    squares = (scores - means).square().masked_fill(~allowed, 0.0).sum(-1)
    yield mean_over("score-sd", "", (squares / sizes).sqrt(), rows)


def neighbour_shares(rows: Rows) -> Iterator[RowSum]:
    """Shares on the token that is next to the own in each direction, and on itself."""
    view, shares, uniform, real, keys = rows
    for name, neighbours in keys.encoded.neighbours(keys.words).items():
        at = np.flatnonzero(neighbours >= 0)
        sums, even, sees = (matrix[:, at, neighbours[at]] for matrix in (shares, uniform, view.allowed))
        yield mean_over(name, "", sums, real[:, at] & sees, even)


def offset_shares(rows: Rows) -> Iterator[RowSum]:
    """Shares p_{i,i+d} at each fixed offset d, and what the other rows that see these tokens give them: as
    much, if a head looks at a fixed token and not at a fixed distance."""
    shares, uniform, seen, n = rows.shares, rows.uniform, rows.allowed, rows.shares.shape[-1]
    keys = torch.arange(n, device=shares.device)[:, None] + torch.tensor(OFFSETS, device=shares.device)
    inside, at = (keys >= 0) & (keys < n), keys.clamp(0, n - 1)  # [q, offsets]
    own, even, sees = (one.gather(2, at.expand(len(one), -1, -1)) for one in (shares, uniform, seen))
    others = seen.sum(1)[:, at] - 1
    counted = sees & inside & (others > 0)
    elsewhere = (shares.sum(1)[:, at] - own) / others.clamp(min=1)
    own, even, elsewhere, counted = (one.transpose(1, 2) for one in (own, even, elsewhere, counted))
    for sums in (mean_over(OFFSET, "", own, counted, even), mean_over(ELSEWHERE, "", elsewhere, counted)):
        for place in sums.rows.any(dim=0).nonzero().flatten().tolist():
            null = None if sums.null is None else sums.null[:, place]
            yield RowSum(sums.statistic, str(OFFSETS[place]), sums.total[:, place], sums.rows[:, place], null)


def image_sums(rows: Rows) -> Iterator[RowSum]:
    """Shares on the parts of an image, of the rows of what is not part of it, and of those from which the
    answer is predicted; the spatial entropy of the first of these."""
    view, shares, uniform, real, keys = rows
    seen = torch.from_numpy(keys.kinds == IMAGE).to(shares.device)
    if not seen.any():
        return
    on, even = shares[..., seen].sum(-1), uniform[..., seen].sum(-1)
    words = real & ~seen & (view.allowed & seen).any(-1)
    yield mean_over("image", "", on, words, even)
    asking = torch.from_numpy(keys.asking).to(shares.device)
    answer = words & asking
    yield mean_over("image-answer", "", on, answer, even)
    first = asking.nonzero().flatten()[:1]
    if keys.adjacent is not None and len(keys.adjacent) == seen.sum() and len(first):
        maps = shares[:, first[0], seen].double().cpu().numpy()
        values = [spatial_entropy(own, keys.adjacent) for own in maps]
        yield mean_over("image-spread", "", torch.tensor(values).to(shares)[:, None], answer[:, first])


def spatial_entropy(weights: Floats, adjacent: Flags) -> float:
    """−Σ |C| log |C| over the connected pieces C of the parts of an image that have more than the mean, |C|
    as a share of these: 0 of one piece, log n where all of n parts have the same. ``adjacent`` [n, n] parts
    share an edge.

    Source: Kang et al. (2025), eq. 3.
    """
    above = np.flatnonzero(weights > weights.mean())
    if not len(above):
        return float(np.log(len(weights)))
    _, piece = connected_components(csr_array(adjacent[np.ix_(above, above)]), directed=False)
    sizes = np.bincount(piece) / len(above)
    return float(-(sizes * np.log(sizes)).sum())


def mean_distance(rows: Rows) -> RowSum:
    """Σ_j p_ij ‖x_i − x_j‖ / Σ_j p_ij over the units that stand somewhere; x are their places.

    Source: Dosovitskiy et al. (2021), Appendix D.7.
    """
    _, shares, uniform, real, keys = rows
    somewhere = keys.words >= 0
    distances = torch.from_numpy(keys.encoded.distances(keys.words)[somewhere][:, somewhere]).to(shares)
    own, even = (matrix.to(shares)[:, somewhere][..., somewhere] for matrix in (shares, uniform))
    totals = own.sum(-1)
    counted = real[:, somewhere] & (totals > 0)
    return mean_over(
        "mean-distance",
        "",
        (own * distances).sum(-1) / totals.where(counted, 1.0),
        counted,
        (even * distances).sum(-1) / even.sum(-1).where(counted, 1.0),
    )


def repeat_shares(rows: Rows) -> Iterator[RowSum]:
    """Shares on the same token elsewhere, and on what followed the same token before (A B … A → B: induction,
    Olsson et al. 2022); the profile of distances j − i, whose statistic is `distance` and whose `against` is
    the distance."""
    view, shares, uniform, real, keys = rows
    ids, word = (torch.from_numpy(part).to(shares.device) for part in (keys.ids, keys.words >= 0))
    same = (ids[:, None] == ids) & ~torch.eye(len(ids), dtype=torch.bool, device=ids.device) & word
    after = same.tril().roll(1, dims=-1)
    after[:, 0] = False
    for name, pairs in (("same-token", same), ("induction", after)):
        counted = real & (pairs & view.allowed).any(-1)
        yield mean_over(name, "", (shares * pairs).sum(-1), counted, (uniform * pairs).sum(-1))
    steps = torch.arange(len(ids), device=ids.device)
    bins = (steps - steps[:, None]).clamp(-PROFILE_REACH, PROFILE_REACH).flatten() + PROFILE_REACH
    heads = len(shares)
    profile = shares.new_zeros(heads, 2 * PROFILE_REACH + 1).index_add(1, bins, shares.flatten(1))
    for distance, total in enumerate(profile.T, start=-PROFILE_REACH):
        yield RowSum("distance", str(distance), total, real.sum(-1).to(shares))


def row_sums_of_words(rows: Rows) -> Iterator[RowSum | UnitMeans]:
    """The share of special tokens once the pieces of words are joined; what every one of them, and every
    word, receives there, which in causal models depends on how many rows see it."""
    view, shares, uniform, real, keys = rows
    special = keys.special
    if not special.any():
        return
    words = keys.words.tolist()
    between, even = word_map(shares, words), word_map(uniform.to(shares), words)
    present = word_map(real.to(shares)[..., None].expand_as(shares) / len(words), words).sum(-1) > 0.5
    first = np.unique(unit_of_each(words), return_index=True)[1]
    of_special = torch.from_numpy(special[first]).to(shares.device)
    yield mean_over("joined-share", SPECIAL, between[..., of_special].sum(-1), present)
    yield UnitMeans(view.keys[first], between[present].mean(0), even[present].mean(0))


def gradient_sums(
    view: AttentionView,
    uniform: Float[Tensor, "h q k"],
    allowed: Bool[Tensor, "h q k"],
    masks: dict[str, NDArray[np.bool_]],
) -> Iterator[RowSum]:
    """Shares of Σ|∂z/∂A| and Σ|A ∂z/∂A| on the keys of a kind; of the latter with uniform weights of the mass
    of each row instead of A, and the gradient of the model's own; and Σ A ∂z/∂A."""
    assert view.gradient is not None
    slopes = view.gradient.masked_fill(~allowed, 0.0)
    flow = view.weights * slopes
    even_flow = uniform * view.weights.abs().sum(-1, keepdim=True) * slopes
    for kind, mask in masks.items():
        at = torch.from_numpy(mask).to(slopes.device)
        for name, sizes in (
            ("gradient-share", slopes.abs()),
            ("relevance-share", flow.abs()),
            ("uniform-relevance", even_flow.abs()),
        ):
            pairs = allowed.sum((1, 2)).to(sizes).clamp(min=1)
            total = sizes.sum((1, 2))
            even = allowed[..., at].sum((1, 2)) / pairs * total
            yield RowSum(name, kind, sizes[..., at].sum((1, 2)), total, even)
    yield RowSum("gradient-importance", "", flow.sum((1, 2)), torch.ones_like(flow[:, 0, 0]))
