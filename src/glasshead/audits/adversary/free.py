"""The farthest weights with the same prediction, of all that an activation can produce, text by text."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glasshead.arrays import AnyFloats
from glasshead.attention import AttentionInputs
from glasshead.audits.adversary.ascent import Adversary
from glasshead.audits.adversary.doublings import LOG_ODDS, Doublings, Effort
from glasshead.audits.adversary.forward_adversary import ForwardAdversary
from glasshead.audits.adversary.linear_adversary import LinearAdversary
from glasshead.audits.adversary.mixtures import best_mixtures
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.adversary.vertices import corners, farthest_vertex
from glasshead.audits.adversary.weight_families import border_parameters, random_starts
from glasshead.audits.forward_perturbation import (
    FixedRandomEdit,
    UniformEdit,
    identity_edit,
    match_row_mass,
)
from glasshead.audits.null_weights import base_weights
from glasshead.data import batches
from glasshead.explainers import ForwardObservation, LinearReadout
from glasshead.huggingface import isolated_copy
from glasshead.trace import Edit, ResumedPasses

MAP_BASES = ("own", "random", "uniform")
Texts = NDArray[np.int64]
BLOCK_WEIGHTS = 2_000_000  # weights of all variants of one search
GRAPH = 4  # what gradients hold of a pass, in passes


def free_distances(
    setting: Setting, texts: Texts, seed: int, effort: Effort
) -> tuple[dict[str, AnyFloats], NDArray[np.bool_]]:
    """The distance of the farthest weights from each of the BASES [texts], and whether the prediction of a
    text is flat: no weights change it by more than ε.

    Random and uniform weights have the mass of those that they replace, and the prediction that they give is
    the one to be kept. NaN for texts without tokens.
    """
    observation = setting.context.explanation.observation
    if isinstance(observation, ForwardObservation):
        return search_forward(setting, observation, texts, seed, effort)
    readout, rng = setting.context.readout, np.random.default_rng([seed, 16])
    assert readout is not None
    bases = base_weights(readout, rng)[:, texts]
    if setting.exact:
        return exact_distances(setting, readout, bases, texts)
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    return search_linear(setting, readout, bases, texts, generator, effort)


def exact_distances(
    setting: Setting, readout: LinearReadout, bases: AnyFloats, texts: Texts
) -> tuple[dict[str, AnyFloats], NDArray[np.bool_]]:
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
    return dict(zip(MAP_BASES, distances, strict=True)), flat


def search_linear(
    setting: Setting,
    readout: LinearReadout,
    bases: AnyFloats,
    texts: Texts,
    generator: torch.Generator,
    effort: Effort,
) -> tuple[dict[str, AnyFloats], NDArray[np.bool_]]:
    """Search by gradients, where more than one number is read off the weights."""
    distances, flat = np.full((len(bases), len(texts)), np.nan), np.zeros(len(texts), dtype=bool)
    lengths = readout.mask[texts].sum(dim=1)
    (filled,) = (lengths > 0).nonzero(as_tuple=True)
    order = filled[lengths[filled].argsort()]
    for places in order.split(max(BLOCK_WEIGHTS // (setting.search.candidates * readout.mask.shape[1]), 1)):
        for base in range(len(bases)):

            def adversary_of(times: int, places: Tensor = places, base: int = base) -> Adversary:
                variants = places.repeat(times)
                own = torch.from_numpy(bases[base])[variants].to(readout.polarity)
                return LinearAdversary(setting, readout, torch.from_numpy(texts)[variants], own)

            best, moved = farthest_free(setting, adversary_of, generator, len(places), effort)
            distances[base, places.numpy()] = best
            if base == 0:
                flat[places.numpy()] = ~moved
    return dict(zip(MAP_BASES, distances, strict=True)), flat


def search_forward(
    setting: Setting, observation: ForwardObservation, texts: Texts, seed: int, effort: Effort
) -> tuple[dict[str, AnyFloats], NDArray[np.bool_]]:
    """Search by gradients through what follows the layer, in float32."""
    distances, flat = np.full((len(MAP_BASES), len(texts)), np.nan), np.zeros(len(texts), dtype=bool)
    generator = torch.Generator().manual_seed(seed)
    signs = torch.from_numpy(setting.context.head_signs)
    for places, observed, passes in forward_batches(setting, observation, texts):
        every = torch.arange(len(places))
        for number, base in enumerate(MAP_BASES):
            # Drawn once: every variant goes away from the same random weights.
            own = ForwardAdversary(setting, observed, passes, every, base_edit(base, generator, signs)).own

            def adversary_of(
                times: int,
                every: Tensor = every,
                own: Tensor = own,
                observed: ForwardObservation = observed,
                passes: ResumedPasses = passes,
            ) -> Adversary:
                return ForwardAdversary(setting, observed, passes, every.repeat(times), constant_edit(own))

            best, moved = farthest_free(setting, adversary_of, generator, len(places), effort)
            distances[number, places] = best
            if base == "own":
                flat[places] = ~moved
    return dict(zip(MAP_BASES, distances, strict=True)), flat


def forward_batches(
    setting: Setting, observation: ForwardObservation, texts: Texts
) -> Iterator[tuple[Texts, ForwardObservation, ResumedPasses]]:
    """Places among the texts, a copy of the model whose parameters stay, and passes over these texts."""
    model = isolated_copy(observation.model, torch.float32).requires_grad_(False)
    observed = replace(observation, model=model)
    chosen = torch.from_numpy(texts)
    filled = torch.from_numpy(np.flatnonzero(setting.context.token_mask[texts].any(axis=1)))
    search = setting.search
    maps, done = observation.site.num_heads * max(search.starts * GRAPH, search.candidates), 0
    for batch, inputs in batches(observation.encoded, chosen[filled], model.device, maps=maps):
        of_batch = replace(observed, rows=observation.rows.some(chosen[filled[batch]]))
        yield filled[batch].numpy(), of_batch, of_batch.passes(inputs)
        done += len(batch)
        observation.progress(done, len(filled))


def base_edit(base: str, generator: torch.Generator, signs: Tensor) -> Edit:
    """The model's own weights, random or uniform ones of the mass of each row."""
    if base == "random":
        return match_row_mass(FixedRandomEdit(generator, signs))
    return UniformEdit(signs) if base == "uniform" else identity_edit


def constant_edit(own: Tensor) -> Edit:
    """An edit that gives some texts one set of weights in each variant of them."""

    def repeat_weights(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return own.repeat(len(weights) // len(own), 1, 1, 1)

    return repeat_weights


def farthest_free(
    setting: Setting,
    adversary_of: Callable[[int], Adversary],
    generator: torch.Generator,
    texts: int,
    effort: Effort,
) -> tuple[AnyFloats, NDArray[np.bool_]]:
    """The largest distance that is found of each text, and whether any weights changed the prediction.

    The first start of each text is the farthest map of the model that is linear as this one is near its own
    weights; the others are random.
    """

    one = adversary_of(1)

    def draw(adversary: Adversary) -> tuple[Tensor, Tensor]:
        starts = random_starts(adversary.mask, setting.domain, generator).to(adversary.own)
        if isinstance(one, LinearAdversary):
            mixed = best_mixtures(one, generator, setting.search.candidates // 2)
            if mixed is not None:
                weights, feasible = (part.transpose(0, 1).flatten(0, 1) for part in mixed)
                starts[: len(weights)][feasible] = border_parameters(weights, setting.domain)[feasible]
        return starts, torch.ones_like(starts)

    def first(adversary: Adversary) -> Tensor:
        return border_parameters(first_order_weights(setting, adversary, texts), setting.domain)

    search = Doublings(setting, adversary_of, draw, texts, effort, first)
    distances = search.farthest()
    with torch.no_grad():
        extremes = extreme_weights(setting, one, texts)
        changes = torch.stack([*map(one.changes, extremes)]).amax(dim=0).cpu().numpy()
    return distances, search.moved | (changes > setting.search.epsilon)


def slopes_at_own_weights(setting: Setting, adversary: Adversary) -> tuple[Tensor, Tensor]:
    """z of the predicted class of every variant, or its rating, and ∂z/∂a at the model's own weights."""
    own = adversary.own.clone().requires_grad_()
    with torch.enable_grad():
        logits = adversary.logits(own)
        score = logits[:, 0] if setting.context.is_regression else LOG_ODDS(logits, logits.argmax(dim=-1))
        (slopes,) = torch.autograd.grad(score.sum(), own)
    return score, slopes


def extreme_weights(setting: Setting, adversary: Adversary, texts: int) -> list[Tensor]:
    """The two vertices, for the first ``texts`` variants, of every map in which Σ a_i ∂z/∂a_i is largest and
    smallest: where these leave the prediction as it is, other weights hardly change it."""
    _, slopes = slopes_at_own_weights(setting, adversary)
    results = [adversary.own.clone(), adversary.own.clone()]
    owners = adversary.owner.tolist()
    for mask in adversary.maps:
        for place in mask.any(dim=-1).nonzero().tolist():
            at = tuple(place)
            if owners[place[0]] >= texts:
                continue
            keys = mask[at].nonzero()[:, 0]
            points = corners(setting.domain, len(keys))
            assert points is not None
            reach = points.sign * slopes[at][keys].double().cpu().numpy()[points.token]
            for result, corner in zip(results, (reach.argmax(), reach.argmin()), strict=True):
                vertex = torch.zeros(len(keys), dtype=result.dtype, device=result.device)
                vertex[int(points.token[corner])] = float(points.sign[corner])
                result[(*at, keys)] = vertex
    return results


def first_order_weights(setting: Setting, adversary: Adversary, texts: int) -> Tensor:
    """The farthest vertex of every map of the first ``texts`` variants, where o = ∂z/∂a of the predicted
    class, or of the rating, and each map of a variant may use its share of what z may change."""
    score, slopes = slopes_at_own_weights(setting, adversary)
    result = adversary.own.clone()
    counts = score.new_zeros(adversary.variants, dtype=torch.long)
    for mask in adversary.maps:
        counts.index_add_(0, adversary.owner, mask.any(dim=-1).reshape(len(mask), -1).sum(dim=1))
    scores, owners, maps_of = score.tolist(), adversary.owner.tolist(), counts.tolist()
    for mask in adversary.maps:
        for place in mask.any(dim=-1).nonzero().tolist():
            at, variant = tuple(place), owners[place[0]]
            if variant >= texts:
                continue
            keys = mask[at].nonzero()[:, 0]
            weights, polarity = (part[at][keys].double().cpu().numpy() for part in (adversary.own, slopes))
            middle = float(weights @ polarity)
            low, high = (
                middle + (plane - scores[variant]) / maps_of[variant]
                for plane in setting.planes(scores[variant])
            )
            farthest = farthest_vertex(weights, polarity, setting.domain, (low, high), setting.distance)
            result[(*at, keys)] = torch.from_numpy(farthest).to(result)
    return result
