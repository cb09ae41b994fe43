"""The attention pooling that an encoder's prediction is read out of, as exact algebra."""

from functools import partial
from typing import TypeGuard

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Encoded, batches, heads_of
from glasshead.explainers.aggregate_sentences import sentence_numbers
from glasshead.explainers.attention_observation import LinearReadout, SentenceReadout
from glasshead.models import TransformerClassifier, is_regression
from glasshead.trace import AttentionSite, logits_of, record, token_layout


def is_linear_readout(model: PreTrainedModel, site: AttentionSite) -> TypeGuard[TransformerClassifier]:
    """Whether the outputs are linear in the weights: the last pooling, then the last map."""
    last = site.layer == site.num_layers - 1
    return isinstance(model, TransformerClassifier) and last and site.row == "pooled"


@torch.no_grad()
def observe_linear(
    model: TransformerClassifier,
    encoded: Encoded,
    site: AttentionSite,
    logits: Float[Tensor, "texts classes"],
) -> LinearReadout | SentenceReadout:
    """z = Σ_i a_i o_i + b with o_i = W_t h_i, where W_t is the part of W that reads the text t of token i; of
    documents i is a sentence."""
    by_sentence = site.key_unit == "sentence"
    sentence = sentence_numbers(model, encoded) if by_sentence else None
    texts, n = encoded.ids.shape
    if sentence is not None:
        n = max(int(sentence.max()) + 1, 1) if sentence.numel() else 1
    classifier = model.classifier
    maps = classifier.weight.detach().unflatten(1, (model.texts, -1)).transpose(0, 1)  # [texts, K', d]
    scores, weights = (torch.zeros(texts, n, dtype=logits.dtype) for _ in range(2))
    polarity = torch.zeros(texts, n, classifier.out_features, dtype=logits.dtype)
    part = torch.zeros(texts, n, dtype=torch.long)
    mask = encoded.mask if sentence is None else torch.zeros(texts, n, dtype=torch.bool)
    for rows, inputs in batches(encoded, device=model.device, maps=heads_of(model.config)):
        with record(model, layers=[site.layer]) as trace:
            logits_of(model, inputs)
        layer, layout = trace.only[site.layer], token_layout(model, inputs, site.key_unit)
        hidden = layer.v[:, 0]  # [R, K, d]
        length = hidden.shape[1] if by_sentence else inputs["input_ids"].shape[1]
        number = torch.zeros(len(hidden), dtype=torch.long, device=hidden.device)
        if layout.segments is not None and not by_sentence:
            number = layout.segments.number
        on_tokens = partial(torch.mul, layout.mask) if by_sentence else layout.tokens
        if by_sentence:
            mask[rows, :length] = layout.mask.cpu()
        outputs = torch.einsum("rkd,rod->ork", hidden, maps[number])
        for values, keys in ((scores, layer.scores[:, 0, 0]), (weights, layer.weights[:, 0, 0])):
            values[rows, :length] = on_tokens(keys).cpu().to(values.dtype)
        for output, keys in enumerate(outputs):
            polarity[rows, :length, output] = on_tokens(keys).cpu().to(polarity.dtype)
        owner = number[:, None].expand(hidden.shape[:2]).to(hidden.dtype)
        part[rows, :length] = on_tokens(owner).cpu().long()
    readout = LinearReadout(
        mask,
        scores,
        weights,
        polarity,
        logits,
        classifier.bias.detach().cpu().to(logits.dtype),
        site.mechanism.activation,
        rating=is_regression(model.config),
        part=part,
    )
    return readout if sentence is None else SentenceReadout(encoded.mask, sentence, readout)
