"""Bhardwaj et al. (2021), identifiable Transformers: Table 1, heads joined in two ways by size of the keys.

The paper prints one accuracy for each cell, without a deviation.
"""

from collections.abc import Iterator
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.figures import IntervalPicture
from glasshead.papers.experiments.papers.s3_figures import FIGURES, SST
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperClaim, PaperTable, claim_of_tables
from glasshead.training import TrainingConfig, preset_config

HEAD_WIDTHS = (1, 4, 16, 64, 256)
HEAD_PRESETS = {"Con": "regular-small", "Add": "identifiable-small"}
SPLIT = LoadOptions(dev_fraction=0.3)
IMDB = DataSource("imdb", "IMDB", SPLIT)
TREC = DataSource("trec", "TREC", SPLIT)
SNLI = DataSource("snli", "SNLI, 20,000 train pairs")
DBPEDIA = DataSource("dbpedia_sample", "DBPedia, 14,000 texts", SPLIT)
AG = DataSource("ag_news_lower", "AG News, 10,000 train texts", SPLIT)
# Accuracy for d_k = 1, 4, 16, 64, 256.
PAPER = {
    IMDB.name: {"Con": (0.884, 0.886, 0.846, 0.803, 0.755), "Add": (0.888, 0.887, 0.886, 0.877, 0.825)},
    TREC.name: {"Con": (0.836, 0.840, 0.823, 0.786, 0.737), "Add": (0.841, 0.835, 0.841, 0.809, 0.771)},
    SST.name: {"Con": (0.643, 0.627, 0.603, 0.574, 0.554), "Add": (0.599, 0.628, 0.628, 0.592, 0.586)},
    SNLI.name: {"Con": (0.675, 0.673, 0.662, 0.659, 0.648), "Add": (0.683, 0.674, 0.673, 0.663, 0.655)},
    DBPEDIA.name: {"Con": (0.979, 0.977, 0.966, 0.957, 0.949), "Add": (0.979, 0.979, 0.978, 0.970, 0.964)},
    AG.name: {"Con": (0.906, 0.904, 0.886, 0.870, 0.869), "Add": (0.902, 0.907, 0.897, 0.901, 0.893)},
}
TRAIN_100: dict[str, Any] = {"epochs": 100, "patience": 10}
"""Until dev is flat: with 120 steps larger keys are merely ahead."""
SIZE_GRID = {"learning_rate": (0.001, 0.003), "dropout": (0.1, 0.4)}
"""The paper's rate and three times it; the paper states no dropout."""


def joins(data: DataSource, model: str = "encoder", **changes: Any) -> Iterator[Cell]:
    """Both ways to join heads by size of the keys, uniform attention, and a bag of words."""

    def recipe(version: str, **more: Any) -> TrainingConfig:
        return preset_config(HEAD_PRESETS[version], model).with_changes(**TRAIN_100 | changes | more)

    for version in HEAD_PRESETS:
        for size, accuracy in zip(HEAD_WIDTHS, PAPER[data.name][version], strict=True):
            yield Cell(
                f"{data.name}/{version}-{size}",
                f"{version}, d_k = {size}",
                data,
                recipe(version, head_dim=size),
                paper={"accuracy": PaperNumber(accuracy)},
                grid=SIZE_GRID,
            )
    # The first token, which pools, reads the mean of all tokens then.
    uniform = recipe("Con", attention="uniform")
    yield Cell(f"{data.name}/uniform", "uniform attention", data, uniform, grid=SIZE_GRID)
    no_positions = recipe("Con", head_dim=16, positions="none")
    yield Cell(f"{data.name}/no-positions", "Con, d_k = 16, no positions", data, no_positions, grid=SIZE_GRID)
    yield counting_floor(data)
    if data is IMDB:  # of other sets hardly a text is longer than what models read
        first = recipe("Con")
        title = f"bag of the first {first.max_length} words"
        yield Cell(f"{data.name}/first-words", title, data, first, measure="bag-of-first-words", most_seeds=1)
    if data is SNLI:
        title = "bag of words, hypothesis only"
        usual = preset_config(HEAD_PRESETS["Con"], "pair-encoder")
        yield Cell(f"{data.name}/hypothesis", title, data, usual, measure="hypothesis-only", most_seeds=1)


def paper_size_cells(data: DataSource) -> Iterator[Cell]:
    """Both ways to join heads in the size of the paper, 20 epochs."""
    for version, preset in HEAD_PRESETS.items():
        for size, accuracy in zip(HEAD_WIDTHS, PAPER[data.name][version], strict=True):
            yield Cell(
                f"{data.name}/{version}-{size}",
                f"{version}, d_k = {size}",
                data,
                preset_config(preset.removesuffix("-small"), "encoder").with_changes(head_dim=size),
                paper={"accuracy": PaperNumber(accuracy)},
            )
    usual = preset_config(HEAD_PRESETS["Con"].removesuffix("-small"), "encoder")
    for name, title, changes in (
        ("uniform", "uniform attention", {"attention": "uniform"}),
        ("no-positions", "Con, d_k = 16, no positions", {"head_dim": 16, "positions": "none"}),
    ):
        yield Cell(f"{data.name}/{name}", title, data, usual.with_changes(**changes))
    yield counting_floor(data)


def counting_floor(data: DataSource) -> Cell:
    """The floor of a table."""
    words: dict[str, Any] = {"measure": "bag-of-words", "most_seeds": 1}
    usual = preset_config(HEAD_PRESETS["Con"], "encoder")
    return Cell(f"{data.name}/bag-of-words", "bag of words", data, usual, **words)


def size_claims(data: DataSource) -> Iterator[Claim]:
    """Section 7: small keys do better than large ones, and Add keeps more of it than Con."""
    for better, worse, text in (
        (("Con", 0), ("Con", 3), "Con with d_k = 1 is better than with 64"),
        (("Con", 0), ("Con", 4), "Con with d_k = 1 is better than with 256"),
        (("Add", 3), ("Con", 3), "with d_k = 64 Add is better than Con"),
        (("Add", 4), ("Con", 4), "with d_k = 256 Add is better than Con"),
    ):
        first, second = (f"{data.name}/{version}-{HEAD_WIDTHS[place]}" for version, place in (better, worse))
        effect = PAPER[data.name][better[0]][better[1]] - PAPER[data.name][worse[0]][worse[1]]
        yield Claim(f"{data.title}: {text}", first, second, effect=round(effect, 3))


TABLE = PaperTable(
    "table1",
    "Table 1, accuracy by size of the keys",
    [*joins(TREC), *joins(SST), *joins(AG), *joins(DBPEDIA), *joins(SNLI, "pair-encoder"), *joins(IMDB)],
    claims=[claim for data in (TREC, SST, AG, DBPEDIA, SNLI, IMDB) for claim in size_claims(data)],
    floor_claims=[
        Claim(
            f"{data.title}: Con with d_k = 1 is better than a bag of words",
            f"{data.name}/Con-1",
            f"{data.name}/bag-of-words",
        )
        for data in (TREC, SST, AG, DBPEDIA, SNLI, IMDB)
    ],
    differences=(
        "Vectors of 128 dimensions; the paper has 512. Texts are cut after 128 tokens, there after 512.",
        "Trained until dev is flat, for at most 100 epochs; the paper trains for 20.",
        "The paper prints one number for each cell, without a deviation.",
        "The smaller the keys, the larger the initial spread of scores (their SD is below): maps are "
        "drawn Glorot-uniform, and the paper does not describe its own.",
    ),
    data_differences={
        SNLI.name: ["20,000 train pairs; the paper has 549,367."],
        DBPEDIA.name: ["14,000 texts of the train part, with our own split; the paper has 560,000."],
        AG.name: ["10,000 train texts, in lower case without digits; the paper has 120,000."],
    },
    picture=IntervalPicture({"accuracy": "accuracy"}, "accuracy"),
    not_at_hand=("Yelp, Sogou, Yahoo and Amazon are not available; d_k = 2, 8, 32 and 128 are left out.",),
)

PAPER_SIZE = PaperTable(
    "paper-size",
    "TREC in the size of the paper",
    [*paper_size_cells(TREC)],
    claims=[*size_claims(TREC)],
    differences=(
        "The paper prints one number for each cell, without a deviation.",
        "Dropout and the initialisation of maps are ours, because the paper does not state them.",
    ),
)


def claims() -> Iterator[PaperClaim]:
    """What the paper says of these tables, in its own protocol and in ours."""
    for where, table in (("Table 1, its own protocol", PAPER_SIZE), ("Table 1, our protocol", TABLE)):
        for text, says in (
            ("Con is better with keys of one number than of 64", "d_k = 1 is better than with 64"),
            ("Con is better with keys of one number than of 256", "d_k = 1 is better than with 256"),
            (
                "With keys of 64 numbers, summed heads (Add) are better than joined ones",
                "d_k = 64 Add is better than Con",
            ),
            ("With keys of 256 numbers, summed heads (Add) are better", "d_k = 256 Add is better than Con"),
        ):
            yield claim_of_tables(text, where, [table], says)
    of = {table.name: table for table in FIGURES}
    yield claim_of_tables(
        "Weights of joined heads are less certain than those of summed ones",
        "sections 3 and 4",
        [of["certainty"]],
        "those of Add",
    )
    yield claim_of_tables(
        "Weights of joined heads are less certain with keys of 64 numbers than of one",
        "sections 3 and 4",
        [of["certainty"]],
        "than with 1",
    )


LEFT_OUT = {
    f"{TABLE.name}/{IMDB.name}": (
        "It takes more hours than everything else that is left, and is only one of six settings of each "
        "claim."
    )
}
PAPERS.register("s3")(
    Paper("s3", "Bhardwaj et al. (2021)", (TABLE, PAPER_SIZE, *FIGURES), [*claims()], LEFT_OUT)
)
