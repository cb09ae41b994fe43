"""What the tables of Wu, Wu and Huang (2021) share: data sets, recipes, and how our protocol differs."""

from collections.abc import Iterator
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.papers.data_sources import AG_10K
from glasshead.papers.experiments.source import DataSource
from glasshead.training import TrainingConfig, preset_config

TITLES = {
    "transformer": "Transformer",
    "shaw": "Transformer-RPR",
    "transformer-xl": "Transformer-XL",
    "tener": "Adapted Transformer",
    "da-transformer": "DA-Transformer",
}
TREC = DataSource("trec", "TREC")
SNLI = DataSource("snli", "SNLI, 20,000 train pairs, three classes")
AMAZON = DataSource("amazon_electronics", "Amazon electronics, 2,000 reviews, four ratings as classes")
RATINGS = DataSource("amazon_electronics", "Amazon electronics, ratings", LoadOptions(task="regression"))

TRAIN_60: dict[str, Any] = {"epochs": 60, "patience": 5}
"""Until dev is flat."""
GRID = {"learning_rate": (0.001, 0.003), "dropout": (0.2, 0.5)}
"""The paper's rate and three times it: at a third of it trainings took twice as long for no gain on dev."""
UNIFORM_ENCODER: dict[str, Any] = {"attention": "uniform", "pooling": "mean"}
DIFFERENCES = (
    "Word vectors are trained from a random start; the paper starts from GloVe of 300 dimensions.",
    "One layer of 8 heads of size 8 on 64-dimensional vectors; the paper has 16 heads of size 16 on 300.",
    "Feed-forward size, dropout, batch size, pooling and epochs are ours, because the paper does not "
    "state them.",
)
DATA_DIFFERENCES = {
    AG_10K.name: ["10,000 train texts, in lower case without digits; the paper has 108,000."],
    AMAZON.name: [
        "2,000 reviews of another collection, without 3 stars, with our own split; the paper has 50,000 of "
        "five ratings."
    ],
    SNLI.name: [
        "20,000 train pairs of three classes; Table 1 of the paper counts 55,000 of two, though SNLI has "
        "three classes and 550,000 train pairs."
    ],
}


def recipe_of(word: str, model: str = "encoder", **changes: Any) -> TrainingConfig:
    """One of the five mechanisms in a small model, trained until dev is flat."""
    return preset_config(f"{word}-small", model).with_changes(**TRAIN_60 | changes)


def distance_aware_cell(data: DataSource, option: str, value: Any, title: str, **changes: Any) -> Cell:
    """DA-Transformer with one option of its mechanism."""
    attention = {"position": {"name": "distance-aware", option: value}}
    name = f"{data.name}/{option}-{title}"
    return Cell(
        name, title, data, recipe_of("da-transformer", **{"attention": attention} | changes), grid=GRID
    )


def table_floor(data: DataSource) -> Cell:
    """The floor of a table."""
    return floor(data, "bag-of-words", "bag of words")


def floor_cells(data: DataSource, max_length: int | None = None) -> Iterator[Cell]:
    """The floor; where models read ``max_length`` tokens of longer texts, one that reads no more; and of
    pairs, one that reads the hypothesis alone."""
    yield table_floor(data)
    if max_length is not None:
        title = f"bag of the first {max_length} words"
        yield floor(data, "bag-of-first-words", title, max_length=max_length)
    if data is SNLI:
        yield floor(data, "hypothesis-only", "bag of words, hypothesis only", model="pair-encoder")


def floor(data: DataSource, measure: str, title: str, **changes: Any) -> Cell:
    """What reads words without order, by a measure."""
    settings = recipe_of("transformer", **changes)
    return Cell(f"{data.name}/{measure}", title, data, settings, measure=measure, most_seeds=1)


def without_order(data: DataSource, model: str = "encoder", **changes: Any) -> Iterator[Cell]:
    """What knows no order, and what has no attention: the mean of the tokens, as a learned query that pools
    would still choose."""
    for name, title, more in (
        ("no-positions", "no positions", {"positions": "none"}),
        ("uniform", "uniform attention, mean of the tokens", UNIFORM_ENCODER),
    ):
        settings = recipe_of("transformer", model, **changes | more)
        yield Cell(f"{data.name}/{name}", title, data, settings, grid=GRID)
