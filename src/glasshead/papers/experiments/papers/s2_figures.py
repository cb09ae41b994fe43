"""Wu, Wu and Huang (2021): ratings (Fig. 3), mappings (4), adjustments (5), what heads learn (6, 7), the
paper's size, and heads for pairs.

The paper prints no number beside these figures, so nothing is inside or outside.
"""

from collections.abc import Iterator
from typing import Any

from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.figures import IntervalPicture
from glasshead.papers.experiments.papers.data_sources import AG_10K, SST2
from glasshead.papers.experiments.papers.s2_recipes import (
    AMAZON,
    DATA_DIFFERENCES,
    DIFFERENCES,
    GRID,
    RATINGS,
    SNLI,
    TITLES,
    TRAIN_60,
    TREC,
    UNIFORM_ENCODER,
    distance_aware_cell,
    floor_cells,
    recipe_of,
    table_floor,
    without_order,
)
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import Claim, PaperTable
from glasshead.training import preset_config

GLOVE = "glove/glove.twitter.27B.25d.common12k.txt.gz"
START_VALUES: dict[str, Any] = {
    "−0.05 … 0.05 (usual)": None,
    "0": 0.0,
    "−0.5 … 0.5": [-0.5, 0.5],
    "−1 … 1": [-1.0, 1.0],
    "0 … 1": [0.0, 1.0],
}
"""Of w_h, over the heads; the paper does not say how it starts."""
CUT_SIZES = (4, 8, 16)
"""Tokens; a sentence of SST-2 has 19 on average."""
ACCURACY_PICTURE = IntervalPicture({"accuracy": "accuracy"}, "accuracy")
LONGER: dict[str, dict[str, Any]] = {
    AG_10K.name: {"max_length": 128},
    AMAZON.name: {"model": "hierarchical", "max_length": 256},
}


def ratings() -> Iterator[Cell]:
    """Figure 3."""
    usual = LONGER[AMAZON.name]
    for word, title in TITLES.items():
        yield Cell(word, title, RATINGS, recipe_of(word, **usual), grid=GRID)
    sinusoids = recipe_of("da-transformer", positions="sinusoidal", **usual)
    yield Cell("da-transformer-sinusoids", "DA-Transformer with sinusoids", RATINGS, sinusoids, grid=GRID)
    for cell in without_order(RATINGS, **usual):
        yield cell.with_fields(name=cell.name.rpartition("/")[2])
    yield table_floor(RATINGS)
    yield Cell(
        "mean", "the mean rating", RATINGS, recipe_of("transformer"), measure="mean-rating", most_seeds=1
    )


def option_table(
    name: str, title: str, option: str, values: tuple[str, ...], pairs: tuple[tuple[str, str], ...]
) -> PaperTable:
    """Figures 4 and 5: one option of DA-Transformer, the paper's value first; of the ``pairs`` sections 4.3
    and 4.4 say that the first is better."""
    cells, claims = [], []
    for data in (TREC, AG_10K, AMAZON):
        for value in values:
            usual = {"attention": "distance-aware"} if value == values[0] else {}
            changes = LONGER.get(data.name, {}) | usual
            cells.append(distance_aware_cell(data, option, value, value, **changes))
        cells += [*without_order(data, **LONGER.get(data.name, {})), table_floor(data)]
        for better, worse in pairs:
            first, second = (f"{data.name}/{option}-{word}" for word in (better, worse))
            claims.append(Claim(f"{data.title}: {better} is better than {worse}", first, second))
    return PaperTable(
        name,
        title,
        cells,
        claims=claims,
        picture=ACCURACY_PICTURE,
        differences=(*DIFFERENCES, "TREC replaces MIND."),
        data_differences=DATA_DIFFERENCES,
    )


def starts(*sources: DataSource) -> Iterator[Cell]:
    """Figures 6 and 7: how w_h starts, and how it ends."""
    for data in sources:
        for title, start in START_VALUES.items():
            usual = {"attention": "distance-aware"} if start is None else {}
            yield distance_aware_cell(data, "initial_w", start, title, **LONGER.get(data.name, {}) | usual)
        yield from without_order(data, **LONGER.get(data.name, {}))
        yield table_floor(data)


def cut_texts() -> Iterator[Cell]:
    """Footnote 7: DA-Transformer on the same texts, whole and cut."""
    for length in CUT_SIZES:
        settings = recipe_of("da-transformer", max_length=length)
        yield Cell(f"sst2/cut-{length}", f"cut after {length} tokens", SST2, settings, grid=GRID)
    yield Cell("sst2/whole", "whole texts", SST2, recipe_of("da-transformer"), grid=GRID)
    yield from without_order(SST2)
    yield table_floor(SST2)


def pair_heads() -> Iterator[Cell]:
    """The paper's head for pairs is a sum of one part for each text; two that compare stand beside it."""
    for word in ("transformer", "da-transformer"):
        compare = recipe_of(word, "pair-encoder", pair_features="compare")
        for name, title, settings in (
            ("concat", "[u; v], as in the paper", recipe_of(word, "pair-encoder")),
            ("compare", "[u; v; |u − v|; u·v]", compare),
            ("cross", "cross-encoder", recipe_of(word, "cross-encoder")),
        ):
            yield Cell(f"snli/{word}-{name}", f"{TITLES[word]}, {title}", SNLI, settings, grid=GRID)
    yield from without_order(SNLI, "pair-encoder")
    yield from floor_cells(SNLI)


def glove_cells() -> Iterator[Cell]:
    """16 heads of size 16: DA-Transformer with random vectors of 300 dimensions and with the GloVe at hand,
    Transformer with both."""
    for data, model in (
        (TREC, None),
        (SST2, None),
        (AG_10K, None),
        (SNLI, "pair-encoder"),
        (AMAZON, "hierarchical"),
    ):
        for word in ("da-transformer", "transformer"):
            settings = preset_config(word, model or "encoder").with_changes(**TRAIN_60)
            for name, title, vectors in (
                ("random", "300 random dimensions", None),
                ("glove", "GloVe, 25 dimensions", GLOVE),
            ):
                own = settings.with_changes(word_vectors=vectors)
                yield Cell(f"{data.name}/{word}-{name}", f"{TITLES[word]}, {title}", data, own)
        plain = preset_config("transformer", model or "encoder").with_changes(**TRAIN_60)
        for cell in without_order(data):
            changes = {"positions": "none"} if cell.name.endswith("positions") else UNIFORM_ENCODER
            yield cell.with_fields(recipe=plain.with_changes(**changes), grid={})
        yield table_floor(data)


FIGURES = (
    PaperTable(
        "figure3",
        "Figure 3, ratings of Amazon reviews",
        [*ratings()],
        metrics=("rmse", "mae"),
        picture=IntervalPicture({"rmse": "RMSE"}, "RMSE"),
        claims=[
            Claim(f"{TITLES[word]} has larger errors than {TITLES[better]}", word, better, metrics=("rmse",))
            for word, better in (
                ("transformer", "shaw"),
                ("transformer", "transformer-xl"),
                ("transformer", "tener"),
                ("transformer", "da-transformer"),
                ("transformer-xl", "da-transformer"),
            )
        ],
        differences=DIFFERENCES,
        data_differences=DATA_DIFFERENCES,
    ),
    option_table(
        "figure4",
        "Figure 4, mappings f of distances",
        "mapping",
        ("learnable-sigmoid", "sigmoid", "exponent", "linear", "clip"),
        (
            ("learnable-sigmoid", "sigmoid"),
            ("sigmoid", "exponent"),
            ("sigmoid", "linear"),
            ("sigmoid", "clip"),
        ),
    ),
    option_table(
        "figure5",
        "Figure 5, ways of adjusting attention",
        "adjust",
        ("early-multiply", "early-add", "late-multiply", "late-add"),
        (
            ("early-multiply", "early-add"),
            ("late-multiply", "late-add"),
            ("early-multiply", "late-multiply"),
            ("early-add", "late-add"),
        ),
    ),
    PaperTable(
        "figure6",
        "Figures 6 and 7, what heads learn, by how w starts",
        [*starts(TREC, AG_10K)],
        metrics=("accuracy", "positive_w", "least_w", "most_w", "positive_v"),
        picture=IntervalPicture({"least_w": "least w", "most_w": "greatest w"}, "w of a head after training"),
        differences=(
            *DIFFERENCES,
            "TREC replaces MIND.",
            "The paper does not say how w starts.",
        ),
        data_differences=DATA_DIFFERENCES,
    ),
    PaperTable(
        "footnote7",
        "Footnote 7, the sign of w by the length of texts",
        [*cut_texts()],
        metrics=("accuracy", "positive_w", "least_w", "most_w"),
        claims=[
            Claim(
                f"more heads have w > 0 where texts are whole than where {length} tokens are left",
                "sst2/whole",
                f"sst2/cut-{length}",
                metrics=("positive_w",),
            )
            for length in CUT_SIZES
        ],
        differences=(
            *DIFFERENCES,
            "The paper saw no significant correlation of the length of texts with the sign of w, and does "
            "not say over which units. Here the same texts are cut, so that nothing else differs; *not "
            "shown* agrees with the paper.",
        ),
    ),
    PaperTable(
        "pairs",
        "SNLI with heads that compare the two texts",
        [*pair_heads()],
        differences=DIFFERENCES,
        data_differences=DATA_DIFFERENCES,
    ),
    PaperTable(
        "paper-size",
        "DA-Transformer and Transformer in the size of the paper",
        [*glove_cells()],
        differences=("Without a grid.", DIFFERENCES[2]),
        data_differences=DATA_DIFFERENCES,
    ),
)
