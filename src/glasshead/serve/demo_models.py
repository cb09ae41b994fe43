"""The models of the demo, trained when they are first asked for and kept in the user's cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from platformdirs import user_cache_path

import glasshead
from glasshead.data import load
from glasshead.opening import is_run
from glasshead.serve.opened_model import OpenedModel, open_model
from glasshead.training import TRAINING_PRESETS, train

DATA = "synthetic"
ACTIVATIONS = ("softmax", "tanhmax")
SENTENCE = "the film was very funny and lovely but the story was dull"
"""Its own texts are made up of words in no order: this one, of words that it knows, is offered first."""
OPENING = "it is trained on made-up reviews, once: half a minute"


def demo_openers(cache: Path | None = None) -> dict[str, Callable[[], OpenedModel]]:
    """What opens each model of the demo, by its name; ``cache`` is where they are kept."""
    folder = cache or user_cache_path("glasshead") / "demo" / glasshead.__version__
    return {f"demo-{name}": opener_of(name, folder / name) for name in ACTIVATIONS}


def opener_of(activation: str, folder: Path) -> Callable[[], OpenedModel]:
    """Opens a model of the demo, which is trained before if it is not there."""

    def open_demo() -> OpenedModel:
        if not folder.is_dir():
            train_demo(activation, folder)
        opened = open_model(str(folder))
        return replace(opened, examples=(SENTENCE, *opened.examples))

    return open_demo


def train_demo(activation: str, folder: Path) -> None:
    """Train a model of the demo; what was begun goes on.

    Raises:
        InputError: if another process is at it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    config = TRAINING_PRESETS["s0-paper"].with_changes(attention=activation)
    source = {"source": DATA, "options": {}}
    train(load(DATA), config, folder, source=source, resume=is_run(folder))
