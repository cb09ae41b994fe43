"""What other maps cost: the adversaries for several λ, as a table and a figure."""

from typing import Any

import numpy as np

from reproduction.debate.measure import BASE, SWEEPS, TRAININGS
from reproduction.markdown import markdown, plus_minus, t_half
from reproduction.study import picture

DISTANCES = ("maps", "predictions")
Seeds = dict[int, dict[str, Any]]


def known_sweeps(titles: dict[str, str]) -> dict[str, dict[str, Seeds]]:
    """By data set the numbers of every λ, of sets whose sweep is whole."""
    sweeps = {}
    for table, cells in SWEEPS.items():
        known = TRAININGS.known(table)
        if all(len(known.get(cell.name, {})) == cell.seeds for cell in cells):
            sweeps[table.removesuffix("-sweep")] = known
    return {name: sweeps[name] for name in titles if name in sweeps}


def distances(seeds: Seeds) -> dict[str, list[float]]:
    """How far maps and predictions are from those of the base, seed by seed."""
    return {
        what: [each["divergence"][what]["estimate"] for each in seeds.values() if "divergence" in each]
        for what in DISTANCES
    }


def sweep_table(titles: dict[str, str], bases: dict[str, dict[str, Seeds]]) -> str:
    """Both distances and F1 by λ, and the distances of another seed."""
    rows = []
    for name, known in known_sweeps(titles).items():
        for cell, seeds in known.items():
            far = distances(seeds)
            f1 = [each["f1"] for each in seeds.values()]
            rows.append([titles[name], cell, *(plus_minus(far[what]) for what in DISTANCES), plus_minus(f1)])
        ruler = distances(bases[name][BASE])
        f1 = [each["f1"] for each in bases[name][BASE].values()]
        rows.append(
            [titles[name], "another seed", *(plus_minus(ruler[what]) for what in DISTANCES), plus_minus(f1)]
        )
    return markdown(["", "", "JSD of maps", "TVD of predictions", "F1"], rows)


def draw_sweeps(titles: dict[str, str], bases: dict[str, dict[str, Seeds]]) -> None:
    """Distance of predictions over that of maps: means over seeds, with their intervals; a diamond is another
    seed of the base."""
    import matplotlib.pyplot as plt

    sweeps = known_sweeps(titles)
    if not sweeps:
        return
    figure, axes = plt.subplots(1, len(sweeps), figsize=(2.6 * len(sweeps), 2.6), sharey=True, squeeze=False)
    for axis, (name, known) in zip(axes[0], sweeps.items(), strict=True):
        points = [distances(seeds) for seeds in known.values()]
        x, y = ([np.mean(point[what]) for point in points] for what in DISTANCES)
        arms = [[t_half(point[what]) for point in points] for what in DISTANCES]
        axis.errorbar(
            x, y, xerr=arms[0], yerr=arms[1], color="#1b6ca8", marker="o", markersize=3, linewidth=1
        )
        places = dict(zip(known, zip(x, y, strict=True), strict=True))
        for cell, side, above in ((min(places), "left", -12), (max(places), "right", 7)):
            axis.annotate(
                cell, places[cell], xytext=(0, above), textcoords="offset points", fontsize=8, ha=side
            )
        ruler = distances(bases[name][BASE])
        axis.errorbar(
            *(np.mean(ruler[what]) for what in DISTANCES),
            xerr=t_half(ruler["maps"]),
            yerr=t_half(ruler["predictions"]),
            color="#c46210",
            marker="D",
            markersize=4,
            linewidth=1,
            label="another seed",
        )
        axis.set(title=titles[name], xlabel="JSD of the maps (nats)", xlim=(0, 0.75))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set(ylabel="TVD of the predictions", ylim=(0, None))
    axes[0][0].legend(frameon=False, fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(picture("debate-sweep.png"), metadata={"Software": None})
    plt.close(figure)
