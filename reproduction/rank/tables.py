"""How each explanation stands in each classifier, beside a random order."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.markdown import markdown, t_half
from reproduction.rank.measure import METHODS, TABLES, TEXTS, TRAININGS

SETS = {"sst2": "SST-2", "trec": "TREC"}
CLASSIFIERS = {
    "pooled": "Pooled classifier (additive attention over word vectors)",
    "encoder": "Transformer encoder (one layer, eight heads)",
    "minilm": "MiniLM, fine-tuned (six layers, twelve heads)",
}
GLYPHS = {"leads": "●", "behind": "○", "not shown": "~", "worse": "▽", "undecided": "?"}
MARKS, OWN_EDIT = "auprc", "\\*"
STATISTICS = ("comprehensiveness", "sufficiency", "deletion", "insertion")
LOWER = ("sufficiency", "deletion")
Seeds = dict[int, dict[str, Any]]


def page() -> Iterator[str]:
    """A part of which-explanation.md."""
    for table, title in SETS.items():
        known = TRAININGS.known(table)
        for cell in TABLES[table]:
            if cell.name in known:
                yield from classifier_part(f"{title}: {CLASSIFIERS[cell.name]}", known[cell.name])
    yield from ("### The other statistics", other_statistics())


def classifier_part(title: str, seeds: Seeds) -> list[str]:
    """One classifier: accuracy and entropy, and the table."""
    accuracy = [100 * each["accuracy"] for each in seeds.values()]
    entropy = [each["entropy"] for each in seeds.values()]
    epochs = ", ".join(map(str, sorted({each["epochs"] for each in seeds.values()})))
    removals = shared_removals(seeds)
    columns = [f"comprehensiveness.{removal}" for removal in removals]
    if all(MARKS in each["methods"][METHODS[0]] for each in seeds.values()):
        columns.append(MARKS)
    rows = [
        [f"`{method}`", *(standing_cell(seeds, method, column) for column in columns), cost(seeds, method)]
        for method in METHODS
    ]
    heads = ["", *(column.rpartition(".")[2] for column in columns), "predictions"]
    heads = ["marks (AUPRC)" if head == MARKS else head for head in heads]
    facts = (
        f"{len(seeds)} seeds, {TEXTS} texts each, {epochs} epochs. Test accuracy {np.mean(accuracy):.1f} % "
        f"({min(accuracy):.1f} to {max(accuracy):.1f}); entropy of the attention that is read "
        f"{np.mean(entropy):.2f} ({min(entropy):.2f} to {max(entropy):.2f}; 1 is uniform)."
    )
    return [f"### {title}", facts, markdown(heads, rows)]


def shared_removals(seeds: Seeds) -> list[str]:
    """The meanings of deleting that every seed has, in order: one that is another's edit is not repeated."""
    first, *rest = (each["removals"] for each in seeds.values())
    return [name for name in first if all(name in other for other in rest)]


def standing_cell(seeds: Seeds, method: str, column: str) -> str:
    """The mean gain over a random order with its interval over seeds, and the standing of each seed."""
    numbers = [each["methods"][method][column] for each in seeds.values()]
    gains = np.array([estimate - random for estimate, random, _ in numbers])
    if column.startswith(LOWER):
        gains = -gains
    glyphs = "".join(GLYPHS[standing] for _, _, standing in numbers)
    half = f" ± {t_half(gains):.3f}" if len(gains) > 1 else ""
    own = {each["methods"][method]["own_removal"] for each in seeds.values()}
    mark = OWN_EDIT if column.rpartition(".")[2] in own else ""
    return f"{gains.mean():+.3f}{half} {glyphs}{mark}".replace("-", "−")


def cost(seeds: Seeds, method: str) -> str:
    """The median over seeds of how many predictions a method takes."""
    predictions = np.median([each["methods"][method]["predictions"] for each in seeds.values()])
    return f"{predictions:.0f}" if predictions >= 10 else f"{predictions:.1f}"


def other_statistics() -> str:
    """In how many of all tables (seed and meaning of deleting) each method leads, by statistic."""
    rows = []
    for table, title in SETS.items():
        known = TRAININGS.known(table)
        for cell in TABLES[table]:
            seeds = known.get(cell.name, {})
            if not seeds:
                continue
            removals = shared_removals(seeds)
            for method in METHODS:
                counts = [leading_share(seeds, method, statistic, removals) for statistic in STATISTICS]
                rows.append([f"{title}, {cell.name}", f"`{method}`", *counts])
    return markdown(["", "method", *STATISTICS], rows)


def leading_share(seeds: Seeds, method: str, statistic: str, removals: Sequence[str]) -> str:
    """In how many of so many it leads."""
    standings = [
        each["methods"][method][f"{statistic}.{removal}"][2]
        for each in seeds.values()
        for removal in removals
    ]
    return f"{standings.count('leads')} of {len(standings)}"
