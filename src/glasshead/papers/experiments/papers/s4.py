"""Sun and Lu (2020): the words of Table 1, the scores of words on real texts (section G), and which term of
the update moves the scores of Data I (section B)."""

from collections.abc import Iterable, Iterator
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.papers.data_sources import IMDB, SST2
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PAPERS, Claim, Paper, PaperClaim, PaperTable, claim_of_tables
from glasshead.training import TrainingConfig, preset_config

NEWS20 = DataSource("20news_sports", "20 Newsgroups, baseball (negative) and hockey (positive)")
DATA_1 = DataSource("synthetic", "Data I")
DATA_2 = DataSource("synthetic-noisy", "Data II (5 % noise)")
THREE = DataSource("synthetic", "Three classes", LoadOptions(generator={"classes": 3}))
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
NEWS20_II = "20News II (motorcycles, medicine, guns) is not available."
LABELS = {
    "polarity_own": "AUC of own polarity",
    "score_average": "AUC of scores, average",
    "score_unfavoured": "AUC of scores, class that VᵀW works against",
    "product_within": "Ω within classes",
    "product_between": "Ω between classes",
    "late_gap": "size of the gap",
    "VᵀW_size": "size of VᵀW",
    "settling_steps": "signs of Ω settle at step",
}
POLARITY = "polarity"
AVERAGE, UNFAVOURED = "scores, mean over classes", "scores of the class that VᵀW works against"
PENALISED = "scores of that class under the penalty"
NO_GAP = "with a penalty the gap between the classes is smaller"
WITHIN, BETWEEN = "Ω within a class is positive", "Ω between classes is negative"
LONGER = "|Ω| is larger within classes than between them"
NEUTRAL = "|Ω| is larger within classes than with neutral words"
SETTLING = "signs of Ω settle later from ± 1 than from ± 0.1"
SKEWED = "|VᵀW| is larger than on balanced data"
OWN_LEAD = "a word's own lead moves its score more than anything else"
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
    """DP and AD with every λ on real texts, and those of DP-A and DP-L that the paper shows of these sets."""
    shown: dict[str, dict[str, tuple[float, ...]]] = {
        SST2.name: {"DP-A": SCALES[2:3], "DP-L": SCALES[1:2]},
        NEWS20.name: {"DP-A": SCALES},
    }
    for data in sources:
        for model, scales in {**dict.fromkeys(DESCENT_MODELS, SCALES), **shown[data.name]}.items():
            penalty = L2 if "encoder" in MODELS[model] else {}
            for scale in scales:
                yield Cell(
                    f"{data.name}/{model}-{scale:g}",
                    f"{model}, λ = {scale:g}",
                    data,
                    descent_cell(model, scale, **REAL, **penalty),
                    measure="dynamics",
                )


def made_up() -> Iterator[Cell]:
    """The trainings of section C and of Figs. 1 and 7 to 12."""

    def training(name: str, title: str, data: DataSource, model: str = "DP", **changes: Any) -> Cell:
        return Cell(name, title, data, descent_cell(model, 10.0, **changes), measure="dynamics")

    yield training("DP", "DP", DATA_1)
    yield training("AD", "AD", DATA_1, "AD")
    yield training("DP-penalty", "DP, penalty on VᵀW", DATA_1, **PENALTY)
    yield training("DP-A-penalty", "DP-A, penalty on V′ᵀW′", DATA_1, "DP-A", **PENALTY)
    yield training(
        "DP-wide", f"DP, embeddings start in ± {WIDE_RANGE:g}", DATA_1, initializer_range=WIDE_RANGE
    )
    yield training("DP-noisy", "DP", DATA_2)
    yield training("DP-three", "DP", THREE)
    for ratio in RATIOS:
        data = DataSource(
            "synthetic", f"{ratio:g} positive texts to 1 negative", LoadOptions(generator={"ratio": ratio})
        )
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


def made_up_claims() -> Iterator[Claim]:
    """Section C, and Figs. 1 and 7 to 12, which show one training each."""
    both = {"DP": "DP on Data I", "DP-noisy": "DP on Data II"}
    three = {"DP-three": "DP, three classes"}
    affine = {"DP-A-penalty": "DP-A on Data I, with a penalty"}
    penalised = {"DP-penalty": "DP on Data I", "DP-A-penalty": "DP-A on Data I"}
    additive = {"AD": "AD on Data I"}
    for cells, says, number, metric in (
        (both | additive | affine | three, POLARITY, 0.5, "polarity_own"),
        (both | additive | three, AVERAGE, 0.5, "score_average"),
        (both | additive, UNFAVOURED, 0.5, "score_unfavoured"),
        (penalised, PENALISED, 0.5, "score_unfavoured"),
        (both | three, WITHIN, 0.0, "product_within"),
        (both | three, LONGER, 0.0, "product_lead"),
        (both | three, NEUTRAL, 0.0, "product_over_neutral"),
    ):
        for cell, where in cells.items():
            yield Claim(f"{where}: {says}", cell, number, (metric,))
    for cell, where in (both | three).items():
        yield Claim(f"{where}: {BETWEEN}", 0.0, cell, ("product_between",))
    yield Claim(f"DP on Data I: {NO_GAP}", "DP", "DP-penalty", ("late_gap",))
    yield Claim(f"DP on Data I: {SETTLING}", "DP-wide", "DP", ("settling_steps",))
    for ratio in RATIOS:
        yield Claim(
            f"{ratio:g} positive texts to 1 negative: {SKEWED}", f"DP-ratio-{ratio:g}", "DP", ("VᵀW_size",)
        )


def sweep_claims(cells: Iterable[Cell]) -> Iterator[Claim]:
    """Section G: figures of one training each, by model and λ."""
    for cell in cells:
        where = f"{cell.data.title.partition(',')[0]}, {cell.title}"
        for says, metric in ((AVERAGE, "score_average"), (UNFAVOURED, "score_unfavoured")):
            yield Claim(f"{where}: {says}", cell.name, 0.5, (metric,))


def term_claims() -> Iterator[Claim]:
    """Section E, after eq. 71."""
    for scale in SCALES[:2]:
        yield Claim(f"AD, λ = {scale:g}: {OWN_LEAD}", f"AD-{scale:g}", 0.0, ("term_lead",))


MADE_UP = PaperTable(
    "made-up",
    "Trainings on made-up data",
    [*made_up()],
    metrics=tuple(LABELS),
    labels=LABELS,
    claims=[*made_up_claims()],
    differences=(
        "Embeddings of 100, rate 1, 30 epochs of batches of 32, 2,800 train texts that are the same for "
        "all seeds, and the form and weight of the penalty (0.001 times the square) are ours, because the "
        "paper does not state them.",
        "The paper shows one training of each model, four in Fig. 7, and prints no numbers.",
        "AUC is the probability that a word of a class has a larger value than a neutral one: ½ if they "
        "do not differ. VᵀW works against negative words where it is positive, and against positive ones "
        "where it is negative.",
        "Ω is a mean dot product of embeddings after the last step. Signs settle at the first step from "
        "which on three quarters of the pairs of each kind have the derived sign; if that never happens, "
        "the last step counts. The gap is the size of the difference between the mean scores of both "
        "classes, averaged over the last half of the training.",
    ),
    data_differences={
        DATA_2.name: ["5 % of the polar places have words of the other class; the paper has a few."]
    },
)
TABLE1 = PaperTable(
    "table1",
    "Table 1, words of each class",
    [*words()],
    metrics=[f"{group}_words" for group in (*GROUPS, "neutral")],
    words=[f"{group}_examples" for group in (*GROUPS, "neutral")],
    labels={f"{group}_words": f"{group} words" for group in (*GROUPS, "neutral")}
    | {f"{group}_examples": f"{group}, the commonest" for group in (*GROUPS, "neutral")},
    differences=(
        "The paper gives no rule for its groups; ours is that of Huang, Yang and Wang (2024), section 5.1.",
        "Words are those of our tokenizer, of at most 512 tokens of a text. Counts do not depend on a "
        "seed: there is no interval.",
    ),
    data_differences={SST2.name: ["6,920 sentences with two classes; the paper does not say how many."]},
    not_at_hand=(NEWS20_II,),
)
SWEPT = [*sweep(SST2, NEWS20)]
SWEEP = PaperTable(
    "sweep",
    "Scores of words by λ, on real texts",
    SWEPT,
    metrics=(*SHARE_LABELS, "gap", "VᵀW", "accuracy"),
    labels=SHARE_LABELS,
    claims=[*sweep_claims(SWEPT)],
    differences=(
        "AUC is the probability that a word of the class has a larger value than a neutral one: ½ if they "
        "do not differ. The paper prints figures of one training each.",
        "Adagrad at 0.05, 15 epochs, words that occur twice, texts of 256 tokens: the paper does not "
        "state these numbers.",
        "Accuracy is that of the best epoch on dev; everything else is from the last step.",
    ),
    not_at_hand=(NEWS20_II,),
)
TERMS = PaperTable(
    "terms",
    "Which term moves the scores of Data I",
    [*term_cells()],
    metrics=("score_positive", "score_negative", "positive_rest", "negative_rest", "gap", "VᵀW"),
    words=("positive_largest", "negative_largest"),
    labels=SHARE_LABELS
    | {f"{group}_largest": f"{group} words: certainly the largest part, by seeds" for group in GROUPS}
    | {f"{group}_rest": f"not explained, {group}" for group in GROUPS},
    claims=[*term_claims()],
    differences=(
        "A snapshot at every fourth step. The paper argues from the signs of the terms and prints no sizes.",
        "D is the term with VᵀW, E a token's own lead over its text, F that of similar tokens: the "
        "update of section B.2, exact under plain gradient descent.",
        "Embeddings of 100, rate 1, 30 epochs of batches of 32: the paper does not state these.",
    ),
)


def claims() -> Iterator[PaperClaim]:
    """What the paper says of these tables, without a number."""
    more = "get larger attention scores than neutral words"
    against = "words of the class that VᵀW works against"
    for text, where, table, says in (
        ("Words get the polarity of their class (AUC above ½)", "Figs. 3, 9, 10", MADE_UP, POLARITY),
        (
            f"Words with a polarity {more} (AUC above ½, mean over classes)",
            "Figs. 4, 10, 12",
            MADE_UP,
            AVERAGE,
        ),
        (
            f"W{against[1:]} {more}, too (AUC above ½)",
            "Figs. 4, 10",
            MADE_UP,
            UNFAVOURED,
        ),
        (
            f"With a penalty on VᵀW, {against} {more} (AUC above ½)",
            "Fig. 5b, DP",
            MADE_UP,
            f"DP on Data I: {PENALISED}",
        ),
        (
            f"With a penalty on V′ᵀW′, {against} {more} (AUC above ½)",
            "Fig. 9, DP-A",
            MADE_UP,
            f"DP-A on Data I: {PENALISED}",
        ),
        ("With a penalty on VᵀW, the gap between the classes is smaller (score)", "Fig. 5", MADE_UP, NO_GAP),
        ("On skewed data, VᵀW is larger in size than on balanced data", "Fig. 7", MADE_UP, SKEWED),
        ("Ω within a class rises above 0", "eqs. 46, 50; Figs. 1, 6", MADE_UP, WITHIN),
        ("Ω between classes falls below 0", "eqs. 46, 53; Figs. 1, 6", MADE_UP, BETWEEN),
        (
            "The size of Ω becomes larger within classes than between them",
            "eqs. 48–55; Figs. 2, 11",
            MADE_UP,
            LONGER,
        ),
        (
            "The size of Ω becomes larger within classes than with neutral words",
            "Figs. 2, 6",
            MADE_UP,
            NEUTRAL,
        ),
        ("From a wider initial range, the signs of Ω settle later (steps)", "Fig. 1", MADE_UP, SETTLING),
        (
            "Under additive attention, a word's own lead (E) adds more to its score than any other term",
            "eq. 71",
            TERMS,
            OWN_LEAD,
        ),
        (
            f"On real texts, words with a polarity {more} (AUC above ½, mean over classes)",
            "Figs. 14–28",
            SWEEP,
            AVERAGE,
        ),
        (f"On real texts, {against} {more}, too (AUC above ½)", "Figs. 14–28", SWEEP, UNFAVOURED),
    ):
        yield claim_of_tables(text, where, [table], says)


PAPERS.register("s4")(Paper("s4", "Sun and Lu (2020)", (TABLE1, MADE_UP, SWEEP, TERMS), [*claims()]))
