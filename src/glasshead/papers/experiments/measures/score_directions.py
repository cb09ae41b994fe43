"""Which way attention scores move by group of tokens: Huang, Yang and Wang (2024), section 3."""

from typing import Any

import numpy as np

from glasshead.opening import read_record
from glasshead.papers.dynamics import direction_callback, groups_from_source
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.results import History, read_history
from glasshead.training import LOSSES

SNAPSHOT_STEPS = 20
"""Steps between two snapshots."""
GROUPS = ("positive", "negative", "neutral")


@MEASURES.register("score-directions")
def score_directions(job: Job) -> Measured:
    """What `classifier` measures, and of each group of tokens the share whose canonical score has risen over
    the training, and how often ds/dτ has the sign of −∂R/∂s, and that of other losses.

    ``opposite`` is the share of positive tokens that rose minus that of negative ones: 1 if all went opposite
    ways, 0 if both groups went one way. ``neutral_change`` is the mean change of a neutral score by that of
    a positive or negative one, both by size.
    """
    job.train([direction_callback(groups_from_source(job.cell.data.record()), SNAPSHOT_STEPS)])
    measured = classifier(job)
    kind = {"kind": read_record(job.folder)["gauge"]["kind"]}
    return Measured(measured.numbers | direction_numbers(read_history(job.folder)) | kind, measured.hits)


def direction_numbers(history: History) -> dict[str, Any]:
    """Which way the scores of each group have gone; those of a history are canonical."""
    tokens = history.tokens
    ends = [tokens["score"][tokens["step"] == step] for step in (history.steps[0], history.steps[-1])]
    group = tokens["group"][tokens["step"] == history.steps[-1]]
    change = ends[1] - ends[0]
    numbers: dict[str, Any] = {}
    sizes: dict[str, float] = {}
    for name in GROUPS:
        own = change[(group == name) & np.isfinite(change)]
        if not len(own):
            continue
        numbers[f"rising_{name}"] = float((own > 0).mean())
        numbers[f"change_{name}"] = float(own.mean())
        sizes[name] = float(np.abs(own).mean())
    if len(sizes) == len(GROUPS):
        numbers["opposite"] = numbers["rising_positive"] - numbers["rising_negative"]
        numbers["neutral_change"] = 2 * sizes["neutral"] / (sizes["positive"] + sizes["negative"])
    for name in ("follows", *(f"as {loss}" for loss in LOSSES)):
        shares = [history.curve(name, group)["mean"] for group in ("positive", "negative")]
        if all(len(share) for share in shares):
            numbers[name.replace(" ", "_")] = float(np.mean([share.mean() for share in shares]))
    return numbers
