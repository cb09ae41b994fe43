"""What a head did before a text, one row at a time: its weights a, and T, which makes its output a T."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import LearnedQueryAttention
from glasshead.data import Encoded, batches, heads_of, longest
from glasshead.errors import InputError
from glasshead.identifiability.pooled import pooled_rows
from glasshead.identifiability.row_selection import NAMED, AttentionRow, Floats, RowSelector, weight_domain
from glasshead.models import EncodedClassifier, HierarchicalClassifier, PooledClassifier
from glasshead.trace import (
    KeyUnit,
    LayerRecord,
    TokenLayout,
    forward,
    list_attention_calls,
    record,
    token_layout,
)

__all__ = [
    "AttentionRow",
    "RowSelector",
    "attention_rows",
    "projected_values",
    "record_rows",
    "refuse_half",
    "row_index",
    "values_of",
    "weight_domain",
]

HALVES = (torch.float16, torch.bfloat16)


def attention_rows(
    model: PreTrainedModel, encoded: Encoded, where: RowSelector
) -> Iterator[list[AttentionRow]]:
    """Every chosen row of every chosen head before every text, in batches; long texts come first.

    Raises:
        InputError: if the model shows no attention, is in half precision, or has no such layer, head or row.
    """
    refuse_half(model)
    if isinstance(model, PooledClassifier):
        yield from pooled_rows(model, encoded, where)
        return
    only = [0] if where.named in ("first", "pooled") else None
    for batch in record_rows(model, encoded, where, only):
        yield [
            each
            for seen, seats, places in batch
            for each in rows_of(seen, seats, places, where, has_learned_query(model, seen))
        ]


def record_rows(
    model: PreTrainedModel, encoded: Encoded, where: RowSelector, rows: list[int] | None
) -> Iterator[list[tuple[LayerRecord, TokenLayout, list[int]]]]:
    """The chosen layers of every batch of texts, with how each sees the texts and which texts they are.

    Raises:
        InputError: as `check`.
    """
    chosen = check(model, encoded, where)
    maps = heads_of(model.config) * len(chosen)
    for places, inputs in batches(encoded, device=model.device, maps=maps):
        with torch.no_grad(), record(model, list(chosen), where.heads, rows) as trace:
            forward(model, inputs, rows="mean")
        yield [
            (seen, token_layout(model, inputs, chosen[seen.layer]), places.tolist()) for seen in trace.only
        ]


def refuse_half(model: PreTrainedModel) -> None:
    """Raise InputError if the values of the model are too coarse to have a rank."""
    if next(model.parameters()).dtype in HALVES:
        raise InputError(
            "the model is in half precision, whose rounding hides the rank of its values: call model.float()"
        )


def check(model: PreTrainedModel, encoded: Encoded, where: RowSelector) -> dict[int, KeyUnit]:
    """The chosen layers, with what a key of each is; whatever does not exist is refused."""
    inputs = longest(encoded, model.device)
    found = list_attention_calls(model, inputs)
    for layer in where.layers or ():
        if not 0 <= layer < len(found):
            raise InputError(f"there is no attention layer {layer}: they are numbered 0 to {len(found) - 1}")
    chosen = [each for each in found if where.layers is None or each.layer in where.layers]
    for seen in chosen:
        weight_domain(seen.call.mechanism)
        heads = seen.call.q.shape[1]
        for head in where.heads or ():
            if not 0 <= head < heads:
                raise InputError(
                    f"layer {seen.layer} ({seen.name}) has no head {head}: they are numbered 0 to {heads - 1}"
                )
    most = max((seen.call.q.shape[2] for seen in chosen), default=0)
    for row in where.rows if isinstance(where.rows, tuple) else ():
        if not 0 <= row < most:
            raise InputError(f"no text has a row {row}: the longest has rows 0 to {most - 1}")
    units = {each.layer: unit(model, each) for each in chosen}
    for seen in chosen:
        if where.named == "pooled" and not has_learned_query(model, seen):
            raise InputError(
                f"layer {seen.layer} ({seen.name}) has no learned query: choose the rows cls, last or all"
            )
        if units[seen.layer] == "token" and seen.call.k.shape[2] != inputs["input_ids"].shape[1]:
            raise InputError(
                f"layer {seen.layer} ({seen.name}) does not read the tokens of the text: choose other layers"
            )
    return units


def unit(model: PreTrainedModel, seen: LayerRecord) -> KeyUnit:
    """What a key of a call is."""
    if isinstance(model, HierarchicalClassifier):
        return "sentence" if seen.name.startswith("sentences.") else "packed"
    return "packed" if isinstance(model, EncodedClassifier) and model.texts > 1 else "token"


def has_learned_query(model: PreTrainedModel, seen: LayerRecord) -> bool:
    """Whether the one query of a call is a parameter of the model, and no token."""
    return isinstance(dict(model.named_modules()).get(seen.name), LearnedQueryAttention)


def rows_of(
    seen: LayerRecord, where: TokenLayout, places: Sequence[int], chosen: RowSelector, learned: bool
) -> Iterator[AttentionRow]:
    """The chosen rows of a recorded layer; a text that is too short for a row goes without it."""
    call = seen.call
    kind, own = weight_domain(call.mechanism), call.mechanism.position.changes_output
    weights, allowed, scores = (
        each.detach().cpu().double().numpy() for each in (seen.weights, seen.allowed, seen.scores)
    )
    values, width = projected_values(seen.v, seen.projection)
    real, text, part, token = row_index(where)
    of_query: dict[int, tuple[Floats, Floats]] = {}
    own_slopes = call.mechanism.position.needs_positions
    # Rows that see the same keys share their arrays: of n rows a map would be held n times.
    shared: dict[tuple[int, int, int, bytes], tuple[Floats, Floats]] = {}
    for r in np.flatnonzero(real.any(axis=1)):
        for query in queries(chosen.rows, weights.shape[2], real[r]):
            if query not in of_query:
                mine = projected_values(values_of(seen, query), seen.projection)[0] if own else values
                moves = (
                    score_jacobian(seen, query)
                    if own_slopes or not of_query
                    else next(iter(of_query.values()))[1]
                )
                of_query[query] = mine, moves
            T, slope = of_query[query]
            for h, head in enumerate(seen.heads):
                keys = (allowed[r, h, query] > 0) & real[r]
                if not keys.any():
                    continue
                same = int(r), h, query if own or own_slopes else -1, keys.tobytes()
                if same not in shared:
                    shared[same] = T[r, h, keys], slope[r, h, keys]
                yield AttentionRow(
                    text=places[text[r]],
                    layer=seen.layer,
                    name=seen.name,
                    head=head,
                    row=query,
                    part=int(part[r]),
                    keys=token[r][keys],
                    weights=weights[r, h, query, keys],
                    T=shared[same][0],
                    kind=kind,
                    width=width,
                    eps=float(torch.finfo(call.v.dtype).eps),
                    projected=seen.projection is not None,
                    scores=scores[r, h, query, keys],
                    slopes=shared[same][1],
                    activation=call.mechanism.activation,
                    learned=learned,
                )


def queries(rows: str | tuple[int, ...], count: int, real: NDArray[np.bool_]) -> list[int]:
    """The numbers of the chosen rows of one text, of which ``count`` were recorded."""
    there = np.flatnonzero(real) if count > 1 else np.array([0])  # a learned query, or the first alone
    if isinstance(rows, tuple):
        return [row for row in rows if row in there]
    return {"first": [0], "pooled": [0], "last": there[-1:].tolist(), "all": there.tolist()}[NAMED[rows]]


def row_index(
    where: TokenLayout,
) -> tuple[NDArray[np.bool_], list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Of each row of a batch of keys: which keys there are, whose text it is, its number in the text, and
    which token (or sentence) each key is."""
    mask = where.mask.cpu().numpy()
    if where.segments is None or where.keys_are_segments:
        numbers = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
        return mask, list(range(len(mask))), np.zeros(len(mask), dtype=np.int64), numbers
    tokens = torch.arange(where.real.shape[1], device=where.real.device).expand(where.real.shape)
    packed = where.segments.pack(tokens[..., None].double())[..., 0].long().cpu().numpy()
    return mask, where.segments.text.tolist(), where.segments.number.cpu().numpy(), packed


def projected_values(
    v: Float[Tensor, "b h k d_v"], projection: Float[Tensor, "h d_v d_e"] | None
) -> tuple[Floats, int]:
    """T = V D [b, h, k, r] in an orthonormal basis of the rows of D, and d_e; V itself where there is no D.

    With Dᵀ = Q R, T = V Rᵀ Qᵀ has the singular values and the left null space of V Rᵀ.
    """
    values = v.detach().double()
    if projection is None:
        return values.cpu().numpy(), v.shape[-1]
    factor = torch.linalg.qr(projection.detach().double().transpose(-1, -2)).R
    return (values @ factor.transpose(-1, -2)).cpu().numpy(), projection.shape[-1]


@torch.no_grad()
def values_of(seen: LayerRecord, query: int) -> Float[Tensor, "b h k d_v"]:
    """What each key adds to the output of a row at weight 1, where that depends on the row (Shaw et al.)."""
    call = seen.call.rows(torch.tensor([query], device=seen.call.q.device))
    v, places = call.expanded()[1], call.token_positions()
    outputs = []
    for key in range(v.shape[2]):
        weights = v.new_zeros(*v.shape[:2], 1, v.shape[2])
        weights[..., key] = 1.0
        outputs.append(call.mechanism.position.output(weights, v, places)[:, :, 0])
    return seen.pick(torch.stack(outputs, dim=2))


@torch.no_grad()
def score_jacobian(seen: LayerRecord, query: int) -> Floats:
    """∂s/∂q [b, h, k, d_k] of one row: scale · K for dot products, else by forward derivatives along each
    axis of q."""
    mechanism = seen.call.mechanism
    if not mechanism.position.needs_positions:
        return (seen.k.double() * seen.call.scale).cpu().numpy()
    call = seen.call.rows(torch.tensor([query], device=seen.call.q.device))

    def scores(q: Tensor) -> Tensor:
        return mechanism.scores(replace(call, q=q))

    axes = torch.eye(call.q.shape[-1], dtype=call.q.dtype, device=call.q.device)
    along = [torch.func.jvp(scores, (call.q,), (axis.expand_as(call.q),))[1][:, :, 0] for axis in axes]
    return seen.pick(torch.stack(along, dim=-1)).double().cpu().numpy()
