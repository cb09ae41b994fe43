"""A table of two cells on made-up texts, and rows that nobody computed."""

import numpy as np

from glasshead.data import LoadOptions
from glasshead.papers.experiments import Cell, Claim, DataSource, PaperTable, Row
from glasshead.training import TrainingConfig

TEXTS = DataSource("synthetic", "made-up texts", LoadOptions(generator={"instances": 40}))
RECIPE = TrainingConfig(epochs=1)


def cell(name, *, paper=None, **changes):
    """A cell with a claimed accuracy."""
    numbers = {} if paper is None else {"accuracy": paper}
    return Cell(name, name.title(), TEXTS, RECIPE.with_changes(**changes), paper=numbers)


def table(cells=None, *, effect=0.1, **fields):
    """Softmax and TanhMax, of which the second is claimed to be better."""
    cells = cells or [cell("softmax"), cell("tanhmax", attention="tanhmax")]
    claims = [Claim("TanhMax is better", cells[1].name, cells[0].name, effect=effect)]
    return PaperTable("small", "a small table", cells, claims=claims, **fields)


def row(of, seed, accuracy, *, hits=None, seconds=10.0, data="d"):
    """A row with an accuracy, or with the hits that have it."""
    numbers = {"accuracy": float(np.mean(hits)) if hits is not None else accuracy}
    return Row(of.name, of.key, seed, data, numbers, seconds, hits=hits)
