"""The farthest weights with the same prediction, of those that another query draws from the same keys."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from glasshead.arrays import AnyFloats
from glasshead.audits.adversary.ascent import Adversary
from glasshead.audits.adversary.doublings import Doublings, Effort
from glasshead.audits.adversary.forward_adversary import ProducibleForward
from glasshead.audits.adversary.free import Texts, forward_batches
from glasshead.audits.adversary.linear_adversary import ProducibleLinear
from glasshead.audits.adversary.setting import Setting
from glasshead.audits.context import AuditContext
from glasshead.audits.map_statistics import rows_for_site
from glasshead.data import batches
from glasshead.explainers import ForwardObservation
from glasshead.identifiability import attention_rows
from glasshead.models import PooledClassifier
from glasshead.trace import ResumedPasses, thread_hook

TINY = 1e-12
PRODUCIBLE_KEYS = 32  # vectors weigh as many maps
SPREADS = (
    0.0,
    2.5,
)  # powers of ten: between these the standard deviation of the scores that a candidate adds
STEP_UNITS = 3.0  # a query so many units away is moved in steps of one


def unproducible_reason(context: AuditContext) -> str | None:
    """Why no other query can be asked; None if one can."""
    explanation, readout = context.explanation, context.readout
    if readout is None:
        assert explanation.site is not None
        return None if explanation.site.has_values else "the model does not show its queries and keys"
    if isinstance(explanation.model, PooledClassifier):
        if explanation.model.pooling.score is None:
            return "its weights are those of another model"
        per_token = explanation.model.config.score == "query-key"
        return "every token has a query of its own, so none draws the whole map" if per_token else None
    if readout.part is not None and bool(readout.parts().any()):
        return "each text of a pair has a map of its own"
    return None if context.sentence_of_token is None else "the keys are sentences"


def producible_distances(setting: Setting, texts: Texts, seed: int, effort: Effort) -> dict[str, AnyFloats]:
    """The distance of the farthest weights φ of another query from the model's own [texts], and, of a learned
    query, from those of a random one whose scores vary as much and, where equal scores give equal weights,
    from uniform ones; NaN for texts without tokens."""
    generator = torch.Generator().manual_seed(seed)
    observation = setting.context.explanation.observation
    if isinstance(observation, ForwardObservation):
        return by_forward(setting, observation, texts, generator, effort)
    return by_learned_query(setting, texts, generator, effort)


def by_forward(
    setting: Setting,
    observation: ForwardObservation,
    texts: Texts,
    generator: torch.Generator,
    effort: Effort,
) -> dict[str, AnyFloats]:
    """Queries q + δ of each row that is read."""
    distances = np.full(len(texts), np.nan)

    def draw(adversary: Adversary) -> tuple[Tensor, Tensor]:
        assert isinstance(adversary, ProducibleForward)
        return random_queries(adversary.call.q, adversary.owner, adversary.variants, generator)

    for places, observed, passes in forward_batches(setting, observation, texts):

        def adversary_of(
            times: int,
            count: int = len(places),
            observed: ForwardObservation = observed,
            passes: ResumedPasses = passes,
        ) -> Adversary:
            return ProducibleForward(setting, observed, passes, torch.arange(count).repeat(times))

        distances[places] = Doublings(setting, adversary_of, draw, len(places), effort).farthest()
    return {"own": distances}


def by_learned_query(
    setting: Setting, texts: Texts, generator: torch.Generator, effort: Effort
) -> dict[str, AnyFloats]:
    """Queries in place of the one that pools, φ(s + K δ)."""
    bases = ("own", "random", *(["uniform"] if setting.domain == "simplex" else []))
    distances = {base: np.full(len(texts), np.nan) for base in bases}
    readout, model = setting.context.readout, setting.context.explanation.model
    assert readout is not None
    chosen = torch.from_numpy(texts)
    keys_of = read_pooled_keys if isinstance(model, PooledClassifier) else read_learned_query_keys
    for places, recorded in keys_of(setting.context, chosen):
        rows = chosen[places]
        keys = in_units(recorded.to(readout.scores), readout.mask[rows])
        scores, mask = readout.scores[rows].to(keys), readout.mask[rows]
        query = torch.randn(len(places), keys.shape[2], generator=generator).to(keys)
        drawn = torch.einsum("bnd,bd->bn", keys, query)
        drawn = drawn * (deviation(scores, mask) / deviation(drawn, mask).clamp_min(TINY))[:, None]

        def draw(adversary: Adversary, like: Tensor = keys[:, 0]) -> tuple[Tensor, Tensor]:
            return random_queries(
                like.new_empty(adversary.variants, like.shape[1]),
                adversary.owner,
                adversary.variants,
                generator,
            )

        for base, base_scores in zip(bases, (scores, drawn, torch.zeros_like(scores)), strict=False):

            def adversary_of(times: int, parts: tuple[Tensor, ...] = (rows, base_scores, keys)) -> Adversary:
                repeated = (part.repeat(times, *(1,) * (part.ndim - 1)) for part in parts)
                return ProducibleLinear(setting, readout, *repeated)

            search = Doublings(setting, adversary_of, draw, len(places), effort)
            distances[base][places.numpy()] = search.farthest()
    return distances


def random_queries(
    like: Tensor, owner: Int[Tensor, " rows"], variants: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """δ of the shape of ``like`` in random directions, whose sizes vary from variant to variant over
    `SPREADS`, and that size where it is above 1 as the unit of the search: what is far away is moved in large
    steps."""
    low, high = SPREADS
    sizes = 10 ** (low + (high - low) * torch.rand(variants, generator=generator))
    unit = sizes.to(like)[owner].reshape(-1, *(1,) * (like.ndim - 1))
    directions = torch.randn(like.shape, generator=generator).to(like)
    return unit * directions, (unit / STEP_UNITS).clamp_min(1.0).expand_as(like)


def deviation(scores: Float[Tensor, "b n"], mask: Bool[Tensor, "b n"]) -> Float[Tensor, " b"]:
    """The standard deviation of the scores of each text."""
    count = mask.sum(dim=1).clamp(min=1)
    mean = (scores * mask).sum(dim=1) / count
    return (((scores - mean[:, None]) * mask).square().sum(dim=1) / count).sqrt()


def in_units(keys: Float[Tensor, "b n d"], mask: Bool[Tensor, "b m"]) -> Float[Tensor, "b m d"]:
    """Keys, zero where there is no token, in the unit in which a query of unit normal numbers moves the
    scores by about 1."""
    keys = functional.pad(keys, (0, 0, 0, mask.shape[1] - keys.shape[1])).masked_fill(~mask[..., None], 0.0)
    return keys / keys[mask].std(dim=0).norm().clamp_min(TINY)


@torch.no_grad()
def read_pooled_keys(
    context: AuditContext, texts: Int[Tensor, " texts"]
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
    context: AuditContext, texts: Int[Tensor, " texts"]
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
