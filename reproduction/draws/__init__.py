"""How far the median over random weights belongs to its text, and not to its draws.

The perturbation audit is asked twice, with other draws.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from glasshead.audits import AUDITS, build_view
from glasshead.opening import load_run, open_subject
from glasshead.training import TRAINING_PRESETS, train
from reproduction.encoder_scale.measure import SST2
from reproduction.study import Study, measure_missing

TEXTS = 600
WEIGHTS = ("permutation", "random", "random-normalised")


def measure_correlations(processes: int = 1) -> None:
    """Both mechanisms, with the default preset on SST-2, seed 0."""
    jobs = {
        f"{attention} | {weights}": partial(correlation, attention, weights)
        for attention in ("softmax", "tanhmax")
        for weights in WEIGHTS
    }
    measure_missing("draws", "correlations", jobs, processes, digits=2)


def correlation(attention: str, weights: str) -> float:
    """Pearson's, of the medians |Δŷ| of the same test texts between two sets of draws."""
    data = SST2.read()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / attention
        train(data, TRAINING_PRESETS["s0-paper"].with_changes(attention=attention), run)
        subject = build_view(open_subject(load_run(run)), data["test"], limit=TEXTS)
        column = f"{weights}.median.absolute"
        one, other = (AUDITS["perturbation"](subject, seed=seed).examples[column] for seed in (1, 2))
    return float(np.corrcoef(one, other)[0, 1])


STUDY = Study("draws", {"correlations": measure_correlations}, {})
