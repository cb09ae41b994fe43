"""The canonical sign of every head of a model, from the data it was trained on."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import TransformerClassifier, is_regression
from glasshead.trace.eval_mode import eval_mode
from glasshead.trace.record import record
from glasshead.trace.records import LayerRecord
from glasshead.trace.sign_gauge import class_sides, default_target, fix_gauges, target_score, text_sums


def head_gauges(
    model: PreTrainedModel, batches: Iterable[Mapping[str, Tensor]]
) -> dict[str, list[list[Any]]] | None:
    """The canonical sign of every head of every attention call, judged class by class as
    `glasshead.trace.fix_gauges` says, with ∂z/∂a instead of o; None if no weight is signed.

    ``signs``, ``kinds``, ``margins``, ``masses`` and ``classes`` are [layer][head], layers in the order of a
    pass. z is the score of the target class (`glasshead.trace.target_score`); the mass of a head is
    Σ |a| |∂z/∂a| over all texts. Rows that z does not depend on are left out. ``batches`` are the inputs of
    the model, with the ``labels`` of the texts.

    Negating (W_k, b_k) and the value map of one head changes no output, if the activation is odd and no
    position interferes; therefore its sign is a gauge.

    Raises:
        InputError: if the batches have no labels.
    """
    sums: list[list[Tensor]] = []  # [batch][layer], each [texts, heads, 4]
    labels: list[Tensor] = []
    signed: list[bool] = []
    with eval_mode(model):
        for batch in batches:
            if "labels" not in batch:
                raise InputError("the sign gauge needs classes: give batches with labels")
            inputs = {name: tensor.to(model.device) for name, tensor in batch.items() if name != "labels"}
            with torch.enable_grad(), record(model, keep_graph=True) as trace:
                logits = model(**inputs).logits
            value = target_score(logits, default_target(logits)).sum()
            records = list(trace.only)
            signed = signed or [layer.call.mechanism.signed for layer in records]
            if not any(signed):
                return None
            weights = [layer.weights for layer in records]
            slopes = torch.autograd.grad(value, weights, allow_unused=True)
            labels.append(batch["labels"].cpu())
            rows, texts = find_packed_texts(model, inputs), len(logits)
            sums.append(
                [
                    sums_by_text(layer, slope, None if layer.name.startswith("sentences.") else rows, texts)
                    for layer, slope in zip(records, slopes, strict=True)
                ]
            )
    if not sums:
        return None
    groups, names = class_sides(torch.cat(labels), class_names(model), regression=is_regression(model.config))
    layers = [torch.cat(batches_of_layer) for batches_of_layer in zip(*sums, strict=True)]
    gauges = [
        fix_gauges(layer, groups, names, [is_signed] * layer.shape[1])
        for layer, is_signed in zip(layers, signed, strict=True)
    ]
    return {
        "signs": [[head.sign for head in layer] for layer in gauges],
        "kinds": [[head.kind for head in layer] for layer in gauges],
        "margins": [[head.margin for head in layer] for layer in gauges],
        "masses": [layer[..., 3].sum(dim=0).tolist() for layer in layers],
        "classes": [[[asdict(signs) for signs in head.classes] for head in layer] for layer in gauges],
    }


def find_packed_texts(model: PreTrainedModel, inputs: Mapping[str, Tensor]) -> Int[Tensor, " rows"] | None:
    """The text of every row of a batch that pairs or documents are packed into; None: rows are texts."""
    if not isinstance(model, TransformerClassifier):
        return None
    mask = inputs["attention_mask"].bool()
    segments = model.segments(inputs["input_ids"], mask, inputs.get("token_type_ids"))
    return None if segments is None else segments.text


def sums_by_text(
    record: LayerRecord, slope: Tensor | None, rows: Int[Tensor, " rows"] | None, texts: int
) -> Float[Tensor, "texts heads 4"]:
    """`glasshead.trace.text_sums` of a layer for every text, over the rows of weights that z depends on."""
    weights = record.weights.detach()
    slope = torch.zeros_like(weights) if slope is None else slope
    matters = (slope != 0).any(dim=-1, keepdim=True)  # padding asks as well, and nobody reads the answer
    sums = text_sums(weights * matters, slope, (2, 3)).cpu()
    if rows is None:
        return sums
    return sums.new_zeros(texts, *sums.shape[1:]).index_add(0, rows.cpu(), sums)


def head_signs_of(model: PreTrainedModel, layer: int) -> Int[Tensor, " heads"] | None:
    """The canonical signs that were stored for the heads of a layer, by its number in the order of a pass."""
    gauge: Any = getattr(model.config, "gauge", None)
    return torch.tensor(gauge[layer]) if isinstance(gauge, list) else None
