"""How each aggregation stands beside a random order, and beside another one."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.aggregation.measure import METHODS, TABLES, TEXTS, TRAININGS
from reproduction.markdown import markdown, t_half
from reproduction.rank.tables import CLASSIFIERS, SETS, STATISTICS, Seeds, cost, standing_cell

TITLES = SETS | {"ag_news": "AG News"}
REMOVAL = "delete"
PAIRS = (
    ("cp-lrp", "erasure-delete"),
    ("attn-lrp", "cp-lrp"),
    ("alti", "gradient-attention"),
    ("alti", "gradient-attention-signed"),
    ("gradient-attention-signed", "gradient-attention"),
    ("gradient-attention", "attention"),
    ("layer-mean", "rollout"),
    ("value-norm", "attention"),
)
"""What the page holds against each other."""
FALLS = ("sufficiency", "deletion")
"""Of these a small number is faithful."""


def page() -> Iterator[str]:
    """A part of all-layers.md."""
    for table, cells in TABLES.items():
        known = TRAININGS.known(table)
        for cell in cells:
            if cell.name in known:
                yield from classifier_part(f"{TITLES[table]}: {CLASSIFIERS[cell.name]}", known[cell.name])
    yield from difference_part()


def classifier_part(title: str, seeds: Seeds) -> list[str]:
    """One classifier: accuracy, what its attention does, and the table."""
    accuracy = [100 * each["accuracy"] for each in seeds.values()]
    facts = (
        f"{len(seeds)} seeds, {TEXTS} texts each. Test accuracy {np.mean(accuracy):.1f} % "
        f"({min(accuracy):.1f} to {max(accuracy):.1f}). Entropy of the weights, from the first attention to "
        f"the last, mean over seeds: {layer_means(seeds, 'use', 'entropy')} (before training "
        f"{layer_means(seeds, 'before', 'entropy')}); SD of the scores: "
        f"{layer_means(seeds, 'use', 'score_sd')} (before {layer_means(seeds, 'before', 'score_sd')})."
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


def difference_part() -> list[str]:
    """The gain of one method minus that of another, of the same trainings."""
    rows = []
    for one, other in PAIRS:
        for table, cells in TABLES.items():
            known = TRAININGS.known(table)
            for cell in cells:
                seeds = known.get(cell.name, {})
                if len(seeds) > 1:
                    numbers = [difference(seeds, one, other, name) for name in STATISTICS]
                    rows.append([f"`{one}` − `{other}`", f"{TITLES[table]}, {cell.name}", *numbers])
    about = (
        "The gain of one method minus that of another in the same trainings, ± half of the 95 % t-interval "
        "over trainings; \\* where that leaves 0 out, of each number by itself."
    )
    return ["### Paired differences", about, markdown(["methods", "classifier", *STATISTICS], rows)]


def difference(seeds: Seeds, one: str, other: str, statistic: str) -> str:
    """The mean over trainings, with its interval; positive where the one is more faithful."""
    values = np.array(
        [
            gain(each["methods"][one], statistic) - gain(each["methods"][other], statistic)
            for each in seeds.values()
        ]
    )
    half, mean = t_half(values), float(values.mean())
    mark = r" \*" if abs(mean) > half else ""
    return f"{mean:+.3f} ± {half:.3f}{mark}".replace("-", "−")


def gain(method: dict[str, Any], statistic: str) -> float:
    """How much more faithful than a random order."""
    own, null, _ = method[f"{statistic}.{REMOVAL}"]
    return float(null - own if statistic in FALLS else own - null)


def layer_means(seeds: Seeds, when: str, quantity: str) -> str:
    """The mean over seeds of what every attention does."""
    values: Sequence[Sequence[float]] = [[layer[quantity] for layer in each[when]] for each in seeds.values()]
    return ", ".join(f"{value:.2f}" for value in np.mean(values, axis=0))
