"""Does the prediction change when the attention weights change?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.question import (
    EXTENTS_AT,
    HOW_MANY,
    SHARE,
    SIZE_OF_CHANGE,
    Outcome,
    Question,
    change_size,
    decisive,
    in_how_many,
    more_or_less,
    prediction_range,
    signed_change,
    usable,
)
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import (
    Interval,
    few_tokens,
    null_column,
    nulls_of,
)
from glasshead.audits.judging.table import Column, Table
from glasshead.audits.measuring.answers import Answers, Change
from glasshead.audits.measuring.null_weights import (
    are_alike,
    base_weights,
    carry_one_value,
    even_weights,
    leave_a_choice,
    same_mass,
    uniform_draws,
)
from glasshead.errors import InputError
from glasshead.nouns import Nouns
from glasshead.results import (
    LARGE_CHANGE,
    MIN_UNITS,
    NEGLIGIBLE,
    SMALL_CHANGE,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Finding,
    Verdict,
    by_construction,
    extent_of,
    same_value,
)

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView
    from glasshead.explainers import ForwardObservation

ROUNDING = 1e-6
"""A change smaller than such a share of the range of predictions is that of float32 arithmetic."""
WEIGHT_BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Numbers in one block of draws: bounds memory, and keeps a block near the processor.
DRAW_BLOCK = 500_000
UNIFORM = "uniform"
TESTS = ("permutation", "random", "random-normalised", UNIFORM)
# What a change is compared with: the same test of random weights.
TWO_SETS = "between two sets of random weights"
REFERENCES = {
    "permutation": "when random weights are shuffled",
    "random": TWO_SETS,
    "random-normalised": TWO_SETS,
    UNIFORM: "when random weights become uniform",
}
WEIGHT_BASES = ("own", "random", UNIFORM)
OF_EQUAL_WEIGHTS = {
    "permutation": "all weights of {a_text} are equal, so shuffled ones are too",
    UNIFORM: "all weights of {a_text} are equal already",
}
"""Why a test changes nothing by construction."""
# Test and direction → column of examples.parquet.
MEDIAN_COLUMNS = {(test, way): f"{test}.median.{way}" for test in TESTS for way in ("absolute", "signed")}
# Whether the answer of a text changes, for the tests that keep the size of the weights.
SHARE_COLUMNS = {(test, "share"): f"{test}.median.share" for test in ("permutation", UNIFORM)}
COLUMNS = MEDIAN_COLUMNS | SHARE_COLUMNS
PERTURBATION, DRAWS = "perturbation", "perturbation draws"


CHANGE_BORDERS = (SIZE_OF_CHANGE, more_or_less("random"))


class Perturbation(Audit):
    """Median change of ŷ over draws of other weights, per example, then mean ± std over examples.

    ``permutation`` shuffles the weights of a text; ``random`` replaces them by U(0, 1), or U(−1, 1) for
    signed activations, as the paper does; ``random-normalised`` scales those to the text's own Σ|a|;
    ``uniform`` gives all tokens the same weight, with one Σa for all texts (`even_weights`), which takes no
    draws. The null is the same test on random and on uniform weights. Texts in which no two tokens share a
    row are left out: the weight of one alone cannot be another.

    ``share`` is the share of the texts whose answer changes in half of the draws or more: another class is
    predicted, or ŷ moves by a twentieth of the range of predictions or more. ŷ is the target's probability,
    without a factor ½, or the rating. Where the outputs are linear in the weights there are ``draws`` draws;
    elsewhere each is a forward pass, and there are ``passes``.
    """

    question = "does the prediction change when the attention weights change?"
    citation = "Jain and Wallace 2019; Huang, Yang and Wang 2024, section 5.2"
    of_tokens = True
    title = "Perturbation"
    about = (
        "Does the answer change when the weights change? Mean over the examples of the per-example median "
        "change of the target's probability, or of the rating."
    )
    place = 30
    words: ClassVar = {
        "permutation": "permuted weights",
        "random": "random weights, as in the paper",
        "random-normalised": "random weights, normalised",
        "uniform": "uniform weights",
        "absolute": "absolute change",
        "signed": "signed change",
        "share": "share that changes",
    }
    questions = (
        Question(
            "permutation",
            "absolute",
            title="Does shuffling the weights change the answer?",
            unit="median |Δŷ|",
            within=change_size,
            borders=CHANGE_BORDERS,
        ),
        Question(
            UNIFORM,
            "absolute",
            title="Do uniform weights change the answer?",
            unit="|Δŷ|",
            within=change_size,
            borders=CHANGE_BORDERS,
        ),
        Question(
            "random-normalised",
            "absolute",
            title="Do random weights of the same total size change the answer?",
            unit="median |Δŷ|",
            within=change_size,
            borders=CHANGE_BORDERS,
        ),
        Question(
            "permutation",
            "share",
            unit="share of the {texts}",
            within=SHARE,
            counts=True,
            claim="shuffling the weights among the {tokens} would change the predictions",
            holds=in_how_many,
            claim_at=EXTENTS_AT,
            borders=(HOW_MANY,),
        ),
        Question(
            UNIFORM,
            "share",
            unit="share of the {texts}",
            within=SHARE,
            counts=True,
            claim="uniform weights would change the predictions",
            holds=in_how_many,
            claim_at=EXTENTS_AT,
            borders=(HOW_MANY,),
        ),
        Question("*", "absolute", unit="median |Δŷ|", within=change_size, borders=CHANGE_BORDERS),
        Question("*", "signed", unit="median Δŷ", within=signed_change, borders=(at(0.0),)),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether the answer depends on which token has which weight."""
        finding = usable(card, f"{PERTURBATION}.permutation.absolute.all")
        if finding is None:
            return None
        whole = prediction_range(card)
        return (
            Outcome()
            if decisive(finding) is not None and whole is None
            else shuffling_outcome(finding, "the answer", whole)
        )

    def __init__(self, draws: int = 100, passes: int = 20) -> None:
        if min(draws, passes) < 1:
            raise InputError(f"a perturbation test needs at least one draw, not {min(draws, passes)}")
        self.draws, self.passes = draws, passes

    def unsupported_reason(self, view: ModelView) -> str | None:
        """Why there is nothing to change."""
        return None if view.explainer.reads_weights else NO_WEIGHTS.format(view.method)

    def num_draws(self, settings: Settings) -> int:
        """How many draws a subject gets."""
        return self.draws if settings.exact else self.passes

    columns = (
        Column(
            "*.median.share*", "float", "1 or 0", "whether the answer changes in half of the draws or more"
        ),
        Column("*.median.*", "float", "change of ŷ", "the median over draws of other weights"),
        Column("alike", "bool", "", "whether all units that share a row have the same weight", shown=False),
        Column("same_value", "bool", "", "whether all units carry the same value, not zero", shown=False),
        Column("choice", "bool", "", "whether two units or more share a row of weights", shown=False),
        Column("largest", "float", "weight", "the largest |weight| of the units", shown=False),
    )

    def measure(self, view: ModelView) -> Measured:
        if view.readout is None:
            from glasshead.audits.measuring.forward_perturbation import perturb_by_forward

            observation = cast("ForwardObservation", view.explanation.observation)
            medians, *rest = self.median_changes(
                perturb_by_forward(view, observation, self.passes, PERTURBATION),
                view.prediction_range,
                view.resolution,
            )
        else:
            bases = base_weights(view, PERTURBATION)
            bases[-1] = even_weights(view.readout, view.known.even)
            medians, *rest = self.medians(view, bases)
        alike, choice = are_alike(view), leave_a_choice(view)
        columns: dict[str, AnyFloats] = {}
        for base, result in zip(WEIGHT_BASES, (medians, *rest), strict=True):
            for (test, _), column in COLUMNS.items():
                if (test, base) != (UNIFORM, UNIFORM):
                    name = column if base == "own" else null_column(column, base)
                    columns[name] = np.where(choice, result[column], np.nan).astype(np.float64)
        largest = np.abs(view.canonical).max(axis=1, initial=0.0)
        facts = {"alike": alike, "choice": choice, "largest": largest, "same_value": carry_one_value(view)}
        return Measured({**columns, **facts})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(PERTURBATION)
        findings = []
        for group in self.groups(table, settings):
            members = group.members
            nulls = [nulls_of(table, column, members) for column in COLUMNS.values()]
            columns = [table[column][members] for column in COLUMNS.values()]
            summaries = self.summarise(
                [*COLUMNS], columns, nulls, rng=rng, level=group.level, settings=settings
            )
            for (test, direction), values, summary in zip(COLUMNS, columns, summaries, strict=True):
                moved = np.nan_to_num(table[MEDIAN_COLUMNS[test, "absolute"]][members])
                still = bool((moved <= ROUNDING * settings.prediction_range).all())
                equal, same = (table[name][members & table["choice"]] for name in ("alike", "same_value"))
                # Of fewer texts the others may well be unlike these.
                known = len(equal) >= MIN_UNITS and test in OF_EQUAL_WEIGHTS and still
                if known and equal.all():
                    reason = settings.nouns.fill(OF_EQUAL_WEIGHTS[test])
                    verdict = by_construction("no change", reason)
                elif known and same.all():
                    verdict = same_value(settings.nouns)
                elif direction == "share":
                    verdict = judge_changed_share(summary.reliable_interval, test, settings.prediction_range)
                else:
                    verdict = perturbation_verdict(
                        summary.reliable_interval,
                        summary.reliable_differences.get("random"),
                        test,
                        direction,
                        settings.prediction_range,
                    )
                findings.append(
                    summary.finding(
                        PERTURBATION,
                        test,
                        verdict,
                        group=group,
                        citation=self.citation,
                        against=direction,
                        undefined=count_texts_without_change(values, table["units"][members], settings.nouns),
                    )
                )
        return AuditResult(findings)

    @staticmethod
    def groups(table: Table, settings: Settings) -> list[Group]:
        """Those of every audit, and bins of the largest |weight| (a flat map has nothing to shuffle)."""
        largest = table["largest"]
        groups = list(settings.groups)
        if settings.part:
            return groups
        for low, high in pairwise(WEIGHT_BINS):
            members = (largest >= low) & ((largest < high) | (high == WEIGHT_BINS[-1]))
            if members.any():
                groups.append(Group(f"max weight {low:.2f}–{high:.2f}", members, level=settings.level))
        return groups

    @staticmethod
    def median_changes(
        predictions: Mapping[str, Answers], unit: float, resolution: float
    ) -> list[dict[str, AnyFloats]]:
        """The columns [N] of every test, for own, random and uniform weights, from what is predicted."""
        # Of uniform weights there is one order only.
        shuffled = {
            "own": predictions["permuted"],
            "chance": predictions["permuted-chance"],
            UNIFORM: predictions[UNIFORM],
        }
        results = []
        for base, permuted in shuffled.items():
            result: dict[str, AnyFloats] = {}
            for test in TESTS:
                after = permuted if test == "permutation" else predictions[test]
                result |= columns_of_test(test, after.change_from(predictions[base], resolution), unit)
            results.append(result)
        return results

    def medians(self, view: ModelView, bases: AnyFloats) -> list[dict[str, AnyFloats]]:
        """Median |Δŷ| and median Δŷ [N] of every test, for each of the base weights [B, N, n].

        All bases see the same permutations and draws, and have the same mass Σ|a| per text. NaN for a text
        without tokens.
        """
        from glasshead.audits.measuring.perturbation_passes import predict_with_weights

        readout = view.readout
        assert readout is not None
        lengths, all_parts = readout.mask.numpy().sum(axis=1), readout.parts().numpy()
        uniform = even_weights(readout, view.known.even).astype(np.float32)
        medians = {column: np.full((len(bases), len(lengths)), np.nan) for column in COLUMNS.values()}
        # Texts of one length are one dense block: shuffling needs no mask, and padding is never touched.
        for n in np.unique(lengths[lengths > 0]).tolist():
            members = np.flatnonzero(lengths == n)
            step = max(DRAW_BLOCK // (self.draws * n), 1)
            for start in range(0, len(members), step):
                rows = members[start : start + step]
                a, parts = bases[:, rows, :n].astype(np.float32), all_parts[rows, :n]
                draws = [view.rng(DRAWS, row) for row in rows.tolist()]
                drawn = np.stack([uniform_draws((self.draws, n), readout.signed, rng) for rng in draws])
                drawn *= np.float32(readout.gauge)
                order = np.stack(
                    [random_orders(own, self.draws, rng) for own, rng in zip(parts, draws, strict=True)]
                )
                order += (np.arange(len(rows)) * n)[:, None, None]
                # Of equal weights there is one order only.
                movable = np.flatnonzero(np.ptp(a, axis=2).any(axis=1))
                shuffled = [a[base].ravel()[order] for base in movable]
                before, random, normalised, even, *moved = predict_with_weights(
                    view,
                    rows,
                    a.swapaxes(0, 1),
                    drawn,
                    same_mass(drawn, a[0], parts),
                    uniform[rows][:, None, :n],
                    *shuffled,
                )
                before = before.swap_first_axes()[..., None]  # [bases, rows, 1]
                permuted = before.repeat(self.draws)
                for base, answers in zip(movable, moved, strict=True):
                    permuted[base] = answers
                predictions = {
                    "permutation": permuted,
                    "random": random,
                    "random-normalised": normalised,
                    UNIFORM: even,
                }
                for test, after in predictions.items():
                    change = after.change_from(before, view.resolution)  # [bases, rows, draws]
                    for column, values in columns_of_test(test, change, view.prediction_range).items():
                        medians[column][:, rows] = values
        return [{column: values[base] for column, values in medians.items()} for base in range(len(bases))]


AUDITS.register(PERTURBATION)(Perturbation())


def shuffling_outcome(finding: Finding, what: str, whole: float | None) -> Outcome:
    """Whether shuffled weights change it by more than a small part of its ``whole`` range."""
    interval = decisive(finding)
    if interval is None or whole is None or interval[0] < SMALL_CHANGE * whole <= interval[1]:
        open_question = f"whether shuffling the weights changes {what} by more than a little"
        return Outcome("", (open_question,), (finding,))
    low, high = interval
    if high < SMALL_CHANGE * whole:
        return Outcome(f"shuffling the weights hardly changes {what}")
    size = " much" if low >= LARGE_CHANGE * whole else ""
    return Outcome(f"shuffling the weights changes {what}{size}")


def random_orders(parts: NDArray[np.int64], draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """So many uniformly random orders of the units of a text [draws, n], each within its part; ``parts`` [n]
    stand one after another.

    The order of independent numbers. Each carries its place in its last bits, so that the numbers are sorted
    themselves, which takes half of the time of finding their order; two of 30 that are equal before these
    bits, whose order is not random, occur once in 10¹⁴ draws.
    """
    n = len(parts)
    low, high = max(n - 1, 1).bit_length(), int(parts.max(initial=0)).bit_length()
    keys = rng.bit_generator.random_raw((draws, n))  # 64 random bits each
    if high:
        keys >>= np.uint64(high)
        keys |= parts.astype(np.uint64) << np.uint64(64 - high)
    keys &= np.uint64(2**64 - 2**low)
    keys |= np.arange(n, dtype=np.uint64)
    keys.sort(axis=-1)
    keys &= np.uint64(2**low - 1)
    return keys.view(np.int64)


def median_of_draws(values: AnyFloats) -> AnyFloats:
    """The median over the last axis; NumPy's, but sorted, which runs on the vector units of a processor."""
    values.sort(axis=-1)
    draws = values.shape[-1]
    return np.asarray((values[..., (draws - 1) // 2] + values[..., draws // 2]) / 2)


def columns_of_test(test: str, change: Change, unit: float) -> dict[str, AnyFloats]:
    """The columns of one test from the changes under its draws: medians over draws, and whether the answer
    changes in half of them or more (1, 0, or NaN)."""
    columns: dict[str, AnyFloats] = {}
    if (test, "share") in SHARE_COLUMNS:
        often = change.is_large(SMALL_CHANGE * unit).mean(axis=-1) >= 0.5
        unknown = np.isnan(change.of_value).any(axis=-1)
        columns[SHARE_COLUMNS[test, "share"]] = np.where(unknown, np.nan, often)
    columns[MEDIAN_COLUMNS[test, "absolute"]] = median_of_draws(np.abs(change.of_value))
    columns[MEDIAN_COLUMNS[test, "signed"]] = median_of_draws(change.of_value)
    return columns


def count_texts_without_change(medians: AnyFloats, units: NDArray[np.int64], nouns: Nouns) -> dict[str, int]:
    """Texts that have no weights to change, or none that could be others."""
    missing = np.isnan(medians)
    none = missing & (units == 0)
    counts = {f"no {nouns.tokens}": int(none.sum()), few_tokens(nouns): int((missing & ~none).sum())}
    return {reason: count for reason, count in counts.items() if count}


def perturbation_verdict(
    interval: Interval | None, over_chance: Interval | None, test: str, direction: str, unit: float = 1.0
) -> Verdict:
    """Judge intervals alone; ``unit`` is a change from one end of the predictions to the other."""
    if interval is None or over_chance is None:
        return TOO_FEW_EXAMPLES
    if unit == 0:
        return NO_RANGE
    low, high = interval
    if direction == "signed":
        if low <= 0 <= high:
            return Verdict("not settled whether other weights raise or lower the prediction")
        way = "raise" if low > 0 else "lower"
        return Verdict(f"other weights {way} the prediction")
    small, large = SMALL_CHANGE * unit, LARGE_CHANGE * unit
    chance = beside_chance(over_chance, NEGLIGIBLE * unit)
    if low < small <= high:
        although = ALTHOUGH[chance].format(REFERENCES[test])
        return Verdict(f"undecided: the change may be negligible{although}", "undecided")
    size = "hardly changes" if high < small else "changes much" if low >= large else "changes"
    return Verdict(f"the prediction {size}{BESIDE[chance].format(REFERENCES[test])}")


NO_RANGE = Verdict(
    ("undecided: all labels are equal, so there is no scale for changes"), "undecided", "no range"
)
OTHER_WEIGHTS = {"permutation": "shuffled weights", UNIFORM: "uniform weights"}


def judge_changed_share(interval: Interval | None, test: str, unit: float) -> Verdict:
    """Judge, from its interval, the share of texts that change by more than a little."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    if unit == 0:
        return NO_RANGE
    extent = extent_of(interval)
    if extent == "undecided":
        return Verdict(
            f"undecided: {OTHER_WEIGHTS[test]} may change hardly any prediction, or over a fifth", "undecided"
        )
    which = "any prediction" if extent == "hardly any" else f"{extent} predictions"
    hardly = "hardly " if extent == "hardly any" else ""
    return Verdict(f"{OTHER_WEIGHTS[test]} {hardly}change {which}")


Beside = Literal["alike", "more", "less", "not settled"]
BESIDE: dict[Beside, str] = {
    "alike": ", about as much as {}",
    "more": ", more than {}",
    "less": ", less than {}",
    "not settled": "; not settled whether more or less than {}",
}
ALTHOUGH: dict[Beside, str] = {
    "alike": ", and is about as large as {}",
    "more": ", although it is larger than {}",
    "less": ", and is smaller than {}",
    "not settled": "",
}
"""The end of a sentence on a change, and of one on a change that may be negligible."""


def beside_chance(over_chance: Interval, negligible: float) -> Beside:
    """Whether a change is larger than that of the same test of random weights."""
    low, high = over_chance
    if max(-low, high) < negligible:
        return "alike"
    return "not settled" if low <= 0 <= high else "more" if low > 0 else "less"
