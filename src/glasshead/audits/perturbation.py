"""Does the prediction change when the attention weights change?"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.audits.base import AUDITS, NO_WEIGHTS, Audit, AuditResult
from glasshead.audits.context import AuditContext, Floats, uniform_weights
from glasshead.audits.forward_perturbation import perturb_by_forward
from glasshead.audits.null_weights import random_weights, same_mass
from glasshead.audits.slices import Group
from glasshead.audits.summary import Interval, null_column, summarise
from glasshead.errors import InputError
from glasshead.explainers import ForwardObservation, LinearReadout, probability
from glasshead.results import LARGE_CHANGE, SMALL_CHANGE, TOO_FEW_EXAMPLES, Verdict

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Numbers in one block of draws: bounds memory, and keeps a block near the processor.
BLOCK = 2_000_000
RESOLUTION = 1e-6  # draws are computed in float32: a smaller change is rounding
TESTS = ("permutation", "random", "random-normalised")
# What a change is compared with: the same test of random weights.
TWO_SETS = "between two sets of random weights"
REFERENCES = {
    "permutation": "when random weights are shuffled",
    "random": TWO_SETS,
    "random-normalised": TWO_SETS,
}
# Test and direction → column of examples.parquet.
COLUMNS = {(test, way): f"{test}.median.{way}" for test in TESTS for way in ("absolute", "signed")}


class Perturbation(Audit):
    """Median change of ŷ over draws of other weights, per example, then mean ± std over examples.

    ``permutation`` shuffles the weights of a text; ``random`` replaces them by U(0, 1), or U(−1, 1) for
    signed activations, as the paper does; ``random-normalised`` scales those to the text's own Σ|a|. The
    null is the same test on random and on uniform weights. ŷ is the target's probability, without a factor
    ½, or the rating. Where the outputs are linear in the weights there are ``draws`` draws; elsewhere each
    is a forward pass, and there are ``passes``.
    """

    question = "does the prediction change when the attention weights change?"
    citation = "Jain and Wallace 2019; Huang, Yang and Wang 2024, section 5.2"

    def __init__(self, draws: int = 100, passes: int = 20) -> None:
        if min(draws, passes) < 1:
            raise InputError(f"a perturbation test needs at least one draw, not {min(draws, passes)}")
        self.draws, self.passes = draws, passes

    def unsupported_reason(self, context: AuditContext) -> str | None:
        """Why there is nothing to change."""
        return None if context.explainer.reads_weights else NO_WEIGHTS.format(context.method)

    def num_draws(self, context: AuditContext) -> int:
        """How many draws a subject gets."""
        return self.draws if context.exact else self.passes

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 2])
        observation = context.explanation.observation
        if isinstance(observation, ForwardObservation):
            medians, *rest = self.median_changes(
                perturb_by_forward(context, observation, self.passes, int(rng.integers(2**31)))
            )
        else:
            assert context.readout is not None
            medians, *rest = self.medians(context, self.base_weights(context.readout, rng), rng)
        nulls = dict(zip(("random", "uniform"), rest, strict=True))

        findings = []
        for group in self.groups(context):
            members = group.members
            these = [{name: null[c][members] for name, null in nulls.items()} for c in COLUMNS.values()]
            columns = [medians[c][members] for c in COLUMNS.values()]
            summaries = summarise(columns, these, rng=rng, level=group.level)
            for ((test, direction), column), summary in zip(COLUMNS.items(), summaries, strict=True):
                verdict = perturbation_verdict(
                    summary.reliable_interval,
                    summary.reliable_differences.get("random"),
                    test,
                    direction,
                    context.prediction_range,
                )
                findings.append(
                    summary.finding(
                        "perturbation",
                        test,
                        verdict,
                        group=group,
                        citation=self.citation,
                        against=direction,
                        undefined=undefined_counts(medians[column][members]),
                    )
                )
        chance = {null_column(c, name): null[c] for name, null in nulls.items() for c in medians}
        return AuditResult(findings, medians | chance)

    @staticmethod
    def groups(context: AuditContext) -> list[Group]:
        """Those of every audit, and bins of the largest |weight| (a flat map has nothing to shuffle)."""
        largest = np.abs(context.canonical).max(axis=1, initial=0.0)
        groups = list(context.groups)
        for low, high in pairwise(BINS):
            members = (largest >= low) & ((largest < high) | (high == BINS[-1]))
            if members.any():
                groups.append(Group(f"max weight {low:.2f}–{high:.2f}", members))
        return groups

    @staticmethod
    def base_weights(readout: LinearReadout, rng: np.random.Generator) -> Floats:
        """The weights, and random and uniform ones of the same mass in each part [3, N, n], drawn in the
        canonical gauge."""
        mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
        drawn = readout.gauge * random_weights(mask, readout.signed, rng)[:, None]
        uniform = readout.gauge * uniform_weights(mask, parts)[:, None]
        return np.stack([weights, *(same_mass(null, weights, parts)[:, 0] for null in (drawn, uniform))])

    @staticmethod
    def median_changes(predictions: Mapping[str, Floats]) -> list[dict[str, Floats]]:
        """Median |Δŷ| and Δŷ [N] of every test, for own, random and uniform weights, from predictions."""
        unchanged = np.repeat(
            predictions["uniform"][None], len(predictions["random"]), axis=0
        )  # there is one order only
        shuffled = {
            "own": predictions["permuted"],
            "chance": predictions["permuted-chance"],
            "uniform": unchanged,
        }
        results = []
        for base, permuted in shuffled.items():
            result = {}
            for test in TESTS:
                change = (permuted if test == "permutation" else predictions[test]) - predictions[
                    base
                ]  # [draws, N]
                change[np.abs(change) < RESOLUTION] = 0
                result[COLUMNS[test, "absolute"]] = np.median(np.abs(change), axis=0)
                result[COLUMNS[test, "signed"]] = np.median(change, axis=0)
            results.append(result)
        return results

    def medians(
        self, context: AuditContext, bases: Floats, rng: np.random.Generator
    ) -> list[dict[str, Floats]]:
        """Median |Δŷ| and median Δŷ [N] of every test, for each of the base weights [B, N, n].

        All bases see the same permutations and draws, and have the same mass Σ|a| per text. NaN for a text
        without tokens.
        """
        readout = context.readout
        assert readout is not None
        lengths, all_parts = readout.mask.numpy().sum(axis=1), readout.parts().numpy()
        results = [{column: np.full(len(lengths), np.nan) for column in COLUMNS.values()} for _ in bases]
        # Texts of one length are one dense block: shuffling needs no mask, and padding is never touched.
        for n in np.unique(lengths[lengths > 0]).tolist():
            members = np.flatnonzero(lengths == n)
            step = max(BLOCK // (self.draws * n), 1)
            for start in range(0, len(members), step):
                rows = members[start : start + step]
                a = bases[:, rows, :n].astype(np.float32)
                shape = (len(rows), self.draws, n)
                real = np.ones(a.shape[1:], dtype=bool)
                parts = all_parts[rows, :n]
                drawn = readout.gauge * random_weights(real, readout.signed, rng, draws=self.draws)
                fresh = {
                    "random": predict_with_weights(context, rows, drawn),
                    "random-normalised": predict_with_weights(context, rows, same_mass(drawn, a[0], parts)),
                }
                # The order of independent numbers is a uniformly random permutation.
                noise = rng.random(shape, dtype=np.float32)
                order = (noise + parts[:, None, :].astype(np.float32)).argsort(axis=-1)
                order += (np.arange(len(rows)) * n)[:, None, None]
                before = np.stack([predict_with_weights(context, rows, base[:, None]) for base in a])
                shuffled = np.stack([predict_with_weights(context, rows, base.ravel()[order]) for base in a])
                for test, after in {"permutation": shuffled, **fresh}.items():
                    change = after - before  # [bases, rows, draws]
                    change[np.abs(change) < RESOLUTION] = 0
                    for direction, values in (("absolute", np.abs(change)), ("signed", change)):
                        block_medians = np.median(values, axis=-1)
                        for result, medians in zip(results, block_medians, strict=True):
                            result[COLUMNS[test, direction]][rows] = medians
        return results


AUDITS.register("perturbation")(Perturbation())


def predict_with_weights(context: AuditContext, rows: NDArray[np.int64], weights: Floats) -> Floats:
    """ŷ [rows, draws] under other weights [rows, draws, n]: one batched product with the cached polarity."""
    readout, explanation = context.readout, context.explanation
    assert readout is not None
    polarity = readout.polarity[rows, : weights.shape[-1]].float()
    outputs = torch.from_numpy(np.ascontiguousarray(weights)) @ polarity + readout.bias.float()
    target = explanation.target[rows]
    if readout.rating:
        return outputs[..., 0].numpy()
    if outputs.shape[-1] == 1:  # the sigmoid of ±z, without the detour over [0, z]
        return torch.sigmoid(outputs[..., 0] * (2 * target - 1)[:, None]).numpy()
    return probability(outputs, target[:, None].expand(outputs.shape[:-1])).numpy()


def undefined_counts(medians: Floats) -> dict[str, int]:
    """Texts that have no weights to change."""
    count = int(np.isnan(medians).sum())
    return {"no tokens": count} if count else {}


def perturbation_verdict(
    interval: Interval | None, over_chance: Interval | None, test: str, direction: str, unit: float = 1.0
) -> Verdict:
    """In words, from intervals alone; ``unit`` is a change from one end of the predictions to the other."""
    if interval is None or over_chance is None:
        return TOO_FEW_EXAMPLES
    if unit == 0:
        return Verdict(
            "undecided: all labels are equal, so no change is large or small", "undecided", "no range"
        )
    low, high = interval
    if direction == "signed":
        if low <= 0 <= high:
            return Verdict("no preferred direction")
        way = "raise" if low > 0 else "lower"
        return Verdict(f"other weights {way} the prediction")
    size = (
        "hardly changes"
        if high < SMALL_CHANGE * unit
        else "changes much"
        if low >= LARGE_CHANGE * unit
        else "changes"
    )
    reference = REFERENCES[test]
    if over_chance[0] <= 0 <= over_chance[1]:
        return Verdict(
            f"the prediction {size}; whether more or less than {reference} these texts do not show"
        )
    return Verdict(f"the prediction {size}, {'more' if over_chance[0] > 0 else 'less'} than {reference}")
