"""The farthest weights with the same prediction, of those that another query produces from the same keys."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from glasshead.arrays import AnyFloats
from glasshead.audits.adversary import draws
from glasshead.audits.adversary.climb import Adversary, Climb
from glasshead.audits.adversary.forward_adversary import ProducibleForward
from glasshead.audits.adversary.free import (
    BLOCK_NUMBERS,
    COPIES,
    Found,
    Seeds,
    Texts,
    forward_texts,
)
from glasshead.audits.adversary.linear_adversary import ProducibleLinear
from glasshead.audits.adversary.mixtures import farthest_mixtures
from glasshead.audits.adversary.plane import DIMENSIONS, QueryPlane
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.adversary.waves import Reached, Waves
from glasshead.audits.adversary.weight_families import border_parameters, two_token_parameters
from glasshead.audits.measuring.map_intervals import rows_for_site
from glasshead.audits.measuring.view import ModelView
from glasshead.data import batches
from glasshead.explainers import ForwardObservation
from glasshead.identifiability import attention_rows
from glasshead.models import PooledClassifier
from glasshead.trace import ResumedPasses, thread_hook

TINY = 1e-12
PRODUCIBLE_KEYS = 32  # vectors weigh as many maps
SPREADS = (-0.5, 1.5)
"""Powers of ten: between these the standard deviation of the scores that a random query adds."""
PINV = 1e-5


def unproducible_reason(context: ModelView) -> str | None:
    """Why no other query can be asked; None if one can."""
    explanation, readout = context.explanation, context.readout
    if readout is None:
        assert explanation.site is not None
        return None if explanation.site.has_values else "the model does not show its queries and keys"
    if isinstance(explanation.model, PooledClassifier):
        if explanation.model.pooling.score is None:
            return "its weights are those of another model"
        per_token = explanation.model.config.score == "query-key"
        return "every token has its own query, so none produces the whole map" if per_token else None
    if readout.part is not None and bool(readout.parts().any()):
        return "each text of a pair has its own map"
    return None if context.sentence_of_token is None else "the keys are sentences"


def producible_distances(setting: Setting, texts: Texts, seeds: Seeds) -> Found:
    """The distance of the farthest weights φ of another query from the model's own, and, of a learned query,
    from those of a random one whose scores vary as much and, where equal scores give equal weights, from
    uniform ones; of texts with a seed each."""
    observation = setting.context.explanation.observation
    if isinstance(observation, ForwardObservation):
        return by_forward(setting, observation, texts, seeds)
    return by_learned_query(setting, texts, seeds)


def by_forward(setting: Setting, observation: ForwardObservation, texts: Texts, seeds: Seeds) -> Found:
    """Queries q + δ of each row that is read, text by text."""
    found = Found.empty(("own",), len(texts))
    for place, observed, passes, block in forward_texts(setting, observation, texts):

        def adversary_of(
            targets: Int[Tensor, " variants"],
            observed: ForwardObservation = observed,
            passes: ResumedPasses = passes,
        ) -> Adversary:
            return ProducibleForward(setting, observed, passes, targets)

        starts = QueryStarts(setting, [(int(seeds[place]), draws.PRODUCIBLE)])
        found.fill(
            np.array([place]), Waves(setting, setting.search, 1, adversary_of, starts, block).farthest()
        )
    return found


def by_learned_query(setting: Setting, texts: Texts, seeds: Seeds) -> Found:
    """Queries in place of the one that pools, φ(s + K δ)."""
    bases = ("own", "random", *(["uniform"] if setting.domain == "simplex" else []))
    found = Found.empty(bases, len(texts))
    readout, model = setting.context.readout, setting.context.explanation.model
    assert readout is not None
    exact, chosen = False, torch.from_numpy(texts)
    filled = readout.mask[chosen].any(dim=1)
    keys_of = read_pooled_keys if isinstance(model, PooledClassifier) else read_learned_query_keys
    for every_place, every_key in keys_of(setting.context, chosen):
        places, recorded = every_place[filled[every_place]], every_key[filled[every_place]]
        if not len(places):
            continue
        rows, own_seeds = chosen[places], seeds[places.numpy()].tolist()
        keys = in_units(recorded.to(readout.scores), readout.mask[rows])
        exact = setting.exact and keys.shape[2] <= DIMENSIONS
        scores, mask = readout.scores[rows].to(keys), readout.mask[rows]
        drawn = random_scores(keys, scores, mask, own_seeds)
        parts = (
            rows.repeat(len(bases)),
            torch.cat([scores, drawn, torch.zeros_like(scores)][: len(bases)]),
            keys.repeat(len(bases), 1, 1),
        )

        def adversary_of(
            targets: Int[Tensor, " variants"], parts: tuple[Tensor, ...] = parts
        ) -> ProducibleLinear:
            return ProducibleLinear(setting, readout, *(part[targets] for part in parts))

        if exact:
            reached = Reached.exactly(by_plane(setting, adversary_of(torch.arange(len(parts[0])))))
        else:
            streams = [(seed, draws.PRODUCIBLE, base) for base in range(len(bases)) for seed in own_seeds]
            block = max(BLOCK_NUMBERS // (keys[0].numel() * COPIES), 1)
            starts = QueryStarts(setting, streams)
            reached = Waves(
                setting, setting.search.in_readout, len(streams), adversary_of, starts, block
            ).farthest()
        found.fill(places.numpy(), reached)
    return replace(found, exact=exact)


def by_plane(setting: Setting, adversary: ProducibleLinear) -> AnyFloats:
    """The distance of each variant, where its query has one or two numbers and one number is read off the
    weights: of the farthest of all queries, and of those to which the best of them climb."""
    distances, starts = np.zeros(adversary.variants), []
    for variant in range(adversary.variants):
        keys = adversary.mask[variant].nonzero()[:, 0]
        polarity = adversary.polarity[variant, keys, 0].double()
        bias = float(adversary.readout.bias[0])
        low, high = setting.planes(float(adversary.own[variant, keys].double() @ polarity) + bias)
        plane = QueryPlane(
            adversary.scores[variant, keys].double(),
            adversary.keys[variant, keys].double(),
            polarity,
            adversary.activation,
            (low - bias, high - bias),
            setting.distance,
            setting.domain,
        )
        queries, distances[variant] = plane.farthest()
        starts.append(queries)
    variants = torch.arange(adversary.variants).repeat_interleave(torch.tensor([len(one) for one in starts]))
    climbs = Climb(setting)(adversary.some(variants), torch.cat(starts).to(adversary.own))
    np.maximum.at(distances, variants.numpy(), climbs.distances.double().numpy())
    return distances


def random_scores(
    keys: Float[Tensor, "b n d"], scores: Float[Tensor, "b n"], mask: Bool[Tensor, "b n"], seeds: list[int]
) -> Float[Tensor, "b n"]:
    """Scores of a random query for each text, which vary as much as others."""
    queries = [np.random.default_rng([seed, draws.BASE]).normal(size=keys.shape[2]) for seed in seeds]
    drawn = torch.einsum("bnd,bd->bn", keys, torch.from_numpy(np.stack(queries)).to(keys))
    return drawn * (deviation(scores, mask) / deviation(drawn, mask).clamp_min(TINY))[:, None]


@dataclass(frozen=True)
class QueryStarts:
    """Queries to climb from: by turns a random direction, whose size varies over `SPREADS`, and the query
    whose scores are nearest to those of a map of two random tokens."""

    setting: Setting
    streams: Sequence[draws.Stream]

    def __call__(
        self, adversary: Adversary, targets: Int[Tensor, " variants"], numbers: Int[Tensor, " variants"]
    ) -> Tensor:
        assert isinstance(adversary, ProducibleForward | ProducibleLinear)
        keys, scores = adversary.map_keys(), adversary.map_scores()
        owner, mask, width = adversary.owner.cpu(), adversary.mask.cpu(), keys.shape[-1]
        generators = draws.generators(self.streams, targets, numbers)
        starts = random_queries(adversary, generators, width)
        noise, signs = (draws.uniform_where(mask, owner, generators) for _ in range(2))
        wanted = two_token_parameters(mask, noise, signs < 0.5, self.setting.domain).to(keys)
        if isinstance(adversary, ProducibleLinear):
            mixed, some = farthest_mixtures(adversary, generators)
            wanted[some] = border_parameters(mixed, self.setting.domain)[some]
        nearest = nearest_queries(keys, wanted - scores, adversary.mask, self.setting.domain == "simplex")
        return torch.where((numbers % 2 == 1)[owner].to(keys.device)[:, None], nearest, starts)


def random_queries(
    adversary: Adversary, generators: Sequence[np.random.Generator], width: int
) -> Float[Tensor, "maps d"]:
    """δ of every map in a random direction, of a size that the maps of a variant share."""
    owner = adversary.owner.cpu()
    counts = torch.bincount(owner, minlength=len(generators)).tolist()
    drawn = [
        10 ** rng.uniform(*SPREADS) * rng.normal(size=(count, width))
        for rng, count in zip(generators, counts, strict=True)
    ]
    result = torch.empty(len(owner), width, dtype=torch.float64)
    result[owner.argsort(stable=True)] = torch.from_numpy(np.concatenate(drawn))
    return result.to(adversary.own)


def nearest_queries(
    keys: Float[Tensor, "maps n d"], wanted: Float[Tensor, "maps n"], mask: Bool[Tensor, "maps n"], free: bool
) -> Float[Tensor, "maps d"]:
    """δ with the least Σ (K δ − wanted)², up to a number for all tokens of a map where that is ``free``."""
    wanted = wanted.masked_fill(~mask, 0.0)
    keys = keys.masked_fill(~mask[..., None], 0.0)
    if free:
        count = mask.sum(dim=1, keepdim=True).clamp(min=1)
        wanted = (wanted - wanted.sum(dim=1, keepdim=True) / count) * mask
        keys = (keys - keys.sum(dim=1, keepdim=True) / count[..., None]) * mask[..., None]
    return torch.einsum("mdn,mn->md", torch.linalg.pinv(keys, rtol=PINV), wanted)


def deviation(scores: Float[Tensor, "b n"], mask: Bool[Tensor, "b n"]) -> Float[Tensor, " b"]:
    """The standard deviation of the scores of each text."""
    count = mask.sum(dim=1).clamp(min=1)
    mean = (scores * mask).sum(dim=1) / count
    return (((scores - mean[:, None]) * mask).square().sum(dim=1) / count).sqrt()


def in_units(keys: Float[Tensor, "b n d"], mask: Bool[Tensor, "b m"]) -> Float[Tensor, "b m d"]:
    """Keys, zero where there is no token, in the unit in which a query of unit normal numbers moves the
    scores of their text by about 1."""
    keys = functional.pad(keys, (0, 0, 0, mask.shape[1] - keys.shape[1])).masked_fill(~mask[..., None], 0.0)
    count = mask.sum(dim=1).clamp(min=1)[:, None, None]
    centred = (keys - keys.sum(dim=1, keepdim=True) / count) * mask[..., None]
    sizes = (centred.square().sum(dim=(1, 2), keepdim=True) / count).sqrt()
    return keys / torch.where(sizes > TINY, sizes, 1.0)


@torch.no_grad()
def read_pooled_keys(
    context: ModelView, texts: Int[Tensor, " texts"]
) -> Iterator[tuple[Int[Tensor, " b"], Float[Tensor, "b n d"]]]:
    """Places among the texts, and ∂s_i/∂q of their tokens, in a pooled classifier."""
    model = context.explanation.model
    recorded: list[Tensor] = []
    assert isinstance(model, PooledClassifier)

    def record_keys(module: nn.Module, inputs: tuple[Tensor, ...], scores: Tensor) -> None:
        recorded.append(module.keys(*inputs).cpu())  # type: ignore[operator]

    assert model.pooling.score is not None
    hook = model.pooling.score.register_forward_hook(thread_hook(record_keys))
    try:
        for places, inputs in batches(context.explanation.encoded, texts, model.device, maps=PRODUCIBLE_KEYS):
            recorded.clear()
            model(**inputs)
            yield places, recorded[0]
    finally:
        hook.remove()


def read_learned_query_keys(
    context: ModelView, texts: Int[Tensor, " texts"]
) -> Iterator[tuple[Int[Tensor, " b"], Float[Tensor, "b n d"]]]:
    """Places and ∂s_i/∂q where an attention with one learned query pools."""
    site, encoded = context.explanation.site, context.explanation.encoded.some(texts.numpy())
    assert site is not None
    selector = replace(rows_for_site(site), layers=(site.layer,))
    for rows in attention_rows(context.explanation.model, encoded, selector):
        width = max(int(row.keys.max()) + 1 for row in rows)
        jacobians = [row.score_jacobian for row in rows if row.score_jacobian is not None]
        keys = torch.zeros(len(rows), width, jacobians[0].shape[1], dtype=torch.float64)
        for number, (row, jacobian) in enumerate(zip(rows, jacobians, strict=True)):
            keys[number, row.keys] = torch.from_numpy(jacobian)
        yield torch.tensor([row.text for row in rows]), keys
