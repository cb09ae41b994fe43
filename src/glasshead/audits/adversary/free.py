"""The farthest weights with the same prediction, of all that an activation can produce, text by text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.arrays import AnyFloats, Integers
from glasshead.audits.adversary import draws
from glasshead.audits.adversary.climb import MEMORY, Adversary
from glasshead.audits.adversary.forward_adversary import ForwardAdversary
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.mixtures import farthest_mixtures
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.adversary.vertices import corners, farthest_vertex
from glasshead.audits.adversary.waves import Reached, Waves
from glasshead.audits.adversary.weight_families import border_parameters, two_token_parameters
from glasshead.audits.measuring.null_weights import random_weights, same_mass, uniform_base
from glasshead.data import batch_size, batches
from glasshead.explainers import TARGETS, ForwardObservation, LinearReadout
from glasshead.huggingface import isolated_copy
from glasshead.trace import ResumedPasses

MAP_BASES = ("own", "random", "uniform")
LOG_ODDS = TARGETS["log-odds"]
Texts = NDArray[np.int64]
Seeds = NDArray[np.int64]
BLOCK_NUMBERS = 50_000_000  # of all that is kept of the climbs of a block
COPIES = 2 * MEMORY + 12  # of the parameters of a climb
GRAPH = 4  # what gradients hold of a pass, in passes


@dataclass(frozen=True)
class Found:
    """What was found of some texts: the distance of the farthest map, by the weights that it departs from
    ("own" are the model's); from the model's own for which texts the search ``converged`` (1, or 0), and
    from how many ``starts``; whether a prediction is ``flat``: no weights change it by more than ε. NaN of
    texts without tokens. Where it is ``exact``, no map is farther."""

    distances: dict[str, AnyFloats]
    converged: AnyFloats
    starts: AnyFloats
    flat: NDArray[np.bool_]
    exact: bool = False

    @classmethod
    def empty(cls, bases: tuple[str, ...], texts: int) -> "Found":
        """Nothing known of so many texts."""
        return cls(
            {base: np.full(texts, np.nan) for base in bases},
            np.full(texts, np.nan),
            np.full(texts, np.nan),
            np.zeros(texts, dtype=bool),
        )

    @classmethod
    def exactly(cls, bases: tuple[str, ...], distances: AnyFloats, flat: NDArray[np.bool_]) -> "Found":
        """What is known without a search."""
        known = np.where(np.isnan(distances[0]), np.nan, 1.0)
        return cls(dict(zip(bases, distances, strict=True)), known, 0 * known, flat, True)

    def fill(self, places: Integers, reached: Reached) -> None:
        """What was reached of the texts at some places: those of each base one after the other."""
        count = len(places)
        for number, base in enumerate(self.distances):
            self.distances[base][places] = reached.distances[number * count : (number + 1) * count]
        self.converged[places], self.starts[places] = reached.converged[:count], reached.starts[:count]
        self.flat[places] = ~reached.moved[:count]


def free_distances(setting: Setting, texts: Texts, seeds: Seeds) -> Found:
    """The distance of the farthest weights from each of the `MAP_BASES`, of texts with a seed each.

    Random and uniform weights have the mass of those that they replace, and the prediction that they give is
    the one to be kept.
    """
    observation = setting.context.explanation.observation
    if isinstance(observation, ForwardObservation):
        return search_forward(setting, observation, texts, seeds)
    readout = setting.context.readout
    assert readout is not None
    bases = bases_of(readout, texts, seeds)
    if setting.exact:
        return exact_distances(setting, readout, bases, texts)
    return search_linear(setting, readout, bases, texts, seeds)


def bases_of(readout: LinearReadout, texts: Texts, seeds: Seeds) -> AnyFloats:
    """The weights of some texts, and random and uniform ones of the same mass in each part [3, texts, n],
    drawn in the canonical gauge."""
    mask, parts = readout.mask.numpy()[texts], readout.parts().numpy()[texts]
    weights, drawn = readout.weights.numpy()[texts], np.zeros(mask.shape)
    for place, seed in enumerate(seeds.tolist()):
        every = np.ones((1, int(mask[place].sum())), dtype=bool)
        drawn[place, mask[place]] = random_weights(
            every, readout.signed, np.random.default_rng([seed, draws.BASE])
        )[0]
    random = same_mass((readout.gauge * drawn)[:, None], weights, parts)[:, 0]
    return np.stack([weights, random, uniform_base(readout)[texts]])


def exact_distances(setting: Setting, readout: LinearReadout, bases: AnyFloats, texts: Texts) -> Found:
    """Largest distances by the vertices of what is feasible."""
    distances = np.full((len(bases), len(texts)), np.nan)
    flat = np.zeros(len(texts), dtype=bool)
    for place, text in enumerate(texts.tolist()):
        keys = np.flatnonzero(readout.mask[text].numpy())
        if not len(keys):
            continue
        polarity = readout.polarity[text, keys, 0].double().numpy()
        bias = float(readout.bias[0])
        for base, weights in enumerate(bases[:, place, keys].astype(np.float64)):
            low, high = setting.planes(float(weights @ polarity) + bias)
            planes = low - bias, high - bias
            farthest = farthest_vertex(weights, polarity, setting.domain, planes, setting.distance)
            terms = setting.distance(torch.from_numpy(weights), torch.from_numpy(farthest))
            distances[base, place] = float(terms.sum())
            if base == 0:
                points = corners(setting.domain, len(keys))
                assert points is not None
                reach = points.sign * polarity[points.token]
                flat[place] = bool((reach >= planes[0]).all() and (reach <= planes[1]).all())
    return Found.exactly(MAP_BASES, distances, flat)


def search_linear(
    setting: Setting, readout: LinearReadout, bases: AnyFloats, texts: Texts, seeds: Seeds
) -> Found:
    """Search where more than one number is read off the weights."""
    found = Found.empty(MAP_BASES, len(texts))
    filled = np.flatnonzero(readout.mask[texts].any(dim=1).numpy())
    count = len(filled)
    if not count:
        return found
    rows = torch.from_numpy(texts[filled]).repeat(len(bases))
    own = torch.from_numpy(bases[:, filled].reshape(len(rows), -1)).to(readout.polarity)
    streams = [(seed, draws.FREE, base) for base in range(len(bases)) for seed in seeds[filled].tolist()]

    def adversary_of(targets: Int[Tensor, " variants"]) -> Adversary:
        return LinearAdversary(setting, readout, rows[targets], own[targets])

    width = max(own.shape[1], 1)
    block = max(BLOCK_NUMBERS // (width * COPIES), 1)
    starts = FreeStarts(setting, streams)
    found.fill(
        filled, Waves(setting, setting.search.in_readout, len(rows), adversary_of, starts, block).farthest()
    )
    found.flat[filled] &= flat_by_corners(setting, adversary_of(torch.arange(count)))
    return found


def search_forward(setting: Setting, observation: ForwardObservation, texts: Texts, seeds: Seeds) -> Found:
    """Search through what follows the layer, in float32, text by text."""
    found = Found.empty(MAP_BASES, len(texts))
    for place, observed, passes, block in forward_texts(setting, observation, texts):
        seed = int(seeds[place])
        own = ForwardAdversary(setting, observed, passes, torch.zeros(1, dtype=torch.long))
        bases = forward_bases(setting, own, np.random.default_rng([seed, draws.BASE]))

        def adversary_of(
            targets: Int[Tensor, " variants"],
            observed: ForwardObservation = observed,
            passes: ResumedPasses = passes,
            bases: Tensor = bases,
        ) -> Adversary:
            return ForwardAdversary(setting, observed, passes, targets, bases)

        starts = FreeStarts(setting, [(seed, draws.FREE, base) for base in range(len(MAP_BASES))])
        places = np.array([place])
        found.fill(
            places, Waves(setting, setting.search, len(MAP_BASES), adversary_of, starts, block).farthest()
        )
        found.flat[places] &= flat_by_corners(setting, own)
    return found


def forward_texts(
    setting: Setting, observation: ForwardObservation, texts: Texts
) -> Iterator[tuple[int, ForwardObservation, ResumedPasses, int]]:
    """The place of each of some texts, a copy of the model whose parameters stay, passes over this text
    alone, and how many variants of it a pass may have; no text shares a batch with another, so that none
    changes the last digits of another, which a search makes large."""
    model = isolated_copy(observation.model, torch.float32).requires_grad_(False)
    observed = replace(observation, model=model)
    chosen = torch.from_numpy(texts)
    filled = np.flatnonzero(setting.context.token_mask[texts].any(axis=1)).tolist()
    for done, place in enumerate(filled, start=1):
        ((_, inputs),) = batches(observation.encoded, chosen[place : place + 1], model.device)
        length = inputs["attention_mask"].shape[1]
        of_text = replace(observed, rows=observation.rows.some(chosen[place : place + 1]))
        block = batch_size(length, maps=observation.site.num_heads * (GRAPH + COPIES))
        yield place, of_text, of_text.passes(inputs), block
        observation.progress(done, len(filled))


def forward_bases(setting: Setting, own: ForwardAdversary, rng: np.random.Generator) -> Tensor:
    """The model's own weights, random and uniform ones of the mass of each row [3, R, h, q, k]."""
    generators = [rng]
    noise = draws.uniform_where(own.mask, own.owner, generators).to(own.own)
    signed = own.call.mechanism.signed
    signs = torch.from_numpy(setting.context.head_signs).to(own.own)[own.edited.nonzero()[:, 1]][:, None]
    mass = own.own.abs().sum(dim=-1, keepdim=True)
    result = [own.all]
    for weights in ((2 * noise - 1 if signed else noise) * own.mask, own.mask.to(noise)):
        total = weights.abs().sum(dim=-1, keepdim=True)
        base = own.all.clone()
        base[own.edited] = signs * weights * mass / torch.where(total > 0, total, 1.0)
        result.append(base)
    return torch.stack(result)


@dataclass(frozen=True)
class FreeStarts:
    """Parameters to climb from: of each target first the farthest map of the model that is linear as this one
    is near the weights to depart from; then maps of two random tokens and, every other time where outputs are
    linear, the farthest of some mixtures of as many tokens as there are classes."""

    setting: Setting
    streams: Sequence[draws.Stream]

    def __call__(
        self, adversary: Adversary, targets: Int[Tensor, " variants"], numbers: Int[Tensor, " variants"]
    ) -> Tensor:
        domain, owner = self.setting.domain, adversary.owner.cpu()
        generators = draws.generators(self.streams, targets, numbers)
        noise, signs = (draws.uniform_where(adversary.mask, owner, generators) for _ in range(2))
        starts = two_token_parameters(adversary.mask.cpu(), noise, signs < 0.5, domain).to(adversary.own)
        first, odd = numbers == 0, numbers % 2 == 1
        if first.any():
            nearby = first_order_weights(self.setting, adversary.some(first.nonzero()[:, 0]))
            starts[first[owner]] = border_parameters(nearby, domain)
        if isinstance(adversary, LinearAdversary) and odd.any():
            mixed, some = farthest_mixtures(adversary, generators)
            rows = (some & odd)[owner]
            starts[rows] = border_parameters(mixed, domain)[rows]
        return starts


def flat_by_corners(setting: Setting, adversary: Adversary) -> NDArray[np.bool_]:
    """Of which variants the prediction stays within ε at the two corners in which Σ a_i ∂z/∂a_i of every map
    is largest and smallest: then other weights hardly change it."""
    _, slopes = slopes_at_own_weights(setting, adversary)
    moved = np.zeros(adversary.variants, dtype=bool)
    reach = slopes.masked_fill(~adversary.mask, 0.0)
    for sign in (1.0, -1.0):
        scores = sign * reach
        weights = torch.zeros_like(adversary.own)
        top, token = scores.masked_fill(~adversary.mask, -torch.inf).max(dim=-1, keepdim=True)
        size = torch.ones_like(top)
        if setting.domain == "below-one":
            size = (top > 0).to(top)
        if setting.domain == "cross":
            _, token = scores.abs().masked_fill(~adversary.mask, -torch.inf).max(dim=-1, keepdim=True)
            size = torch.where(scores.gather(-1, token) < 0, -1.0, 1.0).to(top)
        weights = weights.scatter(-1, token, size).masked_fill(~adversary.mask, 0.0)
        with torch.no_grad():
            moved |= (setting.excess(adversary.before, adversary.logits(weights)) > 0).cpu().numpy()
    return ~moved


def slopes_at_own_weights(setting: Setting, adversary: Adversary) -> tuple[Tensor, Tensor]:
    """z of the predicted class of every variant, or its rating, and ∂z/∂a at the weights to depart from."""
    own = adversary.own.clone().requires_grad_()
    with torch.enable_grad():
        logits = adversary.logits(own)
        score = logits[:, 0] if setting.context.is_regression else LOG_ODDS(logits, logits.argmax(dim=-1))
        (slopes,) = torch.autograd.grad(score.sum(), own)
    return score.detach(), slopes


def first_order_weights(setting: Setting, adversary: Adversary) -> Tensor:
    """The farthest vertex of every map, where o = ∂z/∂a of the predicted class, or of the rating, and each
    map of a variant may use its share of what z may change."""
    score, slopes = slopes_at_own_weights(setting, adversary)
    result = adversary.own.clone()
    maps_of = adversary.total(torch.ones_like(result[:, :1])).tolist()
    planes = [setting.planes(one) for one in score.tolist()]
    scores = score.tolist()
    for number, variant in enumerate(adversary.owner.tolist()):
        keys = adversary.mask[number].nonzero()[:, 0]
        weights, polarity = (part[number, keys].double().cpu().numpy() for part in (adversary.own, slopes))
        middle = float(weights @ polarity)
        low, high = (middle + (plane - scores[variant]) / maps_of[variant] for plane in planes[variant])
        farthest = farthest_vertex(weights, polarity, setting.domain, (low, high), setting.distance)
        result[number, keys] = torch.from_numpy(farthest).to(result)
    return result
