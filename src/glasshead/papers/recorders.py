"""What `train` finds here: ``--watch dynamics``, ``--attention frozen:RUN`` and ``adversarial:RUN``."""

from collections.abc import Mapping
from typing import Any

from glasshead.papers import other_run  # noqa: F401 (it registers its words)
from glasshead.papers.dynamics import DynamicsCallback, dynamics_callback, groups_from_source
from glasshead.training import RECORDERS


@RECORDERS.register("dynamics")
def record_dynamics(source: Mapping[str, Any] | None, every: int | None) -> DynamicsCallback:
    """A callback that records attention; data that plant words say in which group each was planted."""
    return dynamics_callback(None if source is None else groups_from_source(dict(source)), every)
