"""Huang, Yang and Wang (2024): scores and weights of words (Fig. 2), how measures are spread over texts
(Fig. 3), and which way scores move (implications 1 and 3 of section 3)."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from glasshead.data import LoadOptions
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.figures import CoefficientPicture, DistributionPicture, IntervalPicture
from glasshead.papers.experiments.papers.data_sources import NEWS20, PRESETS, SST2
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import Claim, PaperTable
from glasshead.training import preset_config

SYNTHETIC = DataSource("synthetic", "Synthetic reviews, 4,000 texts", LoadOptions())
FIGURE_TITLES = {"softmax": "softmax", "tanhmax": "TanhMax"}
SCORES = {"query-key": "dot product", "bilinear": "bilinear", "additive": "additive"}
LOSS_TITLES = {"cross-entropy": "cross-entropy", "squared": "squared loss", "hinge": "hinge loss"}
GAUGE = (
    (
        "The sign of TanhMax weights is a convention: both signs give the same outputs. Here it is chosen "
        "after training, in the same way for every run; the paper leaves the sign as it is. If its margin "
        "is near 0, the sign is random, which widens intervals; contributions do not depend on it."
    ),
)
GROUPS = ("positive", "negative", "neutral")


def coefficient_cells() -> Iterator[Cell]:
    """Figure 2: both activations under both presets, on synthetic texts."""
    for preset, source in PRESETS.items():
        for word, title in FIGURE_TITLES.items():
            settings = preset_config(preset, None).with_changes(attention=word, epochs=SYNTHETIC_EPOCHS)
            name = f"{SYNTHETIC.name}/{preset}-{word}"
            yield Cell(name, f"{title}, {source}", SYNTHETIC, settings, measure="coefficients")


def distribution_cells(data: DataSource) -> Iterator[Cell]:
    """Figure 3: the same on real texts, one seed each."""
    for preset, source in PRESETS.items():
        for word, title in FIGURE_TITLES.items():
            settings = preset_config(preset, None).with_changes(attention=word, epochs=30, patience=8)
            name = f"{data.name}/{preset}-{word}"
            yield Cell(name, f"{title}, {source}", data, settings, measure="distributions", most_seeds=1)


SYNTHETIC_EPOCHS = 5
"""Of trainings on synthetic texts: dev is flat after two."""


def direction_cell(word: str, title: str, score: str = "query-key", loss: str = "cross-entropy") -> Cell:
    """One score function and one loss."""
    changes: dict[str, Any] = {} if loss == "cross-entropy" else {"loss": loss}
    settings = preset_config("s0-paper", None).with_changes(
        attention=word, score=score, epochs=SYNTHETIC_EPOCHS, **changes
    )
    return Cell(
        f"{SYNTHETIC.name}/{word}-{score}-{loss}",
        f"{FIGURE_TITLES[word]}, {title}",
        SYNTHETIC,
        settings,
        measure="score-directions",
    )


FIGURE_LABELS = {
    "parted": "opposite ways",
    **{f"rising_{group}": f"{group} words that rise" for group in GROUPS},
    "neutral_change": "change of neutral words",
    "follows": "ds/dτ as −∂R/∂s",
    "as_cross-entropy": "sign as under cross-entropy",
    "as_squared": "as under squared loss",
    "as_hinge": "as under hinge loss",
    "kind": "what the sign means, by seeds",
}
DIRECTION_METRICS = ("parted", *(f"rising_{group}" for group in GROUPS), "neutral_change")
DIRECTION_NOTES = (
    "*Opposite ways* is the difference between the shares of positive and negative words whose score "
    "rises in training: 1 if the groups separate, 0 if they move together. The gauge decides which group "
    "rises under TanhMax.",
    "*Change of neutral words* is the mean size of their change by that of positive and negative words.",
    "The paper derives ds/dτ for separate queries and keys of each token, where its sign is that of "
    "−∂R/∂s by construction. Here all tokens share the maps to queries and keys. How often signs agree is "
    "a mean over snapshots of the training, and over positive and negative words.",
    "The paper gives no number here: 1 and 0 are our reading of its words.",
    "Scores of the paper are f(Q_i, K_i). Here dot products and bilinear scores take both from one token "
    "and have biases; additive scores have one learned vector instead of Q_i and no bias, so h and −h get "
    "opposite scores. All three differ, not only the form of f.",
    "Trained as in section 5.1 (Adam, dropout) for 5 epochs, only on synthetic texts. Scores are compared "
    "before and after training; the paper is about the sign of ds/dτ at one time.",
    "Five seeds were planned; five more were run after a look at the first, and softmax with squared and "
    "hinge loss has fewer. p does not count that look.",
    *GAUGE,
)


RISING = IntervalPicture(
    {f"rising_{group}": group for group in GROUPS}, "share of the words whose score rises"
)


def direction_table(name: str, title: str, option: str, titles: dict[str, str], *more: str) -> PaperTable:
    """Both activations under each value of an ``option``: TanhMax parts the groups, softmax does not,
    and the option has little effect."""
    cells = {
        (word, value): direction_cell(word, words, **{option: value})
        for word in FIGURE_TITLES
        for value, words in titles.items()
    }
    claims = []
    for value, words in titles.items():
        first, second = (cells[word, value].name for word in ("tanhmax", "softmax"))
        text = f"{words}: TanhMax moves positive and negative words opposite ways, softmax does not"
        claims.append(Claim(text, first, second, metrics=("parted",), effect=1.0))
    for first, second in combinations(titles, 2):
        text = f"TanhMax: {titles[second]} moves them more opposite ways than {titles[first]}"
        better, worse = (cells["tanhmax", value].name for value in (second, first))
        claims.append(Claim(text, better, worse, metrics=("parted",), effect=0.0))
    return PaperTable(
        name,
        title,
        list(cells.values()),
        metrics=(*DIRECTION_METRICS, *more),
        words=("kind",),
        claims=claims,
        labels=FIGURE_LABELS,
        picture=RISING,
        differences=DIRECTION_NOTES,
    )


FIGURES = (
    direction_table(
        "implication1",
        "Implication (1): does the score function decide in which direction scores move?",
        "score",
        SCORES,
        "follows",
    ),
    direction_table(
        "implication3",
        "Implication (3): does the loss decide in which direction scores move?",
        "loss",
        LOSS_TITLES,
        *(f"as_{loss}" for loss in LOSS_TITLES),
    ),
    PaperTable(
        "figure2",
        "Figure 2, scores and weights of words",
        [*coefficient_cells()],
        metrics=("separation", "separation_size", *(f"weight_{group}" for group in GROUPS), "neutral_size"),
        words=("kind",),
        claims=[
            Claim(
                f"{source}: TanhMax weights distinguish positive from negative words better",
                f"{SYNTHETIC.name}/{preset}-tanhmax",
                f"{SYNTHETIC.name}/{preset}-softmax",
                metrics=("separation_size",),
            )
            for preset, source in PRESETS.items()
        ],
        labels=FIGURE_LABELS
        | {
            "separation": "AUC of weights",
            "separation_size": "its distance from ½",
            "neutral_size": "size of neutral weights",
        }
        | {f"weight_{group}": f"weight, {group}" for group in GROUPS},
        picture=CoefficientPicture(GROUPS),
        differences=(
            "Trained for 5 epochs. *AUC* is the probability that a positive word has a larger weight than "
            "a negative one. Claims are about its distance from ½: an AUC of 0.3 separates words as well "
            "as one of 0.7, and only the sign of TanhMax is chosen. *Size of neutral weights* is their "
            "mean by that of the others, without signs.",
            *GAUGE,
        ),
    ),
    PaperTable(
        "figure3",
        "Figure 3, distribution of agreement and change over texts",
        [cell for data in (NEWS20, SST2) for cell in distribution_cells(data)],
        metrics=tuple(
            f"{name}_{place}" for name in ("gradient", "erasure", "permutation", "random") for place in (0, 1)
        ),
        labels={
            f"{name}_{place}": f"{title}, class {place}"
            for name, title in {
                "gradient": "median τ with gradients",
                "erasure": "median τ with erasure",
                "permutation": "median change, permuted",
                "random": "median change, random",
            }.items()
            for place in (0, 1)
        },
        picture=DistributionPicture(
            {
                "gradient": ("τ with gradients", -1.0),
                "erasure": ("τ with erasure", -1.0),
                "permutation": ("median |Δŷ|, permuted", 0.0),
                "random": ("median |Δŷ|, random", 0.0),
            },
            violins=("median |Δŷ|, random",),
            cells=[f"{NEWS20.name}/s0-paper-{word}" for word in FIGURE_TITLES],
        ),
        differences=("One seed of each model: its test texts, so no interval over seeds.", *GAUGE),
    ),
)
