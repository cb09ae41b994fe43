"""Does the prediction change when the attention weights change?"""

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.nulls import random_weights, same_mass
from glasshead.audit.subject import Floats, Subject
from glasshead.audit.summary import Interval, summarise
from glasshead.results import Finding

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Numbers in one block of draws: bounds memory, and keeps a block near the processor.
BLOCK = 2_000_000
TESTS = ("permutation", "random", "random-normalised")


class Perturbation(Audit):
    """Median change of ŷ over 100 draws of other weights, per example, then mean ± std over examples.

    ``permutation`` shuffles the weights of a text; ``random`` replaces them by U(0, 1), or U(−1, 1) for
    signed activations, as the paper does; ``random-normalised`` scales those to the text's own Σ|a|. The
    null is the same test on random and on uniform weights. ŷ is the target's probability, without a factor ½.
    """

    question = "does the prediction change when the attention weights change?"
    citation = "Jain and Wallace 2019; Huang, Yang and Wang 2024, section 5.2"

    def __init__(self, draws: int = 100) -> None:
        self.draws = draws

    def __call__(self, subject: Subject, *, seed: int) -> Outcome:
        rng = np.random.default_rng([seed, 2])
        mask = subject.mask
        medians = self.medians(subject, subject.weights, rng)
        chance = same_mass(random_weights(mask, subject.signed, rng)[:, None], subject.weights)[:, 0]
        mass = np.abs(subject.weights).sum(axis=1, keepdims=True)
        uniform = mass * mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        nulls = {
            "random": self.medians(subject, chance, rng),
            "uniform": self.medians(subject, uniform, rng),
        }

        keys = [(test, direction) for test in TESTS for direction in ("absolute", "signed")]
        findings = []
        for group, members in self.groups(subject).items():
            columns = [f"{test}.median.{direction}" for test, direction in keys]
            these = [{name: null[column][members] for name, null in nulls.items()} for column in columns]
            summaries = summarise([medians[column][members] for column in columns], these, rng=rng)
            for (test, direction), column, summary in zip(keys, columns, summaries, strict=True):
                findings.append(
                    Finding(
                        audit="perturbation",
                        statistic=test,
                        against=direction,
                        group=group,
                        **summary.numbers,
                        undefined=undefined(medians[column][members]),
                        significant_fraction=None,
                        citation=self.citation,
                        verdict=verdict(summary.interval, summary.over_chance, direction),
                    )
                )
        return Outcome(findings, medians)

    @staticmethod
    def groups(subject: Subject) -> dict[str, NDArray[np.bool_]]:
        """All, true classes, and bins of the largest |weight| (a flat map has nothing to shuffle)."""
        largest = np.abs(subject.weights).max(axis=1, initial=0.0)
        groups = dict(subject.groups)
        for low, high in pairwise(BINS):
            members = (largest >= low) & ((largest < high) | (high == BINS[-1]))
            if members.any():
                groups[f"max weight {low:.2f}–{high:.2f}"] = members
        return groups

    def medians(self, subject: Subject, weights: Floats, rng: np.random.Generator) -> dict[str, Floats]:
        """Median |Δŷ| and median Δŷ [N] of every test, for any base weights; NaN without tokens."""
        lengths = subject.mask.sum(axis=1)
        result = {
            f"{test}.median.{direction}": np.full(len(lengths), np.nan)
            for test in TESTS
            for direction in ("absolute", "signed")
        }
        # Texts of one length are one dense block: shuffling needs no mask, and padding is never touched.
        for n in np.unique(lengths[lengths > 0]):
            members = np.flatnonzero(lengths == n)
            step = max(BLOCK // (self.draws * int(n)), 1)
            for start in range(0, len(members), step):
                rows = members[start : start + step]
                a = weights[rows, :n].astype(np.float32)
                shape = (len(rows), self.draws, int(n))
                random = random_weights(np.ones(a.shape, dtype=bool), subject.signed, rng, draws=self.draws)
                drawn = {
                    "permutation": rng.permuted(np.broadcast_to(a[:, None], shape), axis=-1),
                    "random": random,
                    "random-normalised": same_mass(random, a),
                }
                before = predictions(subject, rows, a[:, None])
                for test, others in drawn.items():
                    change = predictions(subject, rows, others) - before
                    result[f"{test}.median.absolute"][rows] = np.median(np.abs(change), axis=1)
                    result[f"{test}.median.signed"][rows] = np.median(change, axis=1)
        return result


AUDITS.register("perturbation")(Perturbation())


def predictions(subject: Subject, rows: NDArray[np.int64], weights: Floats) -> Floats:
    """ŷ [rows, draws] under other weights [rows, draws, n]: one batched product with the cached polarity."""
    seen, view = subject.view.observation, subject.view
    n = weights.shape[-1]
    polarity = seen.polarity[rows, :n].to(torch.float32)
    outputs = torch.from_numpy(np.ascontiguousarray(weights)) @ polarity + seen.bias.to(torch.float32)
    return probability_of(outputs, view.target[rows]).numpy()


def probability_of(outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Probability of the target class [rows, draws] from raw outputs [rows, draws, K']."""
    if outputs.shape[-1] == 1:
        return torch.sigmoid(outputs[..., 0] * (2 * target - 1)[:, None])
    index = target[:, None, None].expand(-1, outputs.shape[1], 1)
    return outputs.softmax(dim=-1).gather(-1, index).squeeze(-1)


def undefined(medians: Floats) -> dict[str, int]:
    """Texts that have no weights to change."""
    count = int(np.isnan(medians).sum())
    return {"no tokens": count} if count else {}


def verdict(interval: Interval | None, over_chance: Interval | None, direction: str) -> str:
    """In words, from intervals alone."""
    if interval is None or over_chance is None:
        return "undecided: too few examples"
    low, high = interval
    if direction == "signed":
        if low <= 0 <= high:
            return "no preferred direction"
        return "other weights raise the prediction" if low > 0 else "other weights lower the prediction"
    size = "hardly matters" if high < 0.05 else "matters much" if low >= 0.2 else "matters"
    compared = "more than" if over_chance[0] > 0 else "less than" if over_chance[1] < 0 else "as much as"
    return f"which token has which weight {size}; it matters {compared} it would for random weights"
