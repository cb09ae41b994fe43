"""How far the median over random weights belongs to its text, and not to its draws.

    python docs/results/draws.py

Trains a softmax and a TanhMax classifier on SST-2 (default preset, seed 0), asks the perturbation audit twice
with other draws, and prints how the medians |Δŷ| of the same 600 test texts correlate between the two
(Pearson).
"""

import tempfile
from pathlib import Path

import numpy as np

from encoder_scale import SST2
from glasshead.audits import AUDITS, build_context
from glasshead.opening import load_run, open_subject
from glasshead.training import TRAINING_PRESETS, train

TEXTS = 600
COLUMNS = ("permutation.median.absolute", "random.median.absolute", "random-normalised.median.absolute")


def main() -> None:
    data = SST2.read()
    with tempfile.TemporaryDirectory() as folder:
        for attention in ("softmax", "tanhmax"):
            run = Path(folder) / attention
            train(data, TRAINING_PRESETS["s0-paper"].with_changes(attention=attention), run)
            subject = build_context(open_subject(load_run(run)), data["test"], limit=TEXTS)
            one, other = (AUDITS["perturbation"](subject, seed=seed).examples for seed in (1, 2))
            for column in COLUMNS:
                print(f"{attention:8} {column:34} {np.corrcoef(one[column], other[column])[0, 1]:+.3f}")


if __name__ == "__main__":
    main()
