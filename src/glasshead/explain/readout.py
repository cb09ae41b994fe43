"""The attention pooling that an encoder's prediction is read out of, as exact algebra."""

from typing import TypeGuard

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data.encode import Encoded
from glasshead.explain.batches import batches
from glasshead.explain.layout import layout
from glasshead.explain.observation import Algebra
from glasshead.explain.reading import Place, run
from glasshead.models import EncodedClassifier, is_regression
from glasshead.trace import record


def reads_out(model: PreTrainedModel, place: Place) -> TypeGuard[EncodedClassifier]:
    """Whether the outputs are linear in the weights: a pooling over tokens, then the last map."""
    last = place.layer == place.layers - 1
    return (
        isinstance(model, EncodedClassifier) and last and place.row == "pooled" and place.unit != "sentence"
    )


@torch.no_grad()
def read_out(
    model: EncodedClassifier, encoded: Encoded, place: Place, logits: Float[Tensor, "texts classes"]
) -> Algebra:
    """z = Σ_i a_i o_i + b with o_i = W_t h_i, where W_t is the part of W that reads the text t of token i."""
    texts, n = encoded.ids.shape
    classifier = model.classifier
    maps = classifier.weight.detach().unflatten(1, (model.texts, -1)).transpose(0, 1)  # [texts, K', d]
    scores, weights = (torch.zeros(texts, n, dtype=logits.dtype) for _ in range(2))
    polarity = torch.zeros(texts, n, classifier.out_features, dtype=logits.dtype)
    part = torch.zeros(texts, n, dtype=torch.long)
    for places, inputs in batches(encoded, device=model.device):
        with record(model, layers=[place.layer]) as trace:
            run(model, inputs)
        seen, where = trace.only[place.layer], layout(model, inputs, place.unit)
        hidden, length = seen.v[:, 0], inputs["input_ids"].shape[1]  # [R, K, d]
        number = torch.zeros(len(hidden), dtype=torch.long, device=hidden.device)
        if where.segments is not None:
            number = where.segments.number
        outputs = torch.einsum("rkd,rod->ork", hidden, maps[number])
        for each, keys in ((scores, seen.scores[:, 0, 0]), (weights, seen.weights[:, 0, 0])):
            each[places, :length] = where.tokens(keys).cpu().to(each.dtype)
        for output, keys in enumerate(outputs):
            polarity[places, :length, output] = where.tokens(keys).cpu().to(polarity.dtype)
        owner = number[:, None].expand(hidden.shape[:2]).to(hidden.dtype)
        part[places, :length] = where.tokens(owner).cpu().long()
    return Algebra(
        encoded.mask,
        scores,
        weights,
        polarity,
        logits,
        classifier.bias.detach().cpu().to(logits.dtype),
        place.mechanism.activation,
        rating=is_regression(model.config),
        part=part,
    )
