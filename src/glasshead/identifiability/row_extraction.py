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

from glasshead.arrays import Floats
from glasshead.attention import LearnedQueryAttention
from glasshead.data import Encoded, batches, heads_of, length_of, longest
from glasshead.errors import InputError
from glasshead.huggingface import HALVES, arithmetic_of, class_name, products_of
from glasshead.identifiability.attention_row import AttentionRow, weight_domain
from glasshead.identifiability.pooled import read_pooled_rows
from glasshead.identifiability.row_selector import MOST_ROWS, ROW_NAMES, RowSelector
from glasshead.models import HierarchicalClassifier, PooledClassifier, TransformerClassifier
from glasshead.trace import (
    READ,
    AttentionSelector,
    KeyUnit,
    LayerRecord,
    ReadRows,
    TokenLayout,
    find_read_attention,
    forward,
    is_causal,
    list_attention_calls,
    record,
    token_layout,
)

__all__ = [
    "AttentionRow",
    "RowSelector",
    "attention_rows",
    "batch_index",
    "project_values",
    "query_values",
    "record_rows",
    "require_full_precision",
    "rows_in_words",
    "usual_rows",
    "weight_domain",
]


def attention_rows(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector, read: ReadRows | None = None
) -> Iterator[list[AttentionRow]]:
    """Every chosen row of every chosen head for every text, in batches; long texts come first. If rows are
    chosen by what is ``read``, this is measured, unless it is known.

    Raises:
        InputError: if the model shows no attention, is in half precision, or has no such layer, head or row.
    """
    require_full_precision(model)
    if isinstance(model, PooledClassifier):
        yield from read_pooled_rows(model, encoded, selector)
        return
    only = [0] if selector.row_name in ("first", "pooled", "asked") else None
    measured: dict[KeyUnit, ReadRows] = {}
    if selector.row_name == READ and read is None:
        measured = find_measured_rows(model, encoded, selector)
    for batch in record_rows(model, encoded, selector, only):
        yield [
            row
            for layer, layout, texts in batch
            for row in layer_rows(
                layer, layout, texts, selector, has_learned_query(model, layer),
                read or measured.get(key_unit(model, layer)),
            )
        ]  # fmt: skip


def find_measured_rows(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector
) -> dict[KeyUnit, ReadRows]:
    """The rows that the prediction reads in the last of the chosen layers, for each unit of keys; where all
    layers are, in the last that it reads."""
    calls = list_attention_calls(model, longest(encoded, model.device))
    chosen = [call for call in calls if selector.layers is None or call.layer in selector.layers]
    of_unit: dict[KeyUnit, list[LayerRecord]] = {}
    for call in chosen:
        of_unit.setdefault(key_unit(model, call), []).append(call)
    result = {}
    for unit, records in of_unit.items():
        layers = [call.layer for call in records if call.call.q.shape[2] > 1] or [
            call.layer for call in records
        ]
        layer = None if selector.layers is None else layers[-1]
        read = find_read_attention(model, encoded, AttentionSelector(layer=layer), calls, among=layers)
        assert read is not None
        result[unit] = read.used
    return result


def rows_in_words(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector, read: ReadRows | None = None
) -> str:
    """The rows that a selector chooses, in words; those that are ``read`` are measured, unless they are
    known."""
    if selector.row_name is None:
        return f"rows {selector.rows}"
    if selector.row_name == "all":
        return "all rows"
    if selector.row_name != READ:
        return ReadRows.by_name(selector.row_name).in_words
    if isinstance(model, PooledClassifier):
        return ReadRows.by_name("pooled").in_words
    measured = [*find_measured_rows(model, encoded, selector).values()] if read is None else [read]
    words = ", ".join(dict.fromkeys(rows.in_words for rows in measured))
    several = selector.most is not None and any(rows.most_in_a_text > selector.most for rows in measured)
    return f"{words}: up to {selector.most} of them in each text" if several else words


def usual_rows(model: PreTrainedModel, encoded: Encoded) -> RowSelector:
    """All heads, in the rows that the prediction reads in the last layer. If nothing is predicted, or that
    layer has a learned query, it is the row of the first token. For models that read from left to right it
    is the row of the last token, since the first sees only itself."""
    if isinstance(model, PooledClassifier) or not encoded.mask.any():
        return RowSelector()
    inputs = longest(encoded, model.device)
    calls = list_attention_calls(model, inputs)
    with torch.no_grad():
        logits = getattr(forward(model, inputs), "logits", None)
    if logits is not None and logits.ndim == 2 and calls[-1].call.q.shape[2] > 1:
        return RowSelector(rows=READ, most=MOST_ROWS)
    return RowSelector(rows="last" if any(map(is_causal, calls)) else "first")


def record_rows(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector, rows: list[int] | None
) -> Iterator[list[tuple[LayerRecord, TokenLayout, list[int]]]]:
    """The chosen layers of every batch of texts, with how each sees the texts and which texts they are.

    Raises:
        InputError: as `resolve_layers`.
    """
    key_units = resolve_layers(model, encoded, selector)
    maps = heads_of(model.config) * len(key_units)
    for texts, inputs in batches(encoded, device=model.device, maps=maps):
        with torch.no_grad(), record(model, list(key_units), selector.heads, rows) as trace:
            forward(model, inputs, rows="mean")
        yield [
            (layer, token_layout(model, inputs, key_units[layer.layer]), texts.tolist())
            for layer in trace.only
        ]


def require_full_precision(model: PreTrainedModel) -> None:
    """Raise InputError if the values of the model are too coarse to have a rank."""
    if arithmetic_of(model) in HALVES or products_of(model) is not None:
        raise InputError(
            "the model is in half precision, whose rounding hides the rank of its values: call model.float()"
        )


def resolve_layers(model: PreTrainedModel, encoded: Encoded, selector: RowSelector) -> dict[int, KeyUnit]:
    """The chosen layers, with what a key of each is; whatever does not exist is refused."""
    inputs = longest(encoded, model.device)
    calls = list_attention_calls(model, inputs)
    for index in selector.layers or ():
        if not 0 <= index < len(calls):
            raise InputError(f"there is no attention layer {index}: they are numbered 0 to {len(calls) - 1}")
    selected = [call for call in calls if selector.layers is None or call.layer in selector.layers]
    for layer in selected:
        weight_domain(layer.call.mechanism)
        heads = layer.call.q.shape[1]
        for head in selector.heads or ():
            if not 0 <= head < heads:
                raise InputError(
                    f"layer {layer.layer} ({layer.name}) has no head {head}: "
                    f"they are numbered 0 to {heads - 1}"
                )
    rows = max((layer.call.q.shape[2] for layer in selected), default=0)
    for row in selector.rows if isinstance(selector.rows, tuple) else ():
        if not 0 <= row < rows:
            raise InputError(f"no text has a row {row}: the longest has rows 0 to {rows - 1}")
    units = {layer.layer: key_unit(model, layer) for layer in selected}
    for layer in selected:
        if selector.row_name == "pooled" and not has_learned_query(model, layer):
            raise InputError(
                f"layer {layer.layer} ({layer.name}) has no learned query: choose the rows cls, last or all"
            )
        if selector.row_name == "asked" and not getattr(model, "asks_about_token", False):
            raise InputError(f"{class_name(model)} has no row asked: choose the rows cls, last or all")
        if units[layer.layer] == "token" and layer.call.k.shape[2] != length_of(inputs):
            raise InputError(
                f"layer {layer.layer} ({layer.name}) does not read the tokens of the text: "
                "choose other layers"
            )
    return units


def key_unit(model: PreTrainedModel, layer: LayerRecord) -> KeyUnit:
    """What a key of a call is."""
    if isinstance(model, HierarchicalClassifier):
        return "sentence" if layer.name.startswith("sentences.") else "packed"
    return "packed" if isinstance(model, TransformerClassifier) and model.packs_segments else "token"


def has_learned_query(model: PreTrainedModel, layer: LayerRecord) -> bool:
    """Whether the one query of a call is a parameter of the model, and no token."""
    return isinstance(dict(model.named_modules()).get(layer.name), LearnedQueryAttention)


def layer_rows(
    layer: LayerRecord,
    layout: TokenLayout,
    texts: Sequence[int],
    selector: RowSelector,
    learned: bool,
    read: ReadRows | None = None,
) -> Iterator[AttentionRow]:
    """The chosen rows of a recorded layer; a text that is too short for a row goes without it."""
    call = layer.call
    kind, own = weight_domain(call.mechanism), call.mechanism.position.changes_output
    weights, allowed, scores = (
        tensor.detach().cpu().double().numpy() for tensor in (layer.weights, layer.allowed, layer.scores)
    )
    values, embed_dim = project_values(layer.v, layer.projection)
    real, text, part, token = batch_index(layout)
    by_query: dict[int, tuple[Floats, Floats]] = {}
    own_jacobian = call.mechanism.position.needs_positions
    shares = None if read is None else read.of(torch.tensor(texts), layout, weights.shape[2]).cpu().numpy()
    # Rows that see the same keys share their arrays: of n rows a map would be held n times.
    shared: dict[tuple[int, int, int, bytes], tuple[Floats, Floats]] = {}
    for r in np.flatnonzero(real.any(axis=1)):
        chosen = (
            query_indices(selector.rows, weights.shape[2], real[r])
            if shares is None
            else spread_rows(shares[r], selector.most)
        )
        for query in chosen:
            if query not in by_query:
                query_T = project_values(query_values(layer, query), layer.projection)[0] if own else values
                jacobian = (
                    score_jacobian(layer, query)
                    if own_jacobian or not by_query
                    else next(iter(by_query.values()))[1]
                )
                by_query[query] = query_T, jacobian
            T, jacobian = by_query[query]
            for h, head in enumerate(layer.heads):
                keys = (allowed[r, h, query] > 0) & real[r]
                if not keys.any():
                    continue
                same = int(r), h, query if own or own_jacobian else -1, keys.tobytes()
                if same not in shared:
                    shared[same] = T[r, h, keys], jacobian[r, h, keys]
                yield AttentionRow(
                    text=texts[text[r]],
                    layer=layer.layer,
                    name=layer.name,
                    head=head,
                    row=query,
                    part=int(part[r]),
                    keys=token[r][keys],
                    weights=weights[r, h, query, keys],
                    T=shared[same][0],
                    kind=kind,
                    embed_dim=embed_dim,
                    eps=float(torch.finfo(call.v.dtype).eps),
                    projected=layer.projection is not None,
                    scores=scores[r, h, query, keys],
                    score_jacobian=shared[same][1],
                    activation=call.mechanism.activation,
                    learned=learned,
                    share=1.0 if shares is None else float(shares[r, query]),
                )


def spread_rows(shares: Floats, most: int | None) -> list[int]:
    """The rows with a share, or ``most`` of them, spread over the rows in proportion to their shares: those
    in which the running sum passes (k + ½) / most of the whole."""
    read = np.flatnonzero(shares)
    if most is None or len(read) <= most:
        return [int(row) for row in read]
    running = np.cumsum(shares)
    # Not on the border of two rows, where rounding would choose.
    points = (np.arange(most) + 0.5) / most - 1e-9
    passed = np.searchsorted(running, points * running[-1])
    return [int(row) for row in np.unique(passed)]


def query_indices(rows: str | tuple[int, ...], count: int, real: NDArray[np.bool_]) -> list[int]:
    """The numbers of the chosen rows of one text, of which ``count`` were recorded."""
    places = np.flatnonzero(real) if count > 1 else np.array([0])  # a learned query, or the first alone
    if isinstance(rows, tuple):
        return [row for row in rows if row in places]
    named = ROW_NAMES[rows]
    return places.tolist() if named == "all" else places[-1:].tolist() if named == "last" else [0]


def batch_index(
    layout: TokenLayout,
) -> tuple[NDArray[np.bool_], list[int], NDArray[np.int64], NDArray[np.int64]]:
    """Index of the rows of a batch of keys: which keys there are, whose text it is, its number in the text,
    and which token (or sentence) each key is."""
    mask = layout.mask.cpu().numpy()
    if layout.segments is None or layout.keys_are_segments:
        numbers = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
        return mask, list(range(len(mask))), np.zeros(len(mask), dtype=np.int64), numbers
    tokens = torch.arange(layout.real.shape[1], device=layout.real.device).expand(layout.real.shape)
    packed = layout.segments.pack(tokens[..., None].double())[..., 0].long().cpu().numpy()
    return mask, layout.segments.text.tolist(), layout.segments.number.cpu().numpy(), packed


def project_values(
    v: Float[Tensor, "b h k d_v"], projection: Float[Tensor, "h d_v d_e"] | None
) -> tuple[Floats, int]:
    """T = V D [b, h, k, r] in an orthonormal basis of the rows of D, and d_e; V where there is no D.

    With Dᵀ = Q R, T = V Rᵀ Qᵀ has the singular values and the left null space of V Rᵀ.
    """
    values = v.detach().double()
    if projection is None:
        return values.cpu().numpy(), v.shape[-1]
    factor = torch.linalg.qr(projection.detach().double().transpose(-1, -2)).R
    return (values @ factor.transpose(-1, -2)).cpu().numpy(), projection.shape[-1]


@torch.no_grad()
def query_values(layer: LayerRecord, query: int) -> Float[Tensor, "b h k d_v"]:
    """What each key adds to the output of a row at weight 1, where that depends on the row (Shaw et al.)."""
    call = layer.call.rows(torch.tensor([query], device=layer.call.q.device))
    v, places = call.expand_heads()[1], call.token_positions()
    outputs = []
    for key in range(v.shape[2]):
        weights = v.new_zeros(*v.shape[:2], 1, v.shape[2])
        weights[..., key] = 1.0
        outputs.append(call.mechanism.position.output(weights, v, places)[:, :, 0])
    return layer.pick(torch.stack(outputs, dim=2))


@torch.no_grad()
def score_jacobian(layer: LayerRecord, query: int) -> Floats:
    """∂s/∂q [b, h, k, d_k] of one row: scale · K for dot products, else by forward derivatives along each
    axis of q."""
    mechanism = layer.call.mechanism
    if not mechanism.position.needs_positions:
        return (layer.k.double() * layer.call.scale).cpu().numpy()
    call = layer.call.rows(torch.tensor([query], device=layer.call.q.device))

    def scores_of_query(q: Tensor) -> Tensor:
        return mechanism.scores(replace(call, q=q))

    axes = torch.eye(call.q.shape[-1], dtype=call.q.dtype, device=call.q.device)
    along = [
        torch.func.jvp(scores_of_query, (call.q,), (axis.expand_as(call.q),))[1][:, :, 0] for axis in axes
    ]
    return layer.pick(torch.stack(along, dim=-1)).double().cpu().numpy()
