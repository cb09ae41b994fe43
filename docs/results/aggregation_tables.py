"""The JSON of `aggregation.py` → aggregation.md, a part of all-layers.md.

python docs/results/aggregation_tables.py
"""

from collections.abc import Sequence

import numpy as np

from aggregation import METHODS, STUDY, TABLES, TEXTS
from rank_tables import CLASSIFIERS, SETS, STATISTICS, Seeds, cost, markdown, standing_cell
from study import HERE

TITLES = SETS | {"ag_news": "AG News"}
REMOVAL = "delete"


def main() -> None:
    """Write aggregation.md."""
    parts = ["<!-- Written by docs/results/aggregation_tables.py: do not edit. -->"]
    for table, cells in TABLES.items():
        known = STUDY.known(table)
        for cell in cells:
            if cell.name in known:
                parts += classifier_part(f"{TITLES[table]}: {CLASSIFIERS[cell.name]}", known[cell.name])
    (HERE / "aggregation.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def classifier_part(title: str, seeds: Seeds) -> list[str]:
    """One classifier: accuracy, what its attention does, and the table."""
    accuracy = [100 * each["accuracy"] for each in seeds.values()]
    facts = (
        f"{len(seeds)} seeds, {TEXTS} texts each. Test accuracy {np.mean(accuracy):.1f} % "
        f"({min(accuracy):.1f} to {max(accuracy):.1f}). Entropy of the weights, from the first attention to "
        f"the last, mean over seeds: {layer_means(seeds, 'entropy')}; SD of the scores: "
        f"{layer_means(seeds, 'score_sd')}."
    )
    rows = [
        [
            f"`{method}`",
            *(standing_cell(seeds, method, f"{name}.{REMOVAL}") for name in STATISTICS),
            cost(seeds, method),
        ]
        for method in METHODS
    ]
    return [f"### {title}", facts, markdown(["", *STATISTICS, "predictions"], rows)]


def layer_means(seeds: Seeds, quantity: str) -> str:
    """The mean over seeds of what every attention does."""
    values: Sequence[Sequence[float]] = [
        [layer[quantity] for layer in each["use"]] for each in seeds.values()
    ]
    return ", ".join(f"{value:.2f}" for value in np.mean(values, axis=0))


if __name__ == "__main__":
    main()
