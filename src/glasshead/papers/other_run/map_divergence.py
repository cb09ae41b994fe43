"""How far is one model's attention from another's, and how far are their predictions?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from glasshead.arrays import Floats
from glasshead.audits import Group, few_tokens, random_weights, summarise
from glasshead.data import batches, encode
from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import PooledClassifier, is_regression
from glasshead.nouns import TEXTS
from glasshead.opening import open_subject, run_folders
from glasshead.papers.results import MAPS, PREDICTIONS, MapDivergence
from glasshead.results import TOO_FEW_EXAMPLES, Interval, Verdict
from glasshead.spelling import spell
from glasshead.statistics import jensen_shannon, total_variation
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject

CITATION = "Wiegreffe and Pinter 2019"
SEED, UNIFORM, RANDOM, CONSTANT = "seed", "uniform", "random", "constant"
DECISIVE = {
    SEED: "that of another seed", UNIFORM: "uniform weights", CONSTANT: "always answering the same",
}  # fmt: skip
"""What a verdict rests on, the first that there is."""
RANGES = {MAPS: (0.0, float(np.log(2))), PREDICTIONS: (0.0, 1.0)}


class ModelOutputs(NamedTuple):
    """Weights [N, n] and probabilities [N, K] of the same texts."""

    weights: Floats
    probabilities: Floats


@in_own_modes
def map_divergence(
    model: object,
    base: object,
    texts: Sequence[str],
    *,
    seeds: Sequence[object] = (),
    seed: int = 0,
) -> MapDivergence:
    """The divergence of a model's attention, and of its predictions, from those of ``base``, text by text.

    JSD(a, a_base) in nats and TVD(ŷ, ŷ_base) = ½ Σ_k |ŷ_k − ŷ_base,k|, as means over texts with bootstrap
    intervals. Both are compared with baselines: maps of uniform and of random weights (U(0, 1),
    normalised), and the mean prediction of ``base`` for every text. ``seeds`` are runs, or folders of
    repeats, of the recipe of ``base`` with other seeds: their mean divergence is the yardstick for the
    verdicts, if they are given. Models are what `glasshead.open` takes; ``seed`` is that of random weights
    and bootstrap.

    Raises:
        InputError: if a model is not a pooled classifier, has weights that are not a distribution, or reads
        texts differently from ``base``, or there are no texts.

    Source: Wiegreffe and Pinter (2019), sections 3.2 and 4; Jain and Wallace (2019), section 3.
    """
    if not len(texts):
        raise InputError("there are no texts for comparing maps")
    subject, origin = open_one_weight_model(base), open_one_weight_model(model)
    rulers = [open_one_weight_model(run) for one in seeds for run in expand(one)]
    expected = predict_maps(subject, texts)
    outputs = predict_maps(origin, texts, like=subject)
    others = [predict_maps(ruler, texts, like=subject) for ruler in rulers]
    mask = encode(subject.tokenizer, texts).mask.numpy()
    by_text = dict(zip((MAPS, PREDICTIONS), distances(outputs, expected, mask), strict=True))
    rng = np.random.default_rng([seed, 11])
    nulls = null_distances(expected, others, mask, rng)
    everything = Group("all", np.ones(len(texts), dtype=bool))
    findings = {}
    for name, values in by_text.items():
        (summary,) = summarise([values], [nulls[name]], rng=rng, within=RANGES[name])
        findings[name] = summary.finding(
            "divergence",
            name,
            judge_map_distance(summary.reliable_interval, summary.reliable_differences),
            group=everything,
            citation=CITATION,
            against=subject.name,
            undefined={few_tokens(TEXTS): int(np.isnan(values).sum())} if np.isnan(values).any() else {},
        )
    facts = {"model": origin.name, "base": subject.name, "seeds": len(rulers)}
    return MapDivergence(findings[MAPS], findings[PREDICTIONS], by_text, facts)


def distances(one: ModelOutputs, other: ModelOutputs, mask: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """JSD of the maps and TVD of the predictions of every text; NaN for the map of a text of
    fewer than two tokens: that of one is always the same."""
    maps = np.where(mask.sum(axis=1) > 1, jensen_shannon(one.weights, other.weights), np.nan)
    return maps, total_variation(one.probabilities, other.probabilities)


def null_distances(
    expected: ModelOutputs,
    seeds: Sequence[ModelOutputs],
    mask: NDArray[np.bool_],
    rng: np.random.Generator,
) -> dict[str, dict[str, Floats]]:
    """How far away is what means nothing, and the mean over other seeds."""
    always = np.broadcast_to(expected.probabilities.mean(axis=0), expected.probabilities.shape)
    uniform, constant = distances(ModelOutputs(normalise_rows(mask), always), expected, mask)
    chance = normalise_rows(random_weights(mask, False, rng))
    random, _ = distances(ModelOutputs(chance, always), expected, mask)
    nulls = {MAPS: {UNIFORM: uniform, RANDOM: random}, PREDICTIONS: {CONSTANT: constant}}
    if seeds:
        maps, predictions = np.mean([distances(one, expected, mask) for one in seeds], axis=0)
        nulls[MAPS][SEED], nulls[PREDICTIONS][SEED] = maps, predictions
    return nulls


def expand(run: object) -> list[object]:
    """The runs of a folder of repeats, or what was given."""
    return list(run_folders(Path(run))) if isinstance(run, str | Path) else [run]


def open_one_weight_model(model: object) -> Subject:
    """A model whose tokens have one weight each.

    Raises:
        InputError: if it has none, or they are not a distribution.
    """
    subject = open_subject(model)
    if not isinstance(subject.model, PooledClassifier) or is_regression(subject.model.config):
        raise InputError(
            f"{subject.name} is not a classifier with one weight for each token: give runs of "
            f"{spell('model', 'pooled')}"
        )
    activation = subject.model.activation
    if activation.signed or not activation.rows_sum_to_one:
        raise InputError(
            f"the weights of {subject.name} ({subject.model.config.activation}) are not a distribution over "
            "tokens, so divergence is undefined"
        )
    return subject


def predict_maps(subject: Subject, texts: Sequence[str], *, like: Subject | None = None) -> ModelOutputs:
    """Weights and probabilities of texts.

    Raises:
        InputError: if the model reads texts, or names classes, in another way than the other one.
    """
    if like is not None:
        if attention_source(subject.tokenizer) != attention_source(like.tokenizer):
            raise InputError(
                f"{subject.name} and {like.name} have different tokens: train both on the same data"
            )
        if class_names(subject.model) != class_names(like.model):
            raise InputError(
                f"{subject.name} and {like.name} predict different classes: train both on the same data"
            )
    encoded = encode(subject.tokenizer, texts)
    weights = np.zeros(encoded.mask.shape)
    probabilities = np.zeros((len(texts), len(class_names(subject.model))))
    with torch.inference_mode():
        for places, inputs in batches(encoded, device=subject.model.device):
            output = subject.model(**inputs, output_attentions=True)
            length = output.weights.shape[1]
            weights[places.numpy(), :length] = output.weights.double().cpu()
            probabilities[places.numpy()] = output.logits.double().softmax(dim=-1).cpu()
    return ModelOutputs(weights, probabilities)


def attention_source(tokenizer: PreTrainedTokenizerFast) -> tuple[dict[str, int], int]:
    """What decides the tokens of a text."""
    return tokenizer.get_vocab(), tokenizer.model_max_length


def normalise_rows(values: NDArray[np.generic]) -> Floats:
    """Rows that sum to one; a row of zeros stays."""
    weights = values.astype(np.float64)
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)


def judge_map_distance(interval: Interval | None, over: Mapping[str, Interval | None]) -> Verdict:
    """Judge the distance of maps from the interval of the paired difference from what decides."""
    null = next(null for null in DECISIVE if null in over)
    difference = over[null]
    if interval is None or difference is None:
        return TOO_FEW_EXAMPLES
    if difference[0] > 0:
        return Verdict(f"farther away than {DECISIVE[null]}")
    if difference[1] < 0:
        return Verdict(f"closer than {DECISIVE[null]}")
    return Verdict(f"not distinguishable from {DECISIVE[null]} on these texts")
