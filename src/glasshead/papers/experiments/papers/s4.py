"""Sun and Lu (2020): the words of Table 1, the scores of words on real texts (section G), and which term of
the update moves the scores of Data I (section B)."""

from collections.abc import Iterator
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.papers.data_sources import IMDB, SST2
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PAPERS, Paper, PaperTable
from glasshead.training import TrainingConfig, preset_config

NEWS20 = DataSource("20news_sports", "20 Newsgroups, baseball (negative) and hockey (positive)")
DATA_1 = DataSource("synthetic", "Data I")
DATA_2 = DataSource("synthetic-noisy", "Data II (5 % noise)")
THREE = DataSource("synthetic", "three classes", LoadOptions(generator={"classes": 3}))
MODELS: dict[str, dict[str, Any]] = {
    "DP": {},
    "AD": {"score": "additive"},
    "DP-A": {"encoder": "affine"},
    "DP-L": {"encoder": "lstm"},
}
DESCENT_MODELS = ("DP", "AD")
RATIOS = (0.25, 0.5, 2.0, 4.0)
WIDE_RANGE = 1.0
PENALTY: dict[str, Any] = {"penalties": {"context-output": 0.001}}
"""On (VᵀW)²: under plain descent VᵀW shrinks by 1 − 2·rate·weight·(‖V‖² + ‖W‖²) a step, which must not go
below −1; ‖W‖² comes to a few hundred."""
SCALES = (1.0, 10.0, 20.0, 50.0)
GROUPS = ("positive", "negative")
# Table 1: how many words each group has.
WORDS = {
    SST2.name: {"positive": 412, "negative": 265, "neutral": 1384},
    IMDB.name: {"positive": 2163, "negative": 1900, "neutral": 5968},
    NEWS20.name: {"positive": 957, "negative": 557, "neutral": 1011},
}
REAL: dict[str, Any] = {
    "optimizer": "adagrad",
    "learning_rate": 0.05,
    "epochs": 15,
    "min_freq": 2,
    "max_length": 256,
}
"""As in section G, Adagrad; rate and epochs are ours."""
L2: dict[str, Any] = {"penalties": {"encoder": 1e-4}}
"""On the affine layer or the LSTM, as in section G; the weight is ours."""
NEWS20_II = "20News II (motorcycles, medicine, guns) is not at hand."
LABELS = {
    "polarity_own": "AUC of own polarity",
    "score_average": "AUC of scores, average",
    "score_behind": "AUC of scores, class behind",
    "product_within": "Ω within classes",
    "product_between": "Ω between classes",
    "late_gap": "size of the gap",
    "VᵀW_size": "size of VᵀW",
    "settling_steps": "signs of Ω settle at step",
}
MADE_UP_METRICS = tuple(LABELS)
SHARE_LABELS = {f"score_{group}": f"AUC of scores, {group}" for group in GROUPS} | {
    f"polarity_{group}": f"AUC of polarities, {group}" for group in GROUPS
}


def descent_cell(model: str, scale: float, **changes: Any) -> TrainingConfig:
    """A model of section C with its λ."""
    return preset_config("s4", None).with_changes(temperature=scale, **MODELS[model] | changes)


def words() -> Iterator[Cell]:
    """Table 1."""
    usual = preset_config("s4", None).with_changes(epochs=1, max_length=512)
    for data in (SST2, IMDB, NEWS20):
        paper = {f"{group}_words": PaperNumber(float(count)) for group, count in WORDS[data.name].items()}
        name = f"{data.name}/words"
        yield Cell(name, "words", data, usual, measure="word-groups", paper=paper, most_seeds=1)


def sweep(*sources: DataSource) -> Iterator[Cell]:
    """DP and AD with every λ on real texts."""
    for data in sources:
        for model in DESCENT_MODELS:
            for scale in SCALES:
                name = f"{data.name}/{model}-{scale:g}"
                yield Cell(
                    name,
                    f"{model}, λ = {scale:g}",
                    data,
                    descent_cell(model, scale, **REAL),
                    measure="dynamics",
                )
    for data, model, scales in ((SST2, "DP-A", (20.0,)), (SST2, "DP-L", (10.0,)), (NEWS20, "DP-A", SCALES)):
        for scale in scales if data in sources else ():
            recipe = descent_cell(model, scale, **REAL | L2)
            name = f"{data.name}/{model}-{scale:g}"
            yield Cell(name, f"{model}, λ = {scale:g}", data, recipe, measure="dynamics")


def made_up() -> Iterator[Cell]:
    """The trainings of section C and of Figs. 1 and 7 to 12."""

    def training(name: str, title: str, data: DataSource, model: str = "DP", **changes: Any) -> Cell:
        return Cell(name, title, data, descent_cell(model, 10.0, **changes), measure="dynamics")

    yield training("DP", "DP", DATA_1)
    yield training("AD", "AD", DATA_1, "AD")
    yield training("DP-penalty", "DP, penalty on VᵀW", DATA_1, **PENALTY)
    yield training("DP-A-penalty", "DP-A, penalty on V′ᵀW′", DATA_1, "DP-A", **PENALTY)
    yield training("DP-wide", f"DP, embeddings start in ± {WIDE_RANGE:g}", DATA_1, initializer_range=WIDE_RANGE)
    yield training("DP-noisy", "DP", DATA_2)
    yield training("DP-three", "DP", THREE)
    for ratio in RATIOS:
        data = DataSource("synthetic", f"{ratio:g} positive texts to 1", LoadOptions(generator={"ratio": ratio}))
        yield training(f"DP-ratio-{ratio:g}", "DP", data)


def term_cells() -> Iterator[Cell]:
    """Every term of the update of a score, by plain gradient descent."""
    for model in DESCENT_MODELS:
        for scale in SCALES[:2]:
            yield Cell(
                f"{model}-{scale:g}",
                f"{model}, λ = {scale:g}",
                DATA_1,
                descent_cell(model, scale),
                measure="dynamics-close",
            )


TABLES = (
    PaperTable(
        "table1",
        "Table 1, words of each class",
        [*words()],
        metrics=[f"{group}_words" for group in (*GROUPS, "neutral")],
        words=[f"{group}_examples" for group in (*GROUPS, "neutral")],
        labels={f"{group}_words": f"{group} words" for group in (*GROUPS, "neutral")}
        | {f"{group}_examples": f"{group}, the commonest" for group in (*GROUPS, "neutral")},
        differences=(
            "The paper gives no rule for its groups; ours is that of Huang, Yang and Wang (2024), section "
            "5.1.",
            "Words are those of our tokenizer, of at most 512 tokens of a text. Counts do not depend on a "
            "seed: there is no interval.",
        ),
        data_differences={SST2.name: ["6,920 sentences with two classes; the paper does not say how many."]},
        not_at_hand=(NEWS20_II,),
    ),
    PaperTable(
        "made-up",
        "Trainings on made-up data",
        [*made_up()],
        metrics=MADE_UP_METRICS,
        labels=LABELS,
    ),
    PaperTable(
        "sweep",
        "Scores of words by λ, on real texts",
        [*sweep(SST2, NEWS20)],
        metrics=(*SHARE_LABELS, "gap", "VᵀW", "accuracy"),
        labels=SHARE_LABELS,
        differences=(
            "AUC is the probability that a word of the class has more than a neutral one, ½ if they are "
            "alike. The paper prints figures of one training each.",
            "Adagrad at 0.05, 15 epochs, words that occur twice, texts of 256 tokens: the paper states none "
            "of these numbers.",
            "Accuracy is that of the best epoch on dev, all else of the last step.",
        ),
        not_at_hand=(NEWS20_II, "DP-A and DP-L are in `docs/reproduction/training-claims.md`."),
    ),
    PaperTable(
        "terms",
        "Which term moves the scores of Data I",
        [*term_cells()],
        metrics=("score_positive", "score_negative", "positive_rest", "negative_rest", "gap", "VᵀW"),
        words=("positive_largest", "negative_largest"),
        labels=SHARE_LABELS
        | {f"{group}_largest": f"{group} words: surely the largest part, in seeds" for group in GROUPS}
        | {f"{group}_rest": f"not explained, {group}" for group in GROUPS},
        differences=(
            "A snapshot at every fourth step. The paper argues from the signs of the terms, and prints no "
            "sizes.",
            "D is the term with VᵀW, E a token's own lead over its text, F that of similar tokens: the "
            "update of section B.2, exact under plain gradient descent.",
            "Embeddings of 100, rate 1, 30 epochs of batches of 32: the paper states none of these.",
        ),
    ),
)

PAPERS.register("s4")(Paper("s4", "Sun and Lu (2020)", TABLES))
