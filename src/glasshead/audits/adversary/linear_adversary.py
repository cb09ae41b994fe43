"""The adversary of outputs that are linear in the weights: no model is run again."""

from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.audits.adversary.climb import Adversary
from glasshead.audits.adversary.setting import Setting
from glasshead.explainers import LinearReadout


class LinearAdversary(Adversary):
    """Variants of the weights of ``texts`` of a readout, whose own are ``own`` [V, n].

    The texts of a pair have a map of their own each; the distance is the mean over them.
    """

    def __init__(
        self,
        setting: Setting,
        readout: LinearReadout,
        texts: Int[Tensor, " variants"],
        own: Float[Tensor, "variants n"],
    ) -> None:
        self.setting, self.readout, self.texts, self.of_texts = setting, readout, texts, own
        self.variants = len(texts)
        mask, part = readout.mask[texts], readout.parts()[texts]
        parts = torch.stack([mask & (part == number) for number in range(max(int(part.max()), 0) + 1)], dim=1)
        self.owner, which = parts.any(dim=2).nonzero(as_tuple=True)
        self.mask, self.polarity = parts[self.owner, which], readout.polarity[texts][self.owner]
        self.own = own[self.owner] * self.mask
        self.before = self.logits(self.own)

    def some(self, variants: Int[Tensor, " some"]) -> Self:
        return type(self)(self.setting, self.readout, self.texts[variants], self.of_texts[variants])

    def logits(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, "variants classes"]:
        """z = Σ_i a_i o_i + b."""
        outputs = torch.einsum("vn,vno->vo", weights, self.polarity)
        zeros = outputs.new_zeros(self.variants, outputs.shape[1])
        return self.readout.to_logits(zeros.index_add(0, self.owner, outputs) + self.readout.bias)

    def weights(self, parameters: Float[Tensor, "maps n"]) -> Float[Tensor, "maps n"]:
        return self.setting.family(parameters, self.mask)

    def distances(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, " variants"]:
        maps = self.total(torch.ones_like(weights[:, :1]))
        return self.total(self.setting.distance(self.own, weights)) / maps.clamp(min=1)


class ProducibleLinear(LinearAdversary):
    """The weights φ(s + K δ) that another query δ [V, d] draws from ``keys`` K [V, n, d]."""

    def __init__(
        self,
        setting: Setting,
        readout: LinearReadout,
        texts: Int[Tensor, " variants"],
        scores: Float[Tensor, "variants n"],
        keys: Float[Tensor, "variants n d"],
    ) -> None:
        self.scores, self.keys, self.activation = scores, keys, readout.activation
        own = self.activation.weights(scores, readout.mask[texts])
        super().__init__(setting, readout, texts, own)

    def some(self, variants: Int[Tensor, " some"]) -> Self:
        return type(self)(
            self.setting, self.readout, self.texts[variants], self.scores[variants], self.keys[variants]
        )

    def weights(self, parameters: Float[Tensor, "variants d"]) -> Float[Tensor, "variants n"]:
        scores = self.scores + torch.einsum("vnd,vd->vn", self.keys, parameters)
        return self.activation.weights(scores, self.mask)

    def map_keys(self) -> Float[Tensor, "maps n d"]:
        """What a query multiplies."""
        return self.keys

    def map_scores(self) -> Float[Tensor, "maps n"]:
        """The scores of the query to depart from."""
        return self.scores
