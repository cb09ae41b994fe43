"""Bhardwaj et al. (2021): ranks over the length of a text (Figs. 2, 5 and 6), and what small keys and summed
heads do to the certainty of weights (sections 3 and 4)."""

from collections.abc import Iterator
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.figures import RankPicture
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import Claim, PaperTable
from glasshead.training import preset_config

FIGURE_PRESETS = {"Con": "regular", "Add": "identifiable"}
REVIEWS = 1000
IMDB = DataSource(
    "imdb", f"IMDB, {REVIEWS:,} train reviews", LoadOptions(max_examples=REVIEWS, dev_fraction=0.3)
)
SST = DataSource("sst5", "SST, three classes", LoadOptions(labels=3))
FEW_EPOCHS: dict[str, Any] = {"epochs": 4, "batch_size": 16}
TRAIN_FIGURES: dict[str, Any] = {"epochs": 60, "patience": 5}
READ_FROM_FIGURES = {"Con": 64.0, "Add": 380.0}
"""The longest texts before which T has no left null space."""
FIGURE_SIZES = (1, 64)


def rank_cells() -> Iterator[Cell]:
    """Both ways to join heads in the size of the paper, d_k = 64."""
    for version, preset in FIGURE_PRESETS.items():
        paper = {"full_rank_tokens": PaperNumber(READ_FROM_FIGURES[version])}
        if version == "Con":
            paper["obtainable"] = PaperNumber(0.0)
        recipe = preset_config(preset, "encoder").with_changes(**FEW_EPOCHS)
        dims = "64" if version == "Con" else "d_e = 512"
        yield Cell(version, f"{version}, d_v = {dims}", IMDB, recipe, measure="ranks", paper=paper)


def certainty_cells() -> Iterator[Cell]:
    """Both ways to join heads by size of the keys, in the small size."""
    for version, preset in FIGURE_PRESETS.items():
        for size in FIGURE_SIZES:
            recipe = preset_config(f"{preset}-small", "encoder").with_changes(head_dim=size, **TRAIN_FIGURES)
            title = f"{version}, d_k = {size}"
            yield Cell(f"{version}-{size}", title, SST, recipe, measure="certainty")


FIGURES = (
    PaperTable(
        "figure2",
        "Figures 2, 5 and 6, ranks over the length of a text",
        [*rank_cells()],
        metrics=(
            "full_rank_tokens",
            "rank_64",
            "rank_128",
            "rank_256",
            "rank_512",
            "null_512",
            "obtainable",
            "short_of_full",
            "accuracy",
        ),
        labels={
            "full_rank_tokens": "full row rank (95 of 100 texts) up to, tokens",
            "rank_64": "rank T at 64",
            "rank_128": "at 128",
            "rank_256": "at 256",
            "rank_512": "at 512",
            "null_512": "dim LN(T) at 512",
            "short_of_full": "d_s − 1 − smallest rank of logits",
        },
        picture=RankPicture(),
        differences=(
            f"{REVIEWS:,} train reviews and four epochs in batches of 16; the paper has 17,500 and 20 epochs "
            "in batches of 256.",
            "Lengths of 8 to 512 tokens, steps of 32 from 320 on; the paper's numbers are read from its "
            "figures.",
            "Random alternatives of the weights (Fig. 5): five reviews of each of five lengths of 66 to 128 "
            "tokens, 1,000 each. If T has full row rank there are none, so Add has none up to 512.",
        ),
    ),
    PaperTable(
        "certainty",
        "How certain are the weights, by size of the keys?",
        [*certainty_cells()],
        metrics=("width", "may_be_zero", "unique", "undetermined", "accuracy"),
        labels={
            "width": "mean width of the intervals",
        },
        claims=[
            Claim(f"with d_k = {size} weights of Con are less certain than those of Add", *pair, ("width",))
            for size in FIGURE_SIZES
            for pair in [(f"Con-{size}", f"Add-{size}")]
        ]
        + [
            Claim("weights of Con are less certain with d_k = 64 than with 1", "Con-64", "Con-1", ("width",)),
        ],
        differences=(
            "The paper shows no such numbers: they follow its sections 3 and 4.",
            "Vectors of 128 dimensions: d_v = 16 of Con and 128 of Add.",
            "60 test sentences cut to 32 tokens; the row of the first token, all eight heads.",
            "Trained until dev is flat, without a grid.",
        ),
    ),
)
