"""How much longer a training takes that is watched, at the usual distance between two looks.

Trainings with and without `--watch dynamics` alternate in one process, so that a busy machine slows both; the
ratio is what counts.

    python -m benchmarks.dynamics        (the data: GLASSHEAD_DATA, default ../shared/data)
"""

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import DATA, Spread, print_table, ratios, time_interleaved
from glasshead.data import LoadOptions, load
from glasshead.papers.dynamics import dynamics_callback
from glasshead.training import TrainingConfig, preset_config, train

ROUNDS = 3
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "synthetic, DP": ("synthetic", {}),
    "SST-2, DP-A": (str(DATA / "sst2"), {"encoder": "affine", "epochs": 10}),
    "SST-2, LSTM": (str(DATA / "sst2"), {"encoder": "lstm", "epochs": 3}),
    "TREC, DA-Transformer": (str(DATA / "trec"), {"preset": "da-transformer-small", "epochs": 3}),
}


def train_once(data: object, recipe: TrainingConfig, watched: bool) -> None:
    """One training."""
    with tempfile.TemporaryDirectory() as folder:
        train(data, recipe, Path(folder) / "run", callbacks=[dynamics_callback()] if watched else [])  # type: ignore[arg-type]


def measure(source: str, changes: dict[str, object]) -> dict[str, list[float]]:
    """Seconds with and without, round by round."""
    options = dict(changes)
    recipe = preset_config(str(options.pop("preset", "s4")), None).with_changes(**options)
    work = partial(train_once, load(source, LoadOptions()), recipe)
    return time_interleaved({"watched": partial(work, True), "alone": partial(work, False)}, rounds=ROUNDS)


def main() -> None:
    """Print a row for each case."""
    seconds = {name: measure(*case) for name, case in CASES.items()}
    print_table(
        f"Trainings, watched, {ROUNDS} rounds",
        list(CASES),
        {
            "case": str,
            "s without": lambda name: f"{Spread.of(seconds[name]['alone']).median:.1f}",
            "× with": lambda name: ratios(seconds[name]["watched"], seconds[name]["alone"]),
        },
    )


if __name__ == "__main__":
    main()
