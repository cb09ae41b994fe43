"""Weights on as many tokens as there are classes, with a given prediction, where outputs are linear."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.vertices import corners

DRAWS = 512  # mixtures of a text
MIXED_CLASSES = 8  # of more, hardly a random mixture has shares that are all positive
NEARLY = 0.99  # of ε, for a change of the prediction that rounding leaves within it


def feasible_mixtures(
    adversary: LinearAdversary, generator: torch.Generator
) -> tuple[Float[Tensor, "texts draws n"], Bool[Tensor, "texts draws"]] | None:
    """Random weights a′ of which K corners of what an activation can produce have all, for a readout of K
    classes, and which of them have shares that can be; None where there are no such mixtures.

    The distance is convex in a′, so the farthest weights lie at a corner of what is feasible, where at most K
    tokens carry weight. The prediction p′ = p + ε v is one that is just allowed, in a random direction v; the
    shares t of the corners solve Σ_j t_j z(corner_j) = ln p′ + constant, Σ_j t_j = 1. One variant of each
    text, and one map of each.
    """
    texts, n = adversary.mask.shape
    classes = adversary.before.shape[1]
    points = corners(adversary.setting.domain, n)
    if points is None or len(adversary.maps) > 1 or not 2 < classes <= MIXED_CLASSES:
        return None
    token, sign = torch.from_numpy(points.token), torch.from_numpy(points.sign).to(adversary.own)
    allowed = adversary.mask[:, token]
    noise = torch.rand(texts, DRAWS, len(token), generator=generator).masked_fill(~allowed[:, None], -1.0)
    chosen = noise.topk(min(classes, len(token)), dim=-1).indices  # [texts, draws, K]
    if chosen.shape[-1] < classes:
        return None
    constant = adversary.readout.to_logits(adversary.readout.bias[None])
    reach = adversary.readout.to_logits(adversary.readout.bias + adversary.polarity) - constant[:, None]
    of_corners = (sign[:, None] * reach[:, token]).double()  # [texts, corners, K]
    logits = of_corners[torch.arange(texts)[:, None, None], chosen]  # [texts, draws, K corners, K classes]
    change = NEARLY * adversary.setting.search.epsilon * random_changes(texts, classes, generator)
    p = adversary.before.double().softmax(dim=-1)[:, None] + change
    target = p.clamp_min(torch.finfo(p.dtype).tiny).log() - constant.double()
    # Logits have a constant of their own: the last class is taken from all others.
    equations = torch.cat([logits[..., :-1] - logits[..., -1:], torch.ones_like(logits[..., :1])], dim=-1)
    ends = torch.cat([target[..., :-1] - target[..., -1:], torch.ones_like(target[..., :1])], dim=-1)
    shares, info = torch.linalg.solve_ex(equations.mT, ends[..., None])
    shares = shares[..., 0]
    can_be = (
        (info == 0) & (shares >= 0).all(dim=-1) & torch.isfinite(shares).all(dim=-1) & (p > 0).all(dim=-1)
    )
    can_be &= allowed.gather(1, chosen.reshape(texts, -1)).reshape(chosen.shape).all(dim=-1)
    weights = adversary.own.new_zeros(texts, DRAWS, n)
    signed = (shares * sign[chosen]).to(weights)
    weights = weights.scatter_add(-1, token[chosen], signed.masked_fill(~can_be[..., None], 0.0))
    return weights, can_be


def random_changes(
    texts: int, classes: int, generator: torch.Generator
) -> Float[Tensor, "texts draws classes"]:
    """Random changes of a prediction of size ½ Σ |v| = 1: what some classes win, others lose. Every other
    moves one class against one other."""
    noise = torch.rand(texts, DRAWS, classes, generator=generator, dtype=torch.float64)
    order = noise.argsort(dim=-1).argsort(dim=-1)
    winners = torch.randint(1, classes, (texts, DRAWS, 1), generator=generator)
    amounts = torch.empty_like(noise).exponential_(generator=generator)
    amounts[:, ::2] *= (order[:, ::2] == 0) | (order[:, ::2] == classes - 1)
    won, lost = (amounts * part for part in (order < winners, order >= winners))
    return won / won.sum(dim=-1, keepdim=True) - lost / lost.sum(dim=-1, keepdim=True)


def best_mixtures(
    adversary: LinearAdversary, generator: torch.Generator, count: int
) -> tuple[Float[Tensor, "texts count n"], Bool[Tensor, "texts count"]] | None:
    """The farthest of the feasible mixtures of each text, and which of them are mixtures at all."""
    mixed = feasible_mixtures(adversary, generator)
    if mixed is None:
        return None
    weights, can_be = mixed
    distances = adversary.setting.distance(adversary.own[:, None], weights).sum(dim=-1)
    best = distances.masked_fill(~can_be, -1.0).topk(count, dim=1).indices
    return weights[torch.arange(len(weights))[:, None], best], can_be.gather(1, best)
