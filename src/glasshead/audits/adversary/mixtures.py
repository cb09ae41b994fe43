"""Weights on as many tokens as there are classes, with a given prediction, where outputs are linear."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.arrays import Floats
from glasshead.audits.adversary import draws
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.vertices import corners

DRAWS = 128  # mixtures of a start
MIXED_CLASSES = 8  # of more, hardly a random mixture has shares that are all positive
NEARLY = 0.99  # of ε, for a change of the prediction that rounding leaves within it


def feasible_mixtures(
    adversary: LinearAdversary, generators: Sequence[np.random.Generator]
) -> tuple[Float[Tensor, "variants draws n"], Bool[Tensor, "variants draws"]] | None:
    """Random weights a′ of which K corners of what an activation can produce have all, for a readout of K
    classes, and which of them have shares that can be; None where there are no such mixtures.

    The distance is convex in a′, so the farthest weights lie at a corner of what is feasible, where at most K
    tokens carry weight. The prediction p′ = p + ε v is one that is just allowed, in a random direction v; the
    shares t of the corners solve Σ_j t_j z(corner_j) = ln p′ + constant, Σ_j t_j = 1. One map of each
    variant.
    """
    texts, n = adversary.mask.shape
    classes = adversary.before.shape[1]
    points = corners(adversary.setting.domain, n)
    if points is None or texts != adversary.variants or not 2 <= classes <= MIXED_CLASSES:
        return None
    token, sign = torch.from_numpy(points.token), torch.from_numpy(points.sign).to(adversary.own)
    allowed = adversary.mask[:, token]
    of_draws = allowed.repeat_interleave(DRAWS, dim=0)
    owner = torch.arange(texts).repeat_interleave(DRAWS)
    noise = draws.uniform_where(of_draws, owner, generators).masked_fill(~of_draws, -1.0)
    chosen = noise.reshape(texts, DRAWS, -1).topk(min(classes, len(token)), dim=-1).indices
    if chosen.shape[-1] < classes:
        return None
    constant = adversary.readout.to_logits(adversary.readout.bias[None])
    reach = adversary.readout.to_logits(adversary.readout.bias + adversary.polarity) - constant[:, None]
    of_corners = (sign[:, None] * reach[:, token]).double()  # [texts, corners, K]
    logits = of_corners[torch.arange(texts)[:, None, None], chosen]  # [texts, draws, K corners, K classes]
    changes = torch.from_numpy(np.stack([random_changes(classes, rng) for rng in generators]))
    change = NEARLY * adversary.setting.search.epsilon * changes
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


def random_changes(classes: int, rng: np.random.Generator) -> Floats:
    """Random changes of a prediction [draws, classes] of size ½ Σ |v| = 1: what some classes win, others
    lose. Every other moves one class against one other."""
    order = rng.random((DRAWS, classes)).argsort(axis=1).argsort(axis=1)
    winners = rng.integers(1, classes, (DRAWS, 1))
    amounts = rng.exponential(size=(DRAWS, classes))
    amounts[::2] *= (order[::2] == 0) | (order[::2] == classes - 1)
    won, lost = (amounts * part for part in (order < winners, order >= winners))
    return np.asarray(won / won.sum(axis=1, keepdims=True) - lost / lost.sum(axis=1, keepdims=True))


def farthest_mixtures(
    adversary: LinearAdversary, generators: Sequence[np.random.Generator]
) -> tuple[Float[Tensor, "variants n"], Bool[Tensor, " variants"]]:
    """The farthest of the feasible mixtures of each variant, and of which there is one."""
    mixed = feasible_mixtures(adversary, generators)
    if mixed is None:
        return adversary.own, torch.zeros(adversary.variants, dtype=torch.bool)
    weights, can_be = mixed
    distances = adversary.setting.distance(adversary.own[:, None], weights).sum(dim=-1)
    best = distances.masked_fill(~can_be, -1.0).argmax(dim=1)
    return weights[torch.arange(len(weights)), best], can_be.any(dim=1)
