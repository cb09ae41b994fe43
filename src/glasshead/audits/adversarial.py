"""Is there an attention map far from the model's own that gives the same prediction?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.adversary import Judgement, Search
from glasshead.audits.adversary.claims import OTHERS_AT, movable, only_similar_ones, other_maps
from glasshead.audits.adversary.judging import (
    ADVERSARIAL,
    BOUND,
    CITATION,
    CONVERGED,
    EXACT,
    FLAT,
    FOUND,
    FREE,
    ONE,
    PRODUCIBLE,
    SAME_OUTPUT,
    STARTS,
    column,
)
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS, Audit, AuditResult, Measured
from glasshead.audits.judging.question import ANY_SIZE, NOT_FOUND, OVER_RANDOM, SHARE, Outcome, Question
from glasshead.audits.judging.summary import null_column
from glasshead.audits.judging.table import Column, Table
from glasshead.errors import InputError
from glasshead.results import AuditCard
from glasshead.spelling import spell

if TYPE_CHECKING:
    from glasshead.audits.adversary import Found
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

EPSILON, TEXTS, PASS_TEXTS = 0.01, 200, 40
SEARCH = Search()


NO_QUERY = "random weights come from no query"


class Adversarial(Audit):
    """ε-max: the largest distance from the model's own map of one whose prediction differs by at most ε.

    |Δŷ| is ½ Σ over classes, or a share of the range of ratings; the distance is the Jensen-Shannon
    divergence in nats (at most ln 2) where rows sum to one, total variation elsewhere. ``free`` maps are all
    that the activation can produce; those of ``same-output`` give the same output of the head, those that are
    ``producible`` come from another query and the same keys. ``found`` is the share of texts with such a map
    at half of the largest distance or more. The nulls are the same question about random and uniform weights
    of the same mass. Exact where the outputs are linear in the weights and there are two classes, or ratings,
    and, of ``producible`` maps, one query of one or two numbers; elsewhere what a search reaches, which is a
    lower bound and has no interval. `Search` climbs from more starts until several agree, or their number is
    spent: for how many texts they did is a fact, and a column says of which. At most ``texts`` texts are
    asked, or ``pass_texts`` where each step of the search is a forward pass.
    """

    question = "is there another map with the same prediction?"
    citation = CITATION
    by_default = False
    title = "Other maps with the same prediction"
    about = (
        "Is there a map far from that of the model that gives the same prediction? The largest distance at "
        "which ŷ changes by no more than ε, mean over the examples (Jensen-Shannon divergence, at most "
        "0.693; total variation, at most 1, where rows do not sum to one); and the share of examples with "
        "such a map at half of the largest distance or more. With many {tokens} nearly "
        "every model has one, and so have random weights, the null. Maps with the same "
        "output of the head, or that the head can produce from its keys, tell you more."
    )
    place = 40
    words: ClassVar = {
        "jsd": "distance of the farthest map (JSD)",
        "tv": "distance of the farthest map (total variation)",
        FOUND: "share of examples with a far map",
        BOUND: "upper bound of the distance",
        FLAT: "share of predictions that no weights change",
        FREE: "of all maps",
        SAME_OUTPUT: "among those with the same output of the head",
        PRODUCIBLE: "among those of another query and the same keys",
    }
    questions = (
        Question(
            FOUND,
            FREE,
            title="Is there a map far from this one with the same prediction?",
            unit="share of the examples",
            within=SHARE,
            counts=True,
            no_number=NOT_FOUND,
            claim="only similar weights give the same prediction",
            holds=only_similar_ones,
            claim_at=OTHERS_AT,
        ),
        Question(
            FOUND,
            SAME_OUTPUT,
            title="Is there one with the same head output?",
            unit="share of the examples",
            within=SHARE,
            counts=True,
            no_number=ANY_SIZE,
        ),
        Question(
            FOUND,
            PRODUCIBLE,
            title="Is there one that the head can produce?",
            unit="share of the examples",
            within=SHARE,
            counts=True,
            no_null=NO_QUERY,
            no_number=NOT_FOUND,
            claim="among the weights that the head can produce, only similar ones give the same prediction",
            holds=only_similar_ones,
            claim_at=OTHERS_AT,
        ),
        Question(
            FLAT,
            unit="share of the examples",
            within=SHARE,
            counts=True,
            no_null="it is about all weights",
            no_number=NOT_FOUND,
            claim="other weights can change the prediction",
            holds=movable,
            claim_at=OTHERS_AT,
        ),
        Question(BOUND, "*", unit="distance", within=SHARE, no_null="a bound", no_number=ANY_SIZE),
        Question("jsd", "*", unit="nats", within=(0.0, math.log(2)), no_null=NO_QUERY, borders=OVER_RANDOM),
        Question("tv", "*", unit="total variation", within=SHARE, no_null=NO_QUERY, borders=OVER_RANDOM),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether quite other weights give the same prediction."""
        return other_maps(card)

    def __init__(
        self, epsilon: float = EPSILON, texts: int | None = TEXTS, pass_texts: int | None = PASS_TEXTS
    ) -> None:
        if not 0 < epsilon < 1:
            raise InputError(f"epsilon must be a change of a prediction, between 0 and 1, not {epsilon}")
        for limit in (texts, pass_texts):
            if limit is not None and limit < 1:
                raise InputError(f"the audit needs at least one text, not {limit}")
        self.epsilon, self.texts, self.pass_texts = epsilon, texts, pass_texts

    columns = (
        Column(column(CONVERGED, "*"), "float", "1 or 0", "whether the search converged"),
        Column(column(STARTS, "*"), "float", "starts", "how many starts the search had"),
        Column(column(FLAT), "float", "1 or 0", "whether no weights change the prediction"),
        Column(column(ONE), "float", "1 or 0", "whether there is only one unit", shown=False),
        Column(f"{ADVERSARIAL}.*", "float", "distance", "the farthest other map, or its bound, or its null"),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        """Why no map is the farthest: no weights, or none that are bounded."""
        if not view.explainer.reads_weights:
            return NO_WEIGHTS.format(view.method)
        if view.half is not None:
            return f"a search needs more than half precision: use {spell('dtype', 'float32')}"
        from glasshead.audits.adversary import Setting
        from glasshead.identifiability import WEIGHT_DOMAINS

        try:
            domain = WEIGHT_DOMAINS[Setting(view).domain]
        except InputError as error:
            return str(error)
        if not domain.bounded:
            return f"its weights are {domain.describe}: they have no bounds, so no map is the farthest"
        return None

    def most(self, settings: Settings) -> int | None:
        return self.texts if settings.exact else self.pass_texts

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.adversary import (
            Setting,
            free_distances,
            producible_distances,
            same_output_distances,
        )

        texts = np.arange(len(view.labels))
        setting, left_out = Setting(view, replace(SEARCH, epsilon=self.epsilon)), reasons_left_out(view)
        facts = {
            "epsilon": self.epsilon,
            "distance": setting.statistic,
            "largest": setting.largest,
            **({"left_out": left_out} if left_out else {}),
        }
        seeds = view.seeds(ADVERSARIAL)
        found = {FREE: free_distances(setting, texts, seeds)}
        one = view.mask[texts].sum(axis=1) <= 1
        flat = found[FREE].flat & ~one
        columns = {column(ONE): one.astype(float), column(FLAT): np.where(one, np.nan, flat)}
        if SAME_OUTPUT not in left_out:
            found[SAME_OUTPUT], bound = same_output_distances(setting, texts, seeds)
            columns[column(BOUND, SAME_OUTPUT)] = np.where(one, np.nan, bound)
        if PRODUCIBLE not in left_out:
            found[PRODUCIBLE] = producible_distances(setting, texts, seeds)
        for kind, of_kind in found.items():
            undefined = one if kind == SAME_OUTPUT else one | flat
            columns |= {
                name: np.where(undefined, np.nan, values)
                for name, values in distance_columns(setting.statistic, kind, of_kind).items()
            }
        facts[EXACT] = [kind for kind, of_kind in found.items() if of_kind.exact]
        return Measured(columns, {ADVERSARIAL: facts})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        columns = {name: values for name, values in table.items() if name.startswith(f"{ADVERSARIAL}.")}
        facts = settings.facts[ADVERSARIAL]
        judgement = Judgement(
            columns, facts, settings.groups, settings.nouns, settings.rng(ADVERSARIAL), self
        )
        return AuditResult(
            judgement.findings(), judgement.examples(), facts={ADVERSARIAL: judgement.summary()}
        )


AUDITS.register(ADVERSARIAL)(Adversarial())


def reasons_left_out(view: ModelView) -> dict[str, str]:
    """Which kinds of maps cannot be asked for, and why."""
    from glasshead.audits.adversary import unproducible_reason

    site = view.explanation.site
    reasons = {
        SAME_OUTPUT: "the model does not show its values" if site and not site.has_values else None,
        PRODUCIBLE: unproducible_reason(view),
    }
    return {kind: reason for kind, reason in reasons.items() if reason is not None}


def distance_columns(statistic: str, kind: str, found: Found) -> dict[str, AnyFloats]:
    """What was found of maps of a kind, by column."""
    name = column(statistic, kind)
    distances = {
        name if base == "own" else null_column(name, base): values for base, values in found.distances.items()
    }
    return distances | {column(CONVERGED, kind): found.converged, column(STARTS, kind): found.starts}
