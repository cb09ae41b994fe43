"""The adversary of outputs that are linear in the weights: no model is run again."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.audits.adversary.ascent import Adversary
from glasshead.audits.adversary.setting import Setting
from glasshead.explainers import LinearReadout


class LinearAdversary(Adversary):
    """Variants of the weights of ``texts`` of a readout, whose own are ``own`` [V, n].

    The texts of a pair have weights of their own; the distance is the mean over them.
    """

    def __init__(
        self,
        setting: Setting,
        readout: LinearReadout,
        texts: Int[Tensor, " variants"],
        own: Float[Tensor, "variants n"],
    ) -> None:
        self.setting, self.readout, self.own = setting, readout, own
        self.variants, self.owner = len(texts), torch.arange(len(texts))
        self.polarity, self.mask = readout.polarity[texts], readout.mask[texts]
        self.maps = split_parts(self.mask, readout.parts()[texts])
        self.before = self.logits(own)

    def logits(self, weights: Float[Tensor, "variants n"]) -> Float[Tensor, "variants classes"]:
        """z = Σ_i a_i o_i + b."""
        outputs = torch.einsum("vn,vno->vo", weights, self.polarity) + self.readout.bias
        return self.readout.to_logits(outputs)

    def weights(self, parameters: Float[Tensor, "variants n"]) -> Float[Tensor, "variants n"]:
        return torch.stack([self.setting.family(parameters, part) for part in self.maps]).sum(dim=0)

    def changes(self, weights: Float[Tensor, "variants n"]) -> Float[Tensor, " variants"]:
        return self.setting.change(self.before, self.logits(weights))

    def distances(self, weights: Float[Tensor, "variants n"]) -> Float[Tensor, " variants"]:
        count = torch.stack([part.any(dim=1) for part in self.maps]).sum(dim=0).clamp(min=1)
        return self.setting.distance(self.own, weights).sum(dim=1) / count


class ProducibleLinear(LinearAdversary):
    """The weights φ(s + K δ) that another query δ [V, d] draws from ``keys`` K [V, n, d]."""

    convex = False

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

    def weights(self, parameters: Float[Tensor, "variants d"]) -> Float[Tensor, "variants n"]:
        scores = self.scores + torch.einsum("vnd,vd->vn", self.keys, parameters)
        return self.activation.weights(scores, self.mask)


def split_parts(mask: Bool[Tensor, "v n"], parts: Int[Tensor, "v n"]) -> list[Bool[Tensor, "v n"]]:
    """The tokens of each part; one part, where all share a row."""
    return [mask & (parts == part) for part in range(int(parts.max()) + 1 if parts.numel() else 1)]
