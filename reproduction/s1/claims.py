"""What the lecture says of trained models, in its order, and the numbers of other studies that bear on it.

A claim has one number for each setting and unit. The unit is the seed: what is trained with one seed may
share texts, a start or a pretrained model, so trainings of one seed are not counted as independent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from glasshead.papers.experiments import (
    Claim,
    ClaimVerdict,
    Paper,
    PaperClaim,
    judge_claims,
    summarise_numbers,
)
from glasshead.results import NOT_USED
from reproduction.aggregation.measure import TRAININGS as AGGREGATIONS
from reproduction.aggregation.tables import gain
from reproduction.debate.measure import BASE
from reproduction.debate.measure import TABLES as DEBATED
from reproduction.debate.measure import TRAININGS as DEBATES
from reproduction.debate.tables import TABLE_3
from reproduction.encoder_scale.measure import TRAININGS as ENCODERS
from reproduction.heads.measure import TRAININGS as CLASSIFIER_HEADS
from reproduction.rank.measure import TRAININGS as RANKINGS
from reproduction.solvable.measure import TRAININGS as SOLVABLE
from reproduction.study import read_numbers
from reproduction.trainings import Trainings

CITATION = "Garreau (2024), lecture notes, chapter 9"
NEAR_PERFECT = 0.95
"""An accuracy above it."""
T = TypeVar("T")
Numbers = Mapping[str, Mapping[str, float]]
"""Setting → unit → how much the claim is right by."""
Seeds = Mapping[int, Mapping[str, Any]]
SETS = {
    "sst2": "SST-2",
    "trec": "TREC",
    "ag_news": "AG News",
    "20news_sports": "20 Newsgroups",
    "imdb": "IMDB",
}
CLASSIFIERS = {"pooled": "pooled classifier", "encoder": "Transformer encoder", "minilm": "MiniLM"}
IMPORTANCE = ("gradient-after-norm", "erasure-delete")
"""What attention should agree with: the gradient along each token, and what is lost without it."""
STATISTIC = "comprehensiveness"
"""By which one explanation is more faithful than another."""


@dataclass(frozen=True)
class Statement:
    """What the lecture says ``where``: the one side has more of a metric than the other, or than a number.

    ``effects`` are those of the paper that the lecture cites, by setting.
    """

    text: str
    where: str
    better: str | float
    worse: str | float
    metric: str
    numbers: Callable[[], Numbers]
    unit: str = "seed"
    effects: Mapping[str, float] = field(default_factory=dict)

    def claim(self, setting: str) -> Claim:
        """The same of one setting."""
        effect = self.effects.get(setting)
        return Claim(setting, self.better, self.worse, (self.metric,), effect, self.unit)


def seeds_of(trainings: Trainings, table: str, cell: str) -> Seeds:
    """What is known of a cell by seed: nothing where its recipe has changed since."""
    return trainings.known(table).get(cell, {})


def differences(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """One number less the other, of every seed that has both."""
    return {seed: one[seed] - other[seed] for seed in one if seed in other}


def by_seed(seeds: Seeds, number: Callable[[Mapping[str, Any]], T]) -> dict[str, T]:
    """A number of every seed, or several."""
    return {str(seed): number(numbers) for seed, numbers in seeds.items()}


# Section 9.1


def entropies(gap: Callable[[float, float], float]) -> Numbers:
    """Set and recipe → seed → a number of the entropy before and after training."""
    return {
        f"{SETS[name]}, {recipe}": {seed: gap(*ends) for seed, ends in seeds.items()}
        for name in ("sst2", "trec")
        for recipe, seeds in recipes(name).items()
    }


def recipes(name: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Transformers that start from random weights, but for the one whose weights are uniform by definition:
    by seed the entropy before and after training."""
    known = dict(ENCODERS.known(name))
    if name == "trec":
        known |= {cell: seeds for cell, seeds in ENCODERS.known("trec_rows").items() if cell != "uniform"}
    found = {
        cell: by_seed(seeds, lambda one: (entropy(one["use"]["before"]), entropy(one["use"]["after"])))
        for cell, seeds in known.items()
    }
    wide = seeds_of(AGGREGATIONS, name, "encoder")
    found["transformer, SD 0.3"] = by_seed(wide, lambda one: (entropy(one["before"]), entropy(one["use"])))
    return {recipe: seeds for recipe, seeds in found.items() if seeds}


def entropy(layers: list[dict[str, Any]]) -> float:
    """Of the attention between tokens: the one that pools has a query of its own."""
    return float(np.mean([each["entropy"] for each in layers if not each["name"].endswith("summary")]))


# Section 9.3, individual heads


def relation_leads() -> Numbers:
    """Direction → relation → by how much the best head is right more often than the best offset, both chosen
    on other sentences. "all" is made of the others."""
    found: dict[str, dict[str, float]] = {}
    for one in read_numbers("heads", "trees")["relations"]:
        if one["relation"] != "all":
            found.setdefault(one["direction"], {})[one["relation"]] = one["difference"][0]
    return found


def special_tokens(number: str, sign: int = 1) -> Numbers:
    """A number of the special tokens of classifiers, less the same of uniform attention."""
    seeds = seeds_of(CLASSIFIER_HEADS, "sst2", "minilm")
    return {"SST-2, MiniLM": by_seed(seeds, lambda each: sign * each["beside"][number]["uniform"][0])}


# Section 9.3, many heads and layers


def leads_over_mean(method: str) -> Numbers:
    """How much more faithful a way to aggregate is than the mean over layers."""

    def lead(each: Mapping[str, Any]) -> float:
        one, other = (gain(each["methods"][name], STATISTIC) for name in (method, "layer-mean"))
        return one - other

    return {
        f"{SETS[name]}, {CLASSIFIERS[cell.name]}": by_seed(seeds_of(AGGREGATIONS, name, cell.name), lead)
        for name, cells in AGGREGATIONS.tables.items()
        for cell in cells
    }


# Section 9.3, is attention explanation?


def f1_leads(one: str, other: str, names: Sequence[str]) -> Numbers:
    """How much higher F1 is with one kind of weights than with another."""
    found = {}
    for name in names:
        first, second = (
            by_seed(seeds_of(DEBATES, name, cell), lambda each: each["f1"]) for cell in (one, other)
        )
        found[SETS[name]] = differences(first, second)
    return found


def paper_leads(one: str, other: str) -> dict[str, float]:
    """The same in table 3 of Wiegreffe and Pinter (2019)."""
    return {SETS[name]: TABLE_3[one][name] - TABLE_3[other][name] for name in TABLE_3[one]}


def agreements() -> Numbers:
    """Kendall's τ of attention with importance, the mean over gradients and erasure."""
    return {
        f"{SETS[name]}, {CLASSIFIERS[cell.name]}": by_seed(
            seeds_of(RANKINGS, name, cell.name),
            lambda each: float(np.mean([each["agreement"][f"attention+{other}"] for other in IMPORTANCE])),
        )
        for name, cells in RANKINGS.tables.items()
        for cell in cells
    }


def other_maps() -> Numbers:
    """Of how many texts, more than half, very different weights give the same prediction."""
    return {
        SETS[name]: by_seed(
            seeds_of(DEBATES, name, BASE),
            lambda each: each["adversarial"]["findings"]["found.free"]["estimate"] - 0.5,
        )
        for name in DEBATED
    }


def flat_and_right() -> Numbers:
    """How accurate models are beyond what counts as near-perfect, if their weights are nearly uniform."""
    models = {
        "histogram, scores of places": seeds_of(SOLVABLE, "histogram", "positional"),
        "bounded Dyck, two layers of uniform weights": seeds_of(SOLVABLE, "dyck", "uniform"),
    }
    return {
        title: by_seed(
            {seed: each for seed, each in seeds.items() if each["entropy"] > NOT_USED},
            lambda each: each["accuracy"] - NEAR_PERFECT,
        )
        for title, seeds in models.items()
    }


def two_solutions() -> Numbers:
    """How much flatter the weights of one solution of the histogram task are than those of the other."""
    flat, peaked = (
        by_seed(seeds_of(SOLVABLE, "histogram", cell), lambda each: each["entropy"])
        for cell in ("positional", "semantic")
    )
    return {"histogram": differences(flat, peaked)}


def transition() -> Numbers:
    """Below and above the number of texts at which theory has the transition: by how much the loss of the
    solution that it prefers is lower, as a share of both losses, a mean over numbers of texts."""
    found = read_numbers("solvable", "transition")
    losses: dict[float, dict[str, np.ndarray]] = {}
    for point in found["points"]:
        trained = np.array([each["loss"] for each in point["trained"]])
        losses.setdefault(point["alpha"], {})[point["start"]] = trained
    few, many = [], []
    for alpha, each in losses.items():
        lead = (each["semantic"] - each["positional"]) / (each["semantic"] + each["positional"])
        (few.append(lead) if alpha < found["critical"] else many.append(-lead))
    sides = (("few texts: places", few), ("many texts: meaning", many))
    return {title: dict(zip(map(str, range(len(side[0]))), np.mean(side, axis=0).tolist(), strict=True))
            for title, side in sides}  # fmt: skip


PRINTED = ("sst2", "imdb")
"""The sets of Wiegreffe and Pinter's table 3 that are at hand."""
AGGREGATED = "9.3, Multiple heads / layers"
DEBATE = "9.3, Is attention explanation?"
STATEMENTS = (
    Statement(
        f"Before training, weights are nearly uniform (entropy above {NOT_USED} of the largest)",
        "9.1, More intuition",
        "entropy",
        NOT_USED,
        "map_entropy",
        partial(entropies, lambda before, after: before - NOT_USED),
    ),
    Statement(
        "Training puts more weight on some tokens (entropy falls)",
        "9.1, More intuition",
        "before",
        "after",
        "map_entropy",
        partial(entropies, lambda before, after: before - after),
    ),
    Statement(
        "Heads follow syntax: on average over relations the best head finds more than the best fixed offset",
        "9.3, Looking at individual heads",
        "head",
        "offset",
        "share",
        relation_leads,
        "relation",
    ),
    Statement(
        "Special tokens get too much attention: a larger share of the weights A than of ∣A ∂z/∂A∣ (less the "
        "same of uniform weights)",
        "9.3, Looking at individual heads",
        "attention",
        "relevance",
        "correlation",
        partial(special_tokens, "inflation"),
    ),
    Statement(
        "Special tokens get so much because they are never split: words that are never split get as much",
        "9.3, Looking at individual heads",
        "a word",
        "a special token",
        "correlation",
        partial(special_tokens, "beyond-unsplit-words", -1),
    ),
    Statement(
        "Rollout is more faithful than the mean over layers (comprehensiveness)",
        AGGREGATED,
        "rollout",
        "mean",
        "gain",
        partial(leads_over_mean, "rollout"),
    ),
    Statement(
        "Attention flow is more faithful than the mean over layers (comprehensiveness)",
        AGGREGATED,
        "flow",
        "mean",
        "gain",
        partial(leads_over_mean, "attention-flow"),
    ),
    Statement(
        "Attention is needed: an LSTM does better with its own weights than with uniform ones (F1)",
        DEBATE,
        "own",
        "uniform",
        "f1",
        partial(f1_leads, BASE, "uniform LSTM", tuple(DEBATED)),
    ),
    Statement(
        "Attention agrees with the importance of tokens (Kendall's τ with gradients and erasure above 0)",
        DEBATE,
        "τ",
        0.0,
        "correlation",
        agreements,
    ),
    Statement(
        "Very different weights give the same prediction (in more than half of the texts)",
        DEBATE,
        "texts",
        0.5,
        "share",
        other_maps,
    ),
    Statement(
        "An MLP classifies better with an LSTM's weights than with uniform ones (F1)",
        f"{DEBATE} Wiegreffe and Pinter, table 3",
        "own",
        "uniform",
        "f1",
        partial(f1_leads, "MLP base", "MLP uniform", PRINTED),
        effects=paper_leads("MLP base", "MLP uniform"),
    ),
    Statement(
        "An MLP classifies better with an LSTM's weights than with those of an adversary (F1)",
        f"{DEBATE} Wiegreffe and Pinter, table 3",
        "own",
        "of the adversary",
        "f1",
        partial(f1_leads, "MLP base", "MLP adversary", PRINTED),
        effects=paper_leads("MLP base", "MLP adversary"),
    ),
    Statement(
        f"Models with uninformative weights are near-perfect (accuracy above {NEAR_PERFECT})",
        DEBATE,
        "accuracy",
        NEAR_PERFECT,
        "share",
        flat_and_right,
    ),
    Statement(
        "The histogram task has a solution with uninformative weights: held to places, they are flatter than "
        "held to letters (difference of entropies)",
        f"{DEBATE}, ctd.",
        "places",
        "letters",
        "map_entropy",
        two_solutions,
    ),
    Statement(
        "With few texts attention to places has the lower loss, with many attention to meaning (difference "
        "of the two losses over their sum)",
        f"{DEBATE} Cui et al.",
        "the other loss",
        "its loss",
        "correlation",
        transition,
    ),
)


def verdicts() -> list[ClaimVerdict]:
    """The verdict on every statement."""
    claims, found = [], {}
    for number, statement in enumerate(STATEMENTS):
        name = str(number)
        found[name] = [
            summarise_numbers(statement.claim(setting), numbers)
            for setting, numbers in statement.numbers().items()
        ]
        parts = tuple((name, one.claim) for one in found[name])
        claims.append(PaperClaim(statement.text, statement.where, parts))
    return judge_claims(Paper("s1", CITATION, claims=claims), found)
