"""What the heads of a run, or of its repeats, have learned about distance."""

import copy
from pathlib import Path

import numpy as np

from glasshead.attention import DistanceAware
from glasshead.errors import InputError
from glasshead.pictures.distance_positions import distance_layers, model_of
from glasshead.report import Learned, drawn, positions_figure
from glasshead.training import run_folders


def positions_picture(folder: Path, kind: str) -> bytes:
    """w_h and v_h (or what else the mapping learns) of every head, sorted; of repeats, mean ± std over seeds.

    Raises:
        InputError: on a folder that is no run, or whose model is not distance-aware.

    Source: Wu, Wu and Huang (2021), Figs. 6 and 7.
    """
    layers = [learned(each) for each in run_folders(folder)]
    names = list(layers[0])
    if not names:
        raise InputError(
            f"{folder} has no distance-aware attention, so it has learned no w_h: "
            "train with `attention='distance-aware'`"
        )
    if any(list(each) != names for each in layers):
        raise InputError(f"{folder} holds runs of different models: repeats differ in their seeds alone")
    rows = [
        [
            Learned(name, parameter, np.stack([each[name][parameter][0] for each in layers]), initial)
            for parameter, (_, initial) in layers[0][name].items()
        ]
        for name in names
    ]
    return drawn(positions_figure(rows), kind)


def learned(folder: Path) -> dict[str, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Layer → parameter → its values and its initial values, both [heads]."""
    return {name: parameters(position) for name, position in distance_layers(model_of(folder))}


def parameters(position: DistanceAware) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Each learned parameter, with what it was before training."""
    fresh = copy.deepcopy(position)
    fresh.reset_parameters()
    pairs = zip(position.named_parameters(), fresh.parameters(), strict=True)
    return {name: (now.detach().numpy(), before.detach().numpy()) for (name, now), before in pairs}
