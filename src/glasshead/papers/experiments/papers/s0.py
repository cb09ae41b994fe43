"""Huang, Yang and Wang (2024), bidirectional attention: Tables 1, 2 and 4, softmax beside TanhMax.

Each model is trained in two ways: as section 5.1 says ("s0-paper") and as the published code does
("s0-code"). Table 1 prints means and deviations over texts of one model, so no deviation over seeds.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.papers.data_sources import IMDB, NEWS20, PRESETS, SST2
from glasshead.papers.experiments.papers.s0_figures import FIGURES, GAUGE
from glasshead.papers.experiments.papers.s0_language import LANGUAGE_TITLES, TABLE4
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperClaim, PaperTable, claim_of_tables
from glasshead.training import preset_config

AG = DataSource("ag_news", "AG News, World and Business", LoadOptions(classes=("World", "Business")))
SETS = (NEWS20, SST2, AG, IMDB)
ACTIVATION_TITLES = {"softmax": "softmax", "tanhmax": "TanhMax"}
TRAIN_30: dict[str, Any] = {"epochs": 30, "patience": 8}
"""Until dev is flat: TanhMax may leave its start slowly."""
CUT_LENGTHS = {IMDB.name: 100}
ACCURACY = {
    NEWS20.name: {"softmax": 0.843, "tanhmax": 0.850},
    SST2.name: {"softmax": 0.834, "tanhmax": 0.872},
    AG.name: {"softmax": 0.892, "tanhmax": 0.905},
    IMDB.name: {"softmax": 0.732, "tanhmax": 0.747},
}
PRINTED_COLUMNS = ("gradient", "gradient_share", "erasure", "erasure_share", "permutation", "random")
# Table 1: these columns for the texts of class 0, then of class 1.
TABLE_NUMBERS = {
    NEWS20.name: {
        "softmax": ((0.77, 1.0, -0.12, 0.19, 0.17, 0.29), (0.78, 1.0, 0.11, 0.22, 0.15, 0.27)),
        "tanhmax": ((0.43, 0.65, 0.89, 0.88, 0.13, 0.51), (0.54, 0.84, 0.63, 0.54, 0.13, 0.54)),
    },
    SST2.name: {
        "softmax": ((0.34, 0.42, -0.12, 0.20, 0.19, 0.25), (0.29, 0.31, 0.24, 0.32, 0.27, 0.31)),
        "tanhmax": ((0.56, 0.79, 0.86, 0.92, 0.18, 0.50), (0.60, 0.88, 0.66, 0.65, 0.28, 0.52)),
    },
    AG.name: {
        "softmax": ((0.30, 0.35, -0.28, 0.40, 0.21, 0.11), (0.27, 0.25, 0.25, 0.33, 0.25, 0.18)),
        "tanhmax": ((0.74, 1.0, 0.83, 1.0, 0.18, 0.48), (0.65, 1.0, 0.84, 1.0, 0.12, 0.44)),
    },
    IMDB.name: {
        "softmax": ((-0.18, 0.12, -0.34, 0.52, 0.15, 0.26), (-0.25, 0.26, -0.36, 0.60, 0.13, 0.24)),
        "tanhmax": ((-0.13, 0.18, 0.98, 1.0, 0.18, 0.48), (-0.32, 0.49, 0.98, 1.0, 0.15, 0.48)),
    },
}


def model_cells(data: DataSource) -> Iterator[Cell]:
    """Both activations under both presets, and the floor."""
    for preset, source in PRESETS.items():
        for word, title in ACTIVATION_TITLES.items():
            settings = preset_config(preset, None).with_changes(attention=word, **TRAIN_30)
            if data.name in CUT_LENGTHS:
                settings = settings.with_changes(max_length=CUT_LENGTHS[data.name])
            yield Cell(
                f"{data.name}/{preset}-{word}",
                f"{title}, {source}",
                data,
                settings,
                measure="interpretability",
                paper=paper_numbers(data, word),
            )


def word_cells(data: DataSource) -> Iterator[Cell]:
    """The words that both models select, once each."""
    for cell in model_cells(data):
        yield cell.with_fields(measure="selected-words", most_seeds=1, paper={})


SENTENCES = {
    "positive": "positive",
    "negative": "negative",
    "turning": "neutral, turns round",
    "narrative": "neutral, narrative",
}
"""Figure 1."""


def sentences(data: DataSource) -> Iterator[Cell]:
    """The four sentences, read by both models."""
    for cell in model_cells(data):
        yield cell.with_fields(measure="example-sentences", paper={})


def paper_numbers(data: DataSource, word: str) -> dict[str, PaperNumber]:
    """What Tables 1 and 2 print of a model."""
    numbers = {"accuracy": PaperNumber(ACCURACY[data.name][word])}
    for place, columns in enumerate(TABLE_NUMBERS[data.name][word]):
        for name, value in zip(PRINTED_COLUMNS, columns, strict=True):
            numbers[f"{name}_{place}"] = PaperNumber(value)
    return numbers


def bag_of_words_floor(data: DataSource) -> Cell:
    """The floor of the accuracies."""
    settings = preset_config("s0-code", None)
    return Cell(
        f"{data.name}/bag-of-words", "bag of words", data, settings, measure="bag-of-words", most_seeds=1
    )


def uniform_floors(data: DataSource) -> Iterator[Cell]:
    """Uniform attention under both presets, and the floor; where models cut texts, one that reads no more."""
    for preset, source in PRESETS.items():
        settings = preset_config(preset, None).with_changes(attention="uniform", **TRAIN_30)
        if data.name in CUT_LENGTHS:
            settings = settings.with_changes(max_length=CUT_LENGTHS[data.name])
        yield Cell(f"{data.name}/{preset}-uniform", f"uniform attention, {source}", data, settings)
    yield bag_of_words_floor(data)
    if data.name in CUT_LENGTHS:
        yield bag_of_words_floor(data).with_fields(
            name=f"{data.name}/bag-of-first-words",
            title=f"bag of the first {CUT_LENGTHS[data.name]} words",
            recipe=preset_config("s0-code", None).with_changes(max_length=CUT_LENGTHS[data.name]),
            measure="bag-of-first-words",
        )


def tanhmax_claims(metrics: Sequence[str], text: str) -> list[Claim]:
    """TanhMax has more of it than softmax, data set by data set and preset by preset; both classes count
    alike."""
    result = []
    for data in SETS:
        first, second = (paper_numbers(data, word) for word in ("tanhmax", "softmax"))
        gaps = [first[name].value - second[name].value for name in metrics if name in first]
        effect = round(sum(gaps) / len(gaps), 6) if gaps else None
        for preset, source in PRESETS.items():
            better, worse = (f"{data.name}/{preset}-{word}" for word in ("tanhmax", "softmax"))
            result.append(Claim(f"{data.title}, {source}: {text}", better, worse, tuple(metrics), effect))
    return result


MODEL_CELLS = [cell for data in SETS for cell in model_cells(data)]
CODE_NOTES = (
    (
        "Trained until dev is flat, for at most 30 epochs. The paper's supplement is not available, so we "
        "chose the batch size for the code's settings, and batch size, sizes and rate for those of "
        "section 5.1."
    ),
    "Texts are cut after 30 tokens with the code's settings and after 128 with those of section 5.1, IMDB "
    "after 100 under both: the two rows of a set differ in that, too.",
    (
        "The paper's code shows the labels to the model during evaluation and lets padding attend; here it "
        "does neither."
    ),
    "The paper trains one model: its deviations are over texts, so they are left out.",
)


METRIC_LABELS = {
    f"{name}_{place}": f"{title}, class {place}"
    for name, title in {
        "gradient": "τ with gradients",
        "gradient_share": "significant share",
        "erasure": "τ with erasure",
        "erasure_share": "significant share",
        "permutation": "change, permuted",
        "random": "change, random",
    }.items()
    for place in (0, 1)
} | {
    "gradient_contribution": "τ of contributions with gradients",
    "erasure_contribution": "τ of contributions with erasure, renormalised",
    "separation": "AUC of weights",
    "separation_size": "its distance from ½",
    "separation_contribution": "AUC of contributions",
    "margin": "margin of the sign",
    "positive_polarity": "share of polarities > 0",
    "kind": "what the sign means, by seeds",
}
"""A contribution is a weight times its polarity, which no choice of signs changes. AUC is the probability
that a positive word has more than a negative one, ½ if they do not differ."""


def of_classes(*names: str) -> tuple[str, ...]:
    """Columns of both classes."""
    return tuple(f"{name}_{place}" for name in names for place in (0, 1))


TABLES = (
    PaperTable(
        "table2",
        "Table 2, accuracy of softmax and TanhMax",
        [cell for data in SETS for cell in (*model_cells(data), *uniform_floors(data))],
        claims=tanhmax_claims(["accuracy"], "TanhMax is better than softmax"),
        differences=CODE_NOTES,
        not_at_hand=("CIFAR-10 and CIFAR-100 with a vision transformer are left out.",),
    ),
    PaperTable(
        "table1-gradients",
        "Table 1, agreement of attention with gradients",
        MODEL_CELLS,
        metrics=(*of_classes("gradient", "gradient_share"), "gradient_contribution"),
        claims=tanhmax_claims(of_classes("gradient"), "TanhMax agrees more with gradients"),
        labels=METRIC_LABELS,
        differences=(*CODE_NOTES, *GAUGE),
    ),
    PaperTable(
        "table1-erasure",
        "Table 1, agreement of attention with erasure",
        MODEL_CELLS,
        metrics=(*of_classes("erasure", "erasure_share"), "erasure_contribution"),
        claims=tanhmax_claims(of_classes("erasure"), "TanhMax agrees more with erasure"),
        labels=METRIC_LABELS,
        differences=(*CODE_NOTES, *GAUGE),
    ),
    PaperTable(
        "table1-changes",
        "Table 1, what other weights change in the output",
        MODEL_CELLS,
        metrics=of_classes("permutation", "random"),
        claims=tanhmax_claims(of_classes("random"), "random weights change TanhMax more"),
        labels=METRIC_LABELS,
        differences=(
            *CODE_NOTES,
            "As in the paper, random weights are drawn from U(−1, 1) for TanhMax and from U(0, 1) for "
            "softmax, whatever the size of the model's own: so not only "
            "the models but also the draws differ.",
        ),
    ),
    PaperTable(
        "signs",
        "Do the weights tell positive from negative words?",
        MODEL_CELLS,
        metrics=("separation", "separation_size", "separation_contribution", "margin", "positive_polarity"),
        words=("kind",),
        claims=tanhmax_claims(["separation_size"], "TanhMax weights distinguish them better"),
        labels=METRIC_LABELS,
        differences=(*CODE_NOTES, *GAUGE),
    ),
    PaperTable(
        "figure1",
        "Figure 1, four sentences",
        [*sentences(SST2)],
        metrics=[f"probability_{name}" for name in SENTENCES],
        words=[f"weights_{name}" for name in SENTENCES],
        labels={f"probability_{name}": f"P(positive), {title}" for name, title in SENTENCES.items()}
        | {f"weights_{name}": f"{title}: weights of the first seed" for name, title in SENTENCES.items()},
        differences=(
            "The paper shows the weights of one model by colour, and says that outputs of the two neutral "
            "sentences are around 0.5.",
            *CODE_NOTES,
            *GAUGE,
        ),
    ),
    PaperTable(
        "words",
        "Words that attention selects",
        [cell for data in (NEWS20, SST2) for cell in word_cells(data)],
        metrics=("accuracy",),
        words=("largest_weights", "smallest_weights"),
        labels={"largest_weights": "largest weights", "smallest_weights": "smallest weights"},
        differences=(
            "One seed of each model: mean weights over the test texts, of words with five occurrences.",
            *GAUGE,
        ),
        not_at_hand=("The paper lists its selected words in a supplement that is not available.",),
    ),
    *FIGURES,
    TABLE4,
)


def claims() -> Iterator[PaperClaim]:
    """What the paper says of these tables."""
    of = {table.name: table for table in TABLES}
    yield claim_of_tables("TanhMax classifies better than softmax", "Table 2", [of["table2"]])
    yield claim_of_tables(
        "Attention by TanhMax agrees more with gradients", "Table 1", [of["table1-gradients"]]
    )
    yield claim_of_tables("Attention by TanhMax agrees more with erasure", "Table 1", [of["table1-erasure"]])
    yield claim_of_tables("Random weights change TanhMax more", "Table 1", [of["table1-changes"]])
    yield claim_of_tables(
        "TanhMax weights distinguish positive from negative words better",
        "sections 3 and 5.1, Fig. 2",
        [of["signs"], of["figure2"]],
    )
    yield claim_of_tables(
        "TanhMax moves the scores of positive and negative words opposite ways, softmax does not",
        "section 3, implications 1 and 3",
        [of["implication1"], of["implication3"]],
        "softmax does not",
    )
    yield claim_of_tables(
        "TanhMax predicts hidden words better than softmax", "Table 4", [TABLE4], "than softmax"
    )
    yield claim_of_tables(
        "TanhMax predicts hidden words better than four other activations",
        "Table 4",
        [TABLE4],
        *(f"than {title}" for word, title in LANGUAGE_TITLES.items() if word not in ("softmax", "tanhmax")),
    )


PAPERS.register("s0")(Paper("s0", "Huang, Yang and Wang (2024)", TABLES, [*claims()]))
