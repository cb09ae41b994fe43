"""What other maps cost: how far attention goes from that of a run, and how far predictions go with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from glasshead.audits.map_divergence import map_divergence
from glasshead.results import AdversaryCurve
from glasshead.torch_modes import in_own_modes


@in_own_modes
def adversary_curve(
    adversaries: Mapping[float, object],
    base: object,
    texts: Sequence[str],
    *,
    seeds: Sequence[object] = (),
    seed: int = 0,
) -> AdversaryCurve:
    """`map_divergence` of the adversaries of ``base``, by λ, as `glasshead.training.train_adversaries` has
    them; each says its ``weight`` λ, and its ``row()`` is one of a table.

    Mean JSD of the maps is the abscissa and mean TVD of the predictions the ordinate of Fig. 5 of the paper:
    where maps go far at no cost, they were not needed.

    Raises:
        InputError: as `map_divergence`.

    Source: Wiegreffe and Pinter (2019), section 4.
    """
    points = []
    for weight, model in sorted(adversaries.items()):
        point = map_divergence(model, base, texts, seeds=seeds, seed=seed)
        points.append(replace(point, facts={"weight": weight} | dict(point.facts)))
    return AdversaryCurve(points)
