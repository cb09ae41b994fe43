"""How much longer a training takes that is watched, at the usual distance between two looks.

Trainings with and without `--watch dynamics` alternate in one process, so that a busy machine slows both; the
ratio is what counts.

    python benchmarks/dynamics.py        (the data: GLASSHEAD_DATA, default ../shared/data)
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from glasshead.data import LoadOptions, load
from glasshead.papers.dynamics import dynamics_callback
from glasshead.training import TrainingConfig, preset_config, train

DATA = Path(os.environ.get("GLASSHEAD_DATA", Path(__file__).parents[2] / "shared" / "data"))
ROUNDS = 3
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "synthetic, DP": ("synthetic", {}),
    "SST-2, DP-A": (str(DATA / "sst2"), {"encoder": "affine", "epochs": 10}),
    "SST-2, LSTM": (str(DATA / "sst2"), {"encoder": "lstm", "epochs": 3}),
    "TREC, DA-Transformer": (str(DATA / "trec"), {"preset": "da-transformer-small", "epochs": 3}),
}


def seconds(data: object, recipe: TrainingConfig, watched: bool) -> float:
    """The wall time of one training."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        train(data, recipe, Path(folder) / "run", callbacks=[dynamics_callback()] if watched else [])  # type: ignore[arg-type]
        return time.perf_counter() - started


def main() -> None:
    """One line per case."""
    for name, (source, changes) in CASES.items():
        recipe = preset_config(str(changes.pop("preset", "s4")), None).with_changes(**changes)
        data = load(source, LoadOptions())
        seconds(data, recipe.with_changes(epochs=1), True)  # warm
        rounds = [(seconds(data, recipe, True), seconds(data, recipe, False)) for _ in range(ROUNDS)]
        ratios = sorted(watched / alone for watched, alone in rounds)
        alone = statistics.median(each for _, each in rounds)
        print(
            f"{name:22} {statistics.median(ratios):.2f} times as long [{ratios[0]:.2f}, {ratios[-1]:.2f}]"
            f" as {alone:.1f} s without, {ROUNDS} rounds",
            flush=True,
        )


if __name__ == "__main__":
    main()
