"""Both solutions over α = n / d, beside trainings of the same model."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from glasshead.errors import InputError
from glasshead.papers.results import TRANSITION_QUANTITIES, Transition, TransitionPoint
from glasshead.papers.solvable.loss import TransitionSettings
from glasshead.papers.solvable.simulation import train_from
from glasshead.papers.solvable.state_evolution import STARTS, critical_alpha, linear_error, solve

POWER = 13
"""2^POWER points of the expectations."""
MOST_ENTRIES = 2e7
"""Of a token's coordinates in the texts of one training."""


def solve_transition(
    alphas: Sequence[float],
    settings: TransitionSettings | None = None,
    *,
    d: int = 500,
    seeds: int = 5,
    known: Sequence[TransitionPoint] = (),
    on_point: Callable[[list[TransitionPoint]], None] = lambda points: None,
) -> Transition:
    """The theory and ``seeds`` trainings at each α from each start; points that are ``known`` are taken over.

    ``on_point`` is called with all points whenever one is finished.

    Raises:
        InputError: if a number is out of its range.
    """
    settings = TransitionSettings() if settings is None else settings
    alphas = sorted(set(alphas))
    if not alphas or alphas[0] <= 0 or round(alphas[0] * d) < 1 or alphas[-1] > 100:
        raise InputError(f"alphas are {alphas}: give numbers from 1 / d to 100")
    for name, value, highest in (("d", d, 5000), ("seeds", seeds, 1000)):
        if not 2 <= value <= highest:
            raise InputError(f"{name} is {value}: give a whole number from 2 to {highest:,}")
    if round(alphas[-1] * d) * d > MOST_ENTRIES:
        raise InputError(f"d is {d} and the largest alpha {alphas[-1]:g}: more numbers than {MOST_ENTRIES:g}")
    points = list(known)
    known_points = {(point.alpha, point.start) for point in points}
    for alpha in alphas:
        for start in STARTS:
            if (alpha, start) in known_points:
                continue
            theory = asdict(solve(alpha, start, settings, power=POWER))
            runs = [asdict(train_from(start, alpha, d, settings, seed)) for seed in range(seeds)]
            theory |= {name: abs(theory[name]) for name in ("m", "theta")}
            points.append(TransitionPoint(alpha, start, theory, [training_numbers(run) for run in runs]))
            on_point(points)
    points.sort(key=lambda point: (point.alpha, point.start))
    shared = asdict(settings) | {"d": d, "seeds": seeds}
    result = Transition(shared, points, None, linear_error(settings))
    if result.crossing is None:
        return result
    return replace(result, critical=critical_alpha(settings, result.crossing, power=POWER))


def training_numbers(run: dict[str, float]) -> dict[str, float]:
    """What is kept of a training."""
    return {name: run[name] for name in (*TRANSITION_QUANTITIES, "gradient")}
