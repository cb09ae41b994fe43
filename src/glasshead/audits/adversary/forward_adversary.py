"""The adversary of attention anywhere in a model, which is run again from the layer on."""

from dataclasses import replace
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention import AttentionInputs
from glasshead.audits.adversary.climb import Adversary
from glasshead.audits.adversary.setting import Setting
from glasshead.explainers import ForwardObservation
from glasshead.trace import ResumedPasses, token_layout


class ForwardAdversary(Adversary):
    """Variants of the maps of one text, in the rows and heads that are read; all others stay.

    ``passes`` are over this text. ``bases`` [b, R, h, q, k] are the weights to depart from, and ``which`` of
    them each variant departs from; None: the model's own. The distance is the mean over the maps.
    """

    def __init__(
        self,
        setting: Setting,
        observation: ForwardObservation,
        passes: ResumedPasses,
        which: Int[Tensor, " variants"],
        bases: Float[Tensor, "bases r h q k"] | None = None,
    ) -> None:
        self.setting, self.observation, self.passes = setting, observation, passes
        self.which, self.bases = which, bases
        self.variants, self.texts = len(which), torch.zeros_like(which)
        self.before = passes.logits(self.read_own, self.texts)

    def some(self, variants: Int[Tensor, " some"]) -> Self:
        return type(self)(
            self.setting,
            self.observation,
            self.passes,
            self.which[variants.to(self.which.device)],
            self.bases,
        )

    def read_own(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        """The weights to depart from, kept with what may be edited: where keys are, in selected heads and
        rows."""
        site = self.observation.site
        layout = token_layout(self.observation.model, self.passes.some(self.texts), site.key_unit)
        allowed = call.mask.allowed(weights.device).expand_as(weights) > 0
        heads, queries = weights.shape[1:3]
        read = self.observation.rows.of(self.texts, layout, queries) > 0
        numbers = torch.arange(heads, device=weights.device)
        chosen = torch.ones_like(numbers) > 0 if site.head is None else numbers == site.head
        self.call = call
        self.edited = allowed.any(dim=-1) & read[:, None] & chosen[:, None]
        self.mask = allowed[self.edited]
        self.owner = layout.owners.to(weights.device)[self.edited.nonzero()[:, 0]]
        if self.bases is None:
            self.all = weights.detach()
        else:
            per_text = len(weights) // self.variants
            chosen_bases = self.bases.to(weights)[self.which.to(weights.device)]
            edited = chosen_bases.reshape(self.variants * per_text, *weights.shape[1:])
            self.all = torch.where(self.edited[..., None], edited, weights).detach()
        self.own = self.all[self.edited]
        return self.all

    def weights(self, parameters: Float[Tensor, "maps n"]) -> Float[Tensor, "maps n"]:
        return self.setting.family(parameters, self.mask)

    def logits(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, "variants classes"]:
        changed = self.all.clone()
        changed[self.edited] = weights
        return self.passes.logits(lambda *call: changed, self.texts, gradients=torch.is_grad_enabled())

    def distances(self, weights: Float[Tensor, "maps n"]) -> Float[Tensor, " variants"]:
        ones = torch.ones_like(weights[:, :1])
        return self.total(self.setting.distance(self.own, weights)) / self.total(ones).clamp(min=1)


class ProducibleForward(ForwardAdversary):
    """A forward adversary of the weights that other queries q + δ of the heads draw from the same keys.

    Parameters [maps, d] are δ in the unit in which a random one moves the scores by about 1.
    """

    @property
    def unit(self) -> float:
        """How much larger a δ moves the scores."""
        q, k = self.call.q, self.call.k
        return max(float(self.call.scale * q.shape[-1] ** 0.5 * k[:1].std()), torch.finfo(k.dtype).tiny)

    def weights(self, parameters: Float[Tensor, "maps d"]) -> Float[Tensor, "maps n"]:
        delta = torch.zeros_like(self.call.q)
        delta[self.edited] = parameters / self.unit
        call = replace(self.call, q=self.call.q + delta)
        return call.mechanism.weights(call, call.mechanism.scores(call))[self.edited]

    def map_keys(self) -> Float[Tensor, "maps n d"]:
        """What a δ multiplies."""
        row, head, _ = self.edited.nonzero(as_tuple=True)
        groups = self.call.q.shape[1] // self.call.k.shape[1]
        return self.call.k[row, head // groups] * (self.call.scale / self.unit)

    def map_scores(self) -> Float[Tensor, "maps n"]:
        """The scores of the query to depart from."""
        return self.call.mechanism.scores(self.call)[self.edited]
