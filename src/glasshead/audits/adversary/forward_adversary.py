"""The adversary of attention anywhere in a model, which is run again from the layer on."""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention import AttentionInputs
from glasshead.audits.adversary.ascent import Adversary
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.forward_perturbation import identity_edit
from glasshead.explainers import ForwardObservation
from glasshead.trace import Edit, ResumedPasses, token_layout


class ForwardAdversary(Adversary):
    """Variants of the maps of some texts of a batch, in the rows and heads that are read; all others stay.

    ``texts`` are the places of the variants in the batch. The distance is the mean over the maps of a text.
    """

    def __init__(
        self,
        setting: Setting,
        observation: ForwardObservation,
        passes: ResumedPasses,
        texts: Int[Tensor, " variants"],
        start: Edit = identity_edit,
    ) -> None:
        self.setting, self.passes, self.texts, self.start = setting, passes, texts, start
        self.site, self.variants = observation.site, len(texts)
        self.rows = observation.rows
        self.layout = token_layout(observation.model, passes.some(texts), self.site.key_unit)
        self.owner = self.layout.owners
        self.before = passes.logits(self.read_own, texts)

    def read_own(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        """The weights to begin with, kept with what may be edited: where keys are, in heads and rows that are
        read."""
        self.call, self.mask = call, call.mask.allowed(weights.device).expand_as(weights) > 0
        heads, queries = weights.shape[1:3]
        read = self.rows.of(self.texts, self.layout, queries) > 0
        numbers = torch.arange(heads, device=weights.device)
        chosen = torch.ones_like(numbers) > 0 if self.site.head is None else numbers == self.site.head
        self.edited = self.mask.any(dim=-1) & read[:, None] & chosen[:, None]
        edited = self.start(layer, weights, call)
        self.own = torch.where(self.edited[..., None], edited, weights).detach()
        self.maps = [self.mask & self.edited[..., None]]
        return self.own

    def weights(self, parameters: Float[Tensor, "r h q k"]) -> Float[Tensor, "r h q k"]:
        weights = self.setting.family(parameters, self.mask)
        return torch.where(self.edited[..., None], weights, self.own)

    def logits(self, weights: Float[Tensor, "r h q k"]) -> Float[Tensor, "variants classes"]:
        return self.passes.logits(lambda *call: weights, self.texts, gradients=torch.is_grad_enabled())

    def changes(self, weights: Float[Tensor, "r h q k"]) -> Float[Tensor, " variants"]:
        return self.setting.change(self.before, self.logits(weights))

    def distances(self, weights: Float[Tensor, "r h q k"]) -> Float[Tensor, " variants"]:
        per_map = self.setting.distance(self.own, weights).sum(dim=-1).masked_fill(~self.edited, 0.0)
        zeros = per_map.new_zeros(self.variants)
        total = zeros.index_add(0, self.owner, per_map.sum(dim=(1, 2)))
        maps = zeros.index_add(0, self.owner, self.edited.sum(dim=(1, 2)).to(zeros))
        return total / maps.clamp(min=1)


class ProducibleForward(ForwardAdversary):
    """A forward adversary of the weights that other queries q + δ of the heads draw from the same keys.

    Parameters [r, h, q, d] are δ in the unit in which a random one moves the scores by about 1.
    """

    convex = False

    def weights(self, parameters: Float[Tensor, "r h q d"]) -> Float[Tensor, "r h q k"]:
        q, k = self.call.q, self.call.k
        unit = self.call.scale * q.shape[-1] ** 0.5 * k.std()
        call = replace(self.call, q=q + parameters / unit.clamp_min(torch.finfo(k.dtype).tiny))
        weights = call.mechanism.weights(call, call.mechanism.scores(call))
        return torch.where(self.edited[..., None], weights, self.own)
