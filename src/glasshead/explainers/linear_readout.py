"""The attention pooling that a prediction is read out of, as exact algebra."""

from dataclasses import dataclass
from functools import partial
from typing import TypeGuard

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import Activation
from glasshead.data import Encoded, batches, heads_of
from glasshead.errors import InputError
from glasshead.explainers.aggregate_sentences import sentence_numbers
from glasshead.explainers.attention_observation import AttentionChange, AttentionObservation
from glasshead.huggingface import class_name
from glasshead.models import PooledClassifier, TransformerClassifier, as_logits, is_regression
from glasshead.trace import AttentionSite, logits_of, record, target_polarity, token_layout

# Elements of the largest intermediate; a batch is cut so that memory stays bounded at any length.
MOST_NUMBERS = 8_000_000


@dataclass(frozen=True)
class LinearReadout(AttentionObservation):
    """Scores s, weights a [N, n], polarity o [N, n, K'], bias b [K'] of z = Σ_i a_i o_i + b.

    Everything follows from these, without another pass. ``part`` [N, n] numbers the texts of a pair, which
    have separate weights.
    """

    mask: Bool[Tensor, "texts tokens"]
    scores: Float[Tensor, "texts tokens"]
    weights: Float[Tensor, "texts tokens"]
    polarity: Float[Tensor, "texts tokens outputs"]
    logits: Float[Tensor, "texts classes"]
    bias: Float[Tensor, " outputs"]
    activation: Activation
    gauge: int = 1
    rating: bool = False
    part: Int[Tensor, "texts tokens"] | None = None

    exact = True

    @property
    def signed(self) -> bool:
        return self.activation.signed

    @property
    def has_gauge(self) -> bool:
        return True

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.gauge * self.weights

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self.slopes_of(self.polarity, target)

    def slopes_of(
        self,
        polarity: Float[Tensor, "texts units outputs"],
        target: Int[Tensor, " texts"] | Int[Tensor, "texts units"],
    ) -> Float[Tensor, "texts units"]:
        """The canonical polarity towards the target."""
        return self.gauge * (polarity[..., 0] if self.rating else target_polarity(polarity, target))

    def parts(self) -> Int[Tensor, "texts tokens"]:
        return torch.zeros_like(self.mask, dtype=torch.long) if self.part is None else self.part

    def shares(self) -> Float[Tensor, "texts tokens"]:
        return self.mask.to(self.weights.dtype)

    def to_logits(self, outputs: Float[Tensor, "*b outputs"]) -> Float[Tensor, "*b classes"]:
        """Outputs z as logits."""
        return outputs if self.rating else as_logits(outputs)

    def without_each(self, change: AttentionChange) -> Float[Tensor, "texts tokens classes"]:
        """z − a_i o_i (Huang et al. 2024, section 5.2), or z of the weights that the others then have."""
        n = self.mask.shape[1]
        if change != "renormalise":
            # Subtracting o·a from z − b, not from the logits: the binary logit of class 0 stays 0.
            outputs = torch.einsum("tk,tko->to", self.weights, self.polarity) + self.bias
            return self.to_logits(outputs[:, None, :] - self.weights[..., None] * self.polarity)
        others = ~torch.eye(n, dtype=torch.bool)
        step = max(MOST_NUMBERS // (n * n), 1)
        rows = torch.arange(len(self.mask)).split(step)
        return torch.cat([self._renormalise(part, others.expand(len(part), n, n)) for part in rows])

    def without(
        self,
        change: AttentionChange,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """z = Σ_{i ∉ S} a_i o_i + b, with the weights of the whole text or those that the others share."""
        step = max(MOST_NUMBERS // (removed.shape[1] * self.polarity.shape[-1]), 1)
        logits = [torch.zeros(0, self.logits.shape[1], dtype=self.logits.dtype)]
        for rows, gone in zip(texts.split(step), removed.split(step), strict=True):
            if change == "renormalise":
                logits.append(self._renormalise(rows, ~gone[:, None])[:, 0])
            else:
                weights = self.weights[rows].masked_fill(gone, 0.0)
                outputs = torch.einsum("vk,vko->vo", weights, self.polarity[rows]) + self.bias
                logits.append(self.to_logits(outputs))
        return torch.cat(logits)

    def _renormalise(
        self, rows: Int[Tensor, " texts"], stays: Bool[Tensor, "texts variants tokens"]
    ) -> Float[Tensor, "texts variants classes"]:
        """Tokens are masked before the activation, so the other weights share their place."""
        mask = self.mask[rows, None, :] & stays
        scores, part = self.scores[rows, None, :].expand(mask.shape), self.parts()[rows, None, :]
        weights = torch.zeros_like(scores)
        for number in range(int(part.max()) + 1 if part.numel() else 1):
            weights = weights + self.activation.weights(scores, mask & (part == number))
        return self.to_logits(weights @ self.polarity[rows] + self.bias)


@dataclass(frozen=True)
class SentenceReadout(AttentionObservation):
    """The linear readout of the sentences of each text; the tokens of a sentence share its numbers equally.

    ``sentence_of_token`` [N, n] is the sentence of each token, −1 on padding.
    """

    mask: Bool[Tensor, "texts tokens"]
    sentence_of_token: Int[Tensor, "texts tokens"]
    sentences: LinearReadout

    exact = True

    @property
    def signed(self) -> bool:
        return self.sentences.signed

    @property
    def has_gauge(self) -> bool:
        return self.sentences.has_gauge

    @property
    def weights(self) -> Float[Tensor, "texts tokens"]:  # type: ignore[override]
        return self.spread(self.sentences.weights) * self.shares()

    @property
    def canonical(self) -> Float[Tensor, "texts tokens"]:
        return self.sentences.gauge * self.weights

    def spread(self, values: Float[Tensor, "texts sentences *k"]) -> Float[Tensor, "texts tokens *k"]:
        """Numbers of sentences, repeated at their tokens; zeros on padding."""
        rows = torch.arange(len(values))[:, None].expand(self.sentence_of_token.shape)
        real = self.mask.reshape(self.mask.shape + (1,) * (values.ndim - 2))
        return values[rows, self.sentence_of_token.clamp(min=0)] * real

    def slopes(
        self, target: Int[Tensor, " texts"] | Int[Tensor, "texts tokens"]
    ) -> Float[Tensor, "texts tokens"]:
        return self.sentences.slopes_of(self.spread(self.sentences.polarity), target)

    def shares(self) -> Float[Tensor, "texts tokens"]:
        sizes = (self.sentence_of_token[..., None] == torch.arange(self.sentences.mask.shape[1])).sum(dim=1)
        return self.spread(1 / sizes.clamp(min=1).to(self.sentences.weights.dtype))

    def without_each(self, change: AttentionChange) -> Float[Tensor, "texts tokens classes"]:
        return self.spread(self.sentences.without_each(change))

    def without(
        self,
        change: AttentionChange,
        texts: Int[Tensor, " variants"],
        removed: Bool[Tensor, "variants tokens"],
    ) -> Float[Tensor, "variants classes"]:
        """A sentence is removed if one of its tokens is."""
        variant, token = (removed & self.mask[texts]).nonzero(as_tuple=True)
        gone = torch.zeros(len(texts), self.sentences.mask.shape[1], dtype=torch.bool)
        gone[variant, self.sentence_of_token[texts[variant], token]] = True
        return self.sentences.without(change, texts, gone)


@torch.inference_mode()
def observe_pooled(
    model: PreTrainedModel,
    ids: Int[Tensor, "texts tokens"],
    mask: Bool[Tensor, "texts tokens"],
    *,
    batch_size: int = 512,
) -> LinearReadout:
    """Run a pooled classifier over encoded texts, in batches, and keep the parts of its output.

    Raises:
        InputError: if the model is of another family.
    """
    if not isinstance(model, PooledClassifier):
        raise InputError(f"{class_name(model)} has no single attention output: record its layers instead")
    parts = [
        model(
            input_ids=ids[start : start + batch_size].to(model.device),
            attention_mask=mask[start : start + batch_size].to(model.device),
            output_attentions=True,
        )
        for start in range(0, len(ids), batch_size)
    ]
    scores, weights, polarity, logits = (
        torch.cat([getattr(part, name).cpu() for part in parts])
        for name in ("scores", "weights", "polarity", "logits")
    )
    bias = torch.zeros(polarity.shape[-1])
    if model.classifier.bias is not None:
        bias = model.classifier.bias.detach().cpu()
    return LinearReadout(
        mask.cpu(),
        scores,
        weights,
        polarity,
        logits,
        bias.to(logits.dtype),
        model.activation,
        gauge=model.config.gauge,
        rating=is_regression(model.config),
    )


def is_linear_readout(model: PreTrainedModel, site: AttentionSite) -> TypeGuard[TransformerClassifier]:
    """Whether the outputs are linear in the weights: the last pooling, then a linear map of what it gives."""
    last = site.layer == site.num_layers - 1
    linear = isinstance(model, TransformerClassifier) and model.linear_in_pooled
    return linear and last and site.row == "pooled"


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
    maps = classifier.weight.detach().unflatten(1, (-1, model.config.hidden_size))
    maps = maps.transpose(0, 1)  # [texts that are read one by one, K', d]
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
