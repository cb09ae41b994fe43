"""Wu, Wu and Huang (2021), DA-Transformer: five mechanisms on the sets of Tables 3 and 4, and two more.

The numbers are those of the paper's tables: accuracy and macro-F, each with the standard deviation over five
runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.papers.data_sources import AG_10K, IMDB, SST2
from glasshead.papers.experiments.papers.s2_figures import FIGURES
from glasshead.papers.experiments.papers.s2_recipes import (
    AMAZON,
    DATA_DIFFERENCES,
    DIFFERENCES,
    GRID,
    SNLI,
    TITLES,
    TREC,
    floor_cells,
    recipe_of,
    without_order,
)
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperClaim, PaperTable, claim_of_tables
from glasshead.training import TrainingConfig

# Accuracy, its deviation, macro-F, its deviation, in per cent.
Printed = Mapping[str, tuple[float, float, float, float]]
PRINTED: dict[str, Printed] = {
    AG_10K.name: {
        "transformer": (93.01, 0.13, 93.00, 0.13),
        "shaw": (93.14, 0.12, 93.13, 0.13),
        "transformer-xl": (93.35, 0.10, 93.34, 0.11),
        "tener": (93.28, 0.13, 93.27, 0.14),
        "da-transformer": (93.72, 0.11, 93.70, 0.12),
    },
    AMAZON.name: {
        "transformer": (65.15, 0.40, 42.14, 0.41),
        "shaw": (65.29, 0.38, 42.40, 0.40),
        "transformer-xl": (65.50, 0.40, 42.88, 0.43),
        "tener": (65.47, 0.39, 42.69, 0.42),
        "da-transformer": (66.38, 0.39, 44.29, 0.40),
    },
    SST2.name: {
        "transformer": (89.67, 0.22, 89.59, 0.24),
        "shaw": (89.94, 0.19, 89.90, 0.20),
        "transformer-xl": (90.06, 0.20, 90.02, 0.21),
        "tener": (90.15, 0.19, 90.10, 0.1),
        "da-transformer": (90.49, 0.17, 90.43, 0.19),
    },
    SNLI.name: {
        "transformer": (81.45, 0.30, 81.42, 0.31),
        "shaw": (82.20, 0.31, 82.18, 0.31),
        "transformer-xl": (83.19, 0.29, 83.15, 0.30),
        "tener": (82.35, 0.28, 82.31, 0.30),
        "da-transformer": (84.18, 0.27, 84.16, 0.29),
    },
}
RUNS = 5
NOT_AT_HAND = (
    "Table 5 (MIND, news recommendation) is not available: see the package `glasshead.papers.recommend`."
)


def mechanism_cells(
    data: DataSource,
    model: str = "encoder",
    sinusoids: Sequence[str] = ("da-transformer",),
    **changes: Any,
) -> Iterator[Cell]:
    """The five mechanisms on one data set, some with ``sinusoids``, as "transformer" has them; and what needs
    no order, no attention, or neither."""

    def cell(name: str, title: str, word: str, **more: Any) -> Cell:
        settings: TrainingConfig = recipe_of(word, model, **changes | more)
        return Cell(f"{data.name}/{name}", title, data, settings, paper=paper_shares(data, name), grid=GRID)

    for word, title in TITLES.items():
        yield cell(word, title, word)
    for word in sinusoids:
        yield cell(f"{word}-sinusoids", f"{TITLES[word]} with sinusoids", word, positions="sinusoidal")
    yield from without_order(data, model, **changes)
    # Of other sets hardly a text is longer than what models read.
    yield from floor_cells(data, changes.get("max_length") if data in (AMAZON, IMDB) else None)


def paper_shares(data: DataSource, word: str) -> dict[str, PaperNumber]:
    """The paper's numbers as shares."""
    if word not in PRINTED.get(data.name, {}):
        return {}
    accuracy, accuracy_std, f1, f1_std = (number / 100 for number in PRINTED[data.name][word])
    return {
        "accuracy": PaperNumber(accuracy, accuracy_std, RUNS),
        "macro_f1": PaperNumber(f1, f1_std, RUNS),
    }


def distance_claims(data: DataSource) -> Iterator[Claim]:
    """Section 4.2: whoever knows distances beats the vanilla Transformer, DA-Transformer the second best; and
    ours, that it still beats the first where both have sinusoids. Section 4.5: its maps are sparser."""
    for word, title in TITLES.items():
        if word != "transformer":
            yield claim(data, word, "transformer", f"{title} is better than Transformer")
    yield claim(
        data,
        "da-transformer-sinusoids",
        "transformer",
        "DA-Transformer is better than Transformer, both with sinusoids",
    )
    yield Claim(
        f"{data.title}: maps of Transformer are more spread out than those of DA-Transformer",
        f"{data.name}/transformer",
        f"{data.name}/da-transformer",
        metrics=("map_entropy",),
    )
    if data.name in PRINTED:
        others = (word for word in TITLES if word != "da-transformer")
        second = max(others, key=lambda word: PRINTED[data.name][word])
        yield claim(data, "da-transformer", second, f"DA-Transformer is better than {TITLES[second]}")


def order_claims(data: DataSource) -> Iterator[Claim]:
    """Section 4.2 on those that know distances: Transformer-RPR is behind, and which of the two others leads
    depends on the set."""
    others = ("transformer-xl", "tener")
    for word in others:
        yield claim(data, word, "shaw", f"{TITLES[word]} is better than Transformer-RPR")
    worse, better = sorted(others, key=lambda word: PRINTED[data.name][word])
    yield claim(data, better, worse, f"{TITLES[better]} is better than {TITLES[worse]}")


def floor_claim(data: DataSource) -> Claim:
    """Not the paper's: whether what it is about pays at all."""
    return Claim(
        f"{data.title}: DA-Transformer is better than a bag of words",
        f"{data.name}/da-transformer",
        f"{data.name}/bag-of-words",
    )


def claim(data: DataSource, better: str, worse: str, text: str) -> Claim:
    """A claim with the difference that the paper prints, if it has the set."""
    words = (better.removesuffix("-sinusoids"), worse)
    printed = [PRINTED[data.name][word][0] / 100 for word in words] if data.name in PRINTED else None
    effect = None if printed is None else round(printed[0] - printed[1], 6)
    return Claim(f"{data.title}: {text}", f"{data.name}/{better}", f"{data.name}/{worse}", effect=effect)


TABLE3 = [*mechanism_cells(AG_10K, max_length=128), *mechanism_cells(AMAZON, "hierarchical", max_length=256)]
TABLE4_CELLS = [*mechanism_cells(SST2), *mechanism_cells(SNLI, "pair-encoder")]
TABLES = (
    PaperTable(
        "table3",
        "Table 3, AG News and Amazon",
        TABLE3,
        claims=[*distance_claims(AG_10K), *distance_claims(AMAZON)],
        floor_claims=[floor_claim(AG_10K), floor_claim(AMAZON)],
        differences=DIFFERENCES,
        data_differences=DATA_DIFFERENCES,
        not_at_hand=(NOT_AT_HAND,),
    ),
    PaperTable(
        "table4",
        "Table 4, SST and SNLI",
        TABLE4_CELLS,
        claims=[*distance_claims(SST2), *distance_claims(SNLI)],
        floor_claims=[floor_claim(SST2), floor_claim(SNLI)],
        differences=DIFFERENCES,
        data_differences=DATA_DIFFERENCES,
    ),
    PaperTable(
        "order",
        "Section 4.2, the order of the mechanisms with distances",
        [*TABLE4_CELLS, *TABLE3],
        claims=[claim for data in (SST2, SNLI, AG_10K, AMAZON) for claim in order_claims(data)],
        differences=DIFFERENCES,
        data_differences=DATA_DIFFERENCES,
    ),
    PaperTable(
        "trec",
        "Five mechanisms on TREC",
        [*mechanism_cells(TREC, sinusoids=[word for word in TITLES if word != "transformer"])],
        claims=[*distance_claims(TREC)],
        floor_claims=[floor_claim(TREC)],
    ),
    PaperTable(
        "long",
        "Five mechanisms on texts of up to 512 tokens",
        [*mechanism_cells(IMDB, max_length=512)],
        claims=[*distance_claims(IMDB)],
        floor_claims=[floor_claim(IMDB)],
    ),
)


def claims() -> Iterator[PaperClaim]:
    """What the paper says of these tables; TREC and long IMDB are ours."""
    of = {table.name: table for table in (*TABLES, *FIGURES)}
    accuracy = [of["table3"], of["table4"]]
    for title in ("Transformer-RPR", "Transformer-XL", "Adapted Transformer", "DA-Transformer"):
        yield claim_of_tables(
            f"{title} is better than Transformer",
            "Tables 3 and 4",
            accuracy,
            f": {title} is better than Transformer",
        )
    seconds = [
        f": DA-Transformer is better than {title}" for title in ("Transformer-XL", "Adapted Transformer")
    ]
    yield claim_of_tables(
        "DA-Transformer is better than the second best", "Tables 3 and 4", accuracy, *seconds
    )
    yield claim_of_tables(
        "Transformer-XL and the Adapted Transformer are better than Transformer-RPR",
        "section 4.2",
        [of["order"]],
        "is better than Transformer-RPR",
    )
    yield claim_of_tables(
        "Maps of DA-Transformer are sparser than those of Transformer",
        "section 4.5",
        accuracy,
        "spread out than those of DA-Transformer",
    )
    yield claim_of_tables(
        "A learnable sigmoid is better than a fixed one",
        "section 4.3, Fig. 4",
        [of["figure4"]],
        "better than sigmoid",
    )
    yield claim_of_tables(
        "A sigmoid is better than other mappings of distances",
        "section 4.3, Fig. 4",
        [of["figure4"]],
        "better than exponent",
        "better than linear",
        "better than clip",
    )
    yield claim_of_tables(
        "Multiplying is better than adding",
        "section 4.4, Fig. 5",
        [of["figure5"]],
        "early-multiply is better than early-add",
        "late-multiply is better than late-add",
    )
    yield claim_of_tables(
        "Adjusting scores early is better than late",
        "section 4.4, Fig. 5",
        [of["figure5"]],
        "early-multiply is better than late-multiply",
        "early-add is better than late-add",
    )


UNSEEN = (
    "With the 1,821 test texts of SST-2, five seeds would mostly miss differences below 2.8 to 7.3 points. "
    "{} The paper's differences in Table 3 are {} points."
)
LEFT_OUT = {
    **{
        f"{table}/{AMAZON.name}": UNSEEN.format(
            "Here there are 299 test reviews, which would miss larger differences.", "0.1 to 1.2"
        )
        for table in ("table3", "order", "figure4", "figure5", "paper-size")
    },
    f"figure3/{AMAZON.name}": "There are only 299 test reviews, and no claim needs it.",
    **{
        f"{table}/{AG_10K.name}": UNSEEN.format(
            "Here there are 7,600 test texts, four times as many, which at best halves that.", "0.1 to 0.7"
        )
        for table in ("table3", "order")
    },
    f"long/{IMDB.name}": "The paper has no such table, and no claim needs it.",
}
PAPERS.register("s2")(Paper("s2", "Wu, Wu and Huang (2021)", (*TABLES, *FIGURES), [*claims()], LEFT_OUT))
