"""What limits the use of a history: a model that hardly learned, snapshots that are too far apart."""

from collections.abc import Sequence

from glasshead.papers.results import History
from glasshead.results import Finding

FEW_SNAPSHOTS, GOOD_SNAPSHOTS = 5, 40
"""With fewer snapshots a curve is hardly one; so many are enough for a short training."""
PLATEAU = 0.95
"""A model that keeps a larger part of its first loss has learned next to nothing."""
FINER = 10
"""How much closer snapshots should be where rates change faster than they follow."""


def loss_plateau(history: History) -> tuple[float, float] | None:
    """The first and last loss on the train texts, if the model has learned almost nothing."""
    loss = history.curve("loss")["mean"]
    if len(loss) < 2 or not loss[-1] > PLATEAU * loss[0]:
        return None
    return float(loss[0]), float(loss[-1])


def stop_step(history: History) -> int | None:
    """The step of the model that the run keeps, that of its best epoch; None if it is the last one."""
    best: int | None = history.facts["best_step"]
    return None if best == int(history.steps[-1]) else best


def interval_for_curves(history: History) -> int | None:
    """The number of steps between snapshots that would give a curve, if there are too few snapshots."""
    finer = max(1, int(history.steps[-1]) // GOOD_SNAPSHOTS)
    few = 1 < len(history.steps) < FEW_SNAPSHOTS
    return finer if few and finer < history.facts["every"] else None


def interval_for_terms(history: History, findings: Sequence[Finding]) -> int | None:
    """The number of steps between snapshots that the terms of the flow need, if a finding says they are too
    sparse."""
    every = history.facts["every"]
    if len(history.steps) < 2 or every < 2:
        return None
    sparse = any(finding.reason in ("too sparse", "too much left") for finding in findings)
    return max(1, every // FINER) if sparse else None
