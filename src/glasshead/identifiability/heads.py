"""What a head did before a text, one row at a time: its weights a, and T, which makes its output a T."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import Mechanism
from glasshead.attention.activation import Activation
from glasshead.attention.pooling import AttentionPooling
from glasshead.data.encode import Encoded
from glasshead.errors import InputError
from glasshead.feasible import RANGES, Intervals, intervals
from glasshead.models import EncodedClassifier, HierarchicalClassifier, PooledClassifier
from glasshead.reading.batches import batches, heads_of
from glasshead.reading.layout import Layout, layout
from glasshead.reading.place import Unit, calls, forward
from glasshead.trace import LayerRecord, record

Floats = NDArray[np.float64]
HALVES = (torch.float16, torch.bfloat16)
NAMED = {"cls": "first", "first": "first", "last": "last", "pooled": "pooled", "all": "all"}


@dataclass(frozen=True)
class Where:
    """Which heads and rows are read; None: all layers, all heads.

    ``rows`` is "first" (or "cls"), "last", "pooled" (the one row of a learned query), "all", or numbers.
    """

    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    rows: str | tuple[int, ...] = "first"

    def __post_init__(self) -> None:
        if isinstance(self.rows, str) and self.rows not in NAMED:
            raise InputError(f"unknown rows {self.rows!r}: choose from {', '.join(NAMED)}, or give numbers")

    @property
    def named(self) -> str | None:
        """The one row that is meant by name."""
        return NAMED[self.rows] if isinstance(self.rows, str) else None


@dataclass(frozen=True)
class HeadRow:
    """One row of one head before one text: a [n] over the keys that it may attend to, and T [n, d].

    T = V D is given in an orthonormal basis of the rows of D (no singular value changes by that), or is V
    where no single linear map reads the head (``projected`` is false). ``width`` is d_e, ``eps`` the machine
    epsilon of the type in which V was computed; all numbers are float64. ``keys`` are the tokens that the
    keys are, or the sentences. ``slopes`` [n, d_k] is ∂s/∂q, None where there is no query; ``part`` numbers
    the texts of a pair and the sentences of a document that attend to themselves alone.
    """

    text: int
    layer: int
    name: str
    head: int
    row: int
    part: int
    keys: NDArray[np.int64]
    weights: Floats
    T: Floats
    kind: str
    width: int
    eps: float
    projected: bool
    scores: Floats
    slopes: Floats | None
    activation: Activation

    @property
    def sums_to_one(self) -> bool:
        """Whether every row that the activation can produce does."""
        return RANGES[self.kind].sums_to_one

    def intervals(self, tolerance: float = 0.0, functions: Floats | None = None) -> Intervals:
        """The interval of each weight, or of sums of them (`glasshead.feasible.intervals`)."""
        return intervals(
            self.T,
            self.weights,
            kind=self.kind,
            width=self.width,
            eps=self.eps,
            tolerance=tolerance,
            functions=functions,
        )


def kind_of(mechanism: Mechanism) -> str:
    """What the weights of a mechanism can be, as `glasshead.feasible.RANGES` names it.

    Raises:
        InputError: where weights are changed after the activation: their rows have no such form.
    """
    if mechanism.position.changes_weights:
        raise InputError(
            f"{mechanism.name} changes the weights after its activation, so which weights it can produce has "
            "no simple form: intervals are known for early adjustments only"
        )
    return kind_of_activation(mechanism.activation, mechanism.signed)


def kind_of_activation(activation: Activation, signed: bool) -> str:
    """The same for an activation alone; ``signed`` is false where no score is negative."""
    if activation.rows_sum_to_one and not signed:
        return "simplex"
    if signed:
        return "cross" if activation.normalised else "any"
    return "below-one" if activation.normalised else "nonnegative"


def head_rows(model: PreTrainedModel, encoded: Encoded, where: Where) -> Iterator[list[HeadRow]]:
    """Every chosen row of every chosen head before every text, in batches; long texts come first.

    Raises:
        InputError: if the model shows no attention, is in half precision, or has no such layer, head or row.
    """
    refuse_half(model)
    if isinstance(model, PooledClassifier):
        yield from pooled_rows(model, encoded, where)
        return
    chosen = check(model, encoded, where)
    maps = heads_of(model.config) * len(chosen)
    only = [0] if where.named in ("first", "pooled") else None
    for places, inputs in batches(encoded, device=model.device, maps=maps):
        with torch.no_grad(), record(model, list(chosen), where.heads, only) as trace:
            forward(model, inputs, rows="mean")
        yield [
            each
            for seen in trace.only
            for each in rows_of(seen, layout(model, inputs, chosen[seen.layer]), places.tolist(), where)
        ]


def refuse_half(model: PreTrainedModel) -> None:
    """Raise InputError if the values of the model are too coarse to have a rank."""
    if next(model.parameters()).dtype in HALVES:
        raise InputError(
            "the model is in half precision, whose rounding hides the rank of its values: call model.float()"
        )


def check(model: PreTrainedModel, encoded: Encoded, where: Where) -> dict[int, Unit]:
    """The chosen layers, with what a key of each is; whatever does not exist is refused."""
    longest = encoded.mask.sum(dim=1).argmax()[None] if len(encoded.ids) else slice(0)
    found = calls(model, encoded.inputs(longest, model.device))
    for layer in where.layers or ():
        if not 0 <= layer < len(found):
            raise InputError(f"there is no attention layer {layer}: they are numbered 0 to {len(found) - 1}")
    chosen = [each for each in found if where.layers is None or each.layer in where.layers]
    for seen in chosen:
        kind_of(seen.call.mechanism)
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
        if units[seen.layer] == "token" and seen.call.k.shape[2] != encoded.ids[longest].shape[1]:
            raise InputError(
                f"layer {seen.layer} ({seen.name}) does not read the tokens of the text: choose other layers"
            )
    return units


def unit(model: PreTrainedModel, seen: LayerRecord) -> Unit:
    """What a key of a call is."""
    if isinstance(model, HierarchicalClassifier):
        return "sentence" if seen.name.startswith("sentences.") else "packed"
    return "packed" if isinstance(model, EncodedClassifier) and model.texts > 1 else "token"


def rows_of(seen: LayerRecord, where: Layout, places: Sequence[int], chosen: Where) -> Iterator[HeadRow]:
    """The chosen rows of a recorded layer; a text that is too short for a row goes without it."""
    call = seen.call
    kind, own = kind_of(call.mechanism), call.mechanism.position.changes_output
    weights, allowed, scores = (
        each.detach().cpu().double().numpy() for each in (seen.weights, seen.allowed, seen.scores)
    )
    values, width = coordinates(seen.v, seen.projection)
    real, text, part, token = standing(where)
    of_query: dict[int, tuple[Floats, Floats]] = {}
    for r in np.flatnonzero(real.any(axis=1)):
        for query in queries(chosen.rows, weights.shape[2], real[r]):
            if query not in of_query:
                mine = coordinates(values_of(seen, query), seen.projection)[0] if own else values
                of_query[query] = mine, slopes(seen, query)
            T, slope = of_query[query]
            for h, head in enumerate(seen.heads):
                keys = (allowed[r, h, query] > 0) & real[r]
                if not keys.any():
                    continue
                yield HeadRow(
                    text=places[text[r]],
                    layer=seen.layer,
                    name=seen.name,
                    head=head,
                    row=query,
                    part=int(part[r]),
                    keys=token[r][keys],
                    weights=weights[r, h, query, keys],
                    T=T[r, h, keys],
                    kind=kind,
                    width=width,
                    eps=float(torch.finfo(call.v.dtype).eps),
                    projected=seen.projection is not None,
                    scores=scores[r, h, query, keys],
                    slopes=slope[r, h, keys],
                    activation=call.mechanism.activation,
                )


def queries(rows: str | tuple[int, ...], count: int, real: NDArray[np.bool_]) -> list[int]:
    """The numbers of the chosen rows of one text, of which ``count`` were recorded."""
    there = np.flatnonzero(real) if count > 1 else np.array([0])  # a learned query, or the first alone
    if isinstance(rows, tuple):
        return [row for row in rows if row in there]
    return {"first": [0], "pooled": [0], "last": there[-1:].tolist(), "all": there.tolist()}[NAMED[rows]]


def standing(where: Layout) -> tuple[NDArray[np.bool_], list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Of each row of a batch of keys: which keys there are, whose text it is, its number in the text, and
    which token (or sentence) each key is."""
    mask = where.mask.cpu().numpy()
    if where.segments is None or where.whole:
        numbers = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
        return mask, list(range(len(mask))), np.zeros(len(mask), dtype=np.int64), numbers
    tokens = torch.arange(where.real.shape[1], device=where.real.device).expand(where.real.shape)
    packed = where.segments.pack(tokens[..., None].double())[..., 0].long().cpu().numpy()
    return mask, where.segments.text.tolist(), where.segments.number.cpu().numpy(), packed


def coordinates(
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
    v, places = call.expanded()[1], call.places()
    outputs = []
    for key in range(v.shape[2]):
        weights = v.new_zeros(*v.shape[:2], 1, v.shape[2])
        weights[..., key] = 1.0
        outputs.append(call.mechanism.position.output(weights, v, places)[:, :, 0])
    return seen.pick(torch.stack(outputs, dim=2))


@torch.no_grad()
def slopes(seen: LayerRecord, query: int) -> Floats:
    """∂s/∂q [b, h, k, d_k] of one row: scale · K for dot products, else by forward derivatives along each
    axis of q."""
    mechanism = seen.call.mechanism
    if not mechanism.position.uses_places:
        return (seen.k.double() * seen.call.scale).cpu().numpy()
    call = seen.call.rows(torch.tensor([query], device=seen.call.q.device))

    def scores(q: Tensor) -> Tensor:
        return mechanism.scores(replace(call, q=q))

    axes = torch.eye(call.q.shape[-1], dtype=call.q.dtype, device=call.q.device)
    along = [torch.func.jvp(scores, (call.q,), (axis.expand_as(call.q),))[1][:, :, 0] for axis in axes]
    return seen.pick(torch.stack(along, dim=-1)).double().cpu().numpy()


@torch.no_grad()
def pooled_rows(model: PooledClassifier, encoded: Encoded, where: Where) -> Iterator[list[HeadRow]]:
    """The one row of a pooled classifier; T are the vectors that are pooled, not their polarity."""
    if where.layers not in (None, (0,)) or where.heads not in (None, (0,)):
        raise InputError("a pooled model has one attention with one head: layer 0, head 0")
    if isinstance(where.rows, tuple) and where.rows != (0,):
        raise InputError("a pooled model has one learned query: row 0")
    kept: list[tuple[Tensor, Tensor, Tensor]] = []

    def keep(module: AttentionPooling, given: object, pooled: tuple[Tensor, ...]) -> None:
        kept.append((pooled[1], pooled[2], pooled[3]))

    kind = kind_of_activation(model.activation, model.activation.signed)
    hook = model.pooling.register_forward_hook(keep)
    try:
        for places, inputs in batches(encoded, device=model.device):
            kept.clear()
            model(**inputs)
            scores, weights, values = (each.cpu() for each in kept[0])
            eps = float(torch.finfo(values.dtype).eps)
            batch = []
            for one, text in enumerate(places.tolist()):
                keys = np.flatnonzero(inputs["attention_mask"][one].cpu().numpy())
                if not len(keys):
                    continue
                s, a, T = (each[one].double().numpy()[keys] for each in (scores, weights, values))
                made = HeadRow(
                    text, 0, "pooling", 0, 0, 0, keys, a, T, kind, T.shape[1], eps, True, s, None,
                    model.activation,
                )  # fmt: skip
                batch.append(made)
            yield batch
    finally:
        hook.remove()
