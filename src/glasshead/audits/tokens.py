"""Do the weights distinguish the words of one class from those of another?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS, Audit, AuditResult, Measured
from glasshead.audits.judging.question import SHARE, Outcome, Question, decisive, usable
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Interval
from glasshead.audits.judging.table import Column, Table
from glasshead.results import (
    CANONICAL_GAUGE,
    MIN_UNITS,
    ONE_SIGNED,
    RAW_SIGN,
    TOO_FEW_TOKENS,
    AuditCard,
    Finding,
    Verdict,
)
from glasshead.spelling import spell
from glasshead.statistics import auc_interval, resamples_for

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

TOKENS = "tokens"
QUANTITIES = ("score", "weight", "polarity", "contribution", "chance", "weight-raw")
NO_SEPARATION = "does not separate them"
FAVOURS = {"weight": "more weight", "score": "higher scores"}


OF_TYPES = "it counts {token} types, not {texts}"


class Tokens(Audit):
    """Mean score, weight, polarity and contribution of token types, per group, and how they separate groups.

    A type's number is the mean over its occurrences in the split. ``separation`` is the probability that a
    token of the first group has the larger value (0.5: none); ``sign`` is the share of tokens whose weight
    has their sign, averaged over the two groups. Huang et al. 2024, Fig. 2; Sun and Lu 2020, Table 1.
    """

    question = "do the weights distinguish the words of one class from those of another?"
    citation = "Sun and Lu 2020; Huang, Yang and Wang 2024, section 5.1"
    title = "{Token} groups"
    about = (
        "Do {words} that belong to a label get a different score, weight, polarity or contribution? "
        "Means over {token} types; separation is the probability that {a_token} of the first group has the "
        "larger value, and the share of correct signs is averaged over positive and negative {tokens}."
    )
    place = 95
    words: ClassVar = {
        "separation": "separation (AUC)",
        "sign": "share of correct signs",
        "score": "score s",
        "weight": f"weight a{CANONICAL_GAUGE}",
        "weight-raw": "weight a, raw gauge",
        "weight-absolute": "weight, absolute",
        "polarity": "polarity o",
        "contribution": "contribution a·o",
    }
    joint = "by"
    questions = (
        Question(
            "separation",
            "weight",
            group="positive vs negative",
            title="Do the weights distinguish positive from negative {words}?",
            unit="AUC",
            within=SHARE,
            no_number=OF_TYPES,
        ),
        Question("separation", "*", unit="AUC", within=SHARE, no_number=OF_TYPES),
        Question("sign", "*", unit="share of correct signs", within=SHARE, no_number=OF_TYPES),
        Question(
            "*",
            unit="mean",
            within=None,
            no_null="random weights have no score, polarity or contribution",
            no_number=OF_TYPES,
        ),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether contributions tell words of one class from those of the other."""
        finding = usable(card, "tokens.separation.contribution.positive vs negative")
        if finding is None:
            return None
        interval = decisive(finding)
        if interval is None:
            return Outcome(undecided=("whether contributions distinguish positive from negative words",))
        low, high = interval
        if low <= 0.5 <= high:
            return Outcome("contributions are not shown to distinguish positive from negative words")
        wrong = ", the wrong way round" if high < 0.5 else ""
        return Outcome(f"contributions distinguish positive from negative words{wrong}")

    def unsupported_reason(self, view: ModelView) -> str | None:
        if not view.explainer.reads_weights:
            return NO_WEIGHTS.format(view.method)
        if view.is_regression and not view.rates_answers:
            return f"{view.nouns.words} have no class if ratings are predicted"
        if not view.explanation.encoded.in_line:
            return "images have no vocabulary whose entries could belong to classes"
        if view.explanation.encoded.asks_each or view.predicts_tokens:
            return f"{view.nouns.words} have no class when each text has its own question"
        if view.counts is None:
            return f"the classes of words come from the training data: give them ({spell('train')})"
        return (
            None
            if view.sentence_of_token is None
            else f"sentences belong to no class: leave {spell('level')} out"
        )

    columns = (
        Column("tokens.ids", "ints", "id", "the vocabulary ids of the tokens", shown=False),
        Column("tokens.names", "texts", "", "the tokens", shown=False),
        Column("tokens.groups", "texts", "", "the group of each token; empty: none", shown=False),
        Column(
            "tokens.gamma",
            "floats",
            "γ",
            "how much more often it occurs in one class than in another",
            shown=False,
        ),
        Column("tokens.counts", "ints", "tokens", "how often it occurs in the training data", shown=False),
        Column(
            "tokens.*", "floats", "number", "score, weight, polarity, contribution, or chance", shown=False
        ),
    )

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.token_columns import token_columns

        return Measured(token_columns(view))

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(TOKENS)
        text_of_token = np.repeat(
            np.arange(len(table["tokens.ids"])), [len(own) for own in table["tokens.ids"]]
        )
        flat = {
            name.removeprefix("tokens."): np.concatenate([*column])
            for name, column in table.items()
            if name.startswith("tokens.")
        }
        _, first, type_of_token, occurrences = np.unique(
            flat["ids"], return_index=True, return_inverse=True, return_counts=True
        )
        group = flat["groups"][first]
        columns = {name: flat[name].astype(float) for name in QUANTITIES if name in flat}
        findings: list[Finding] = []
        for texts in (part for part in settings.groups if part.name == "all" or part.by):
            chosen = texts.members[text_of_token]
            means = mean_per_type(
                {name: values[chosen] for name, values in columns.items()}, type_of_token[chosen]
            )
            present = group[np.unique(type_of_token[chosen])]
            findings += self._levels(means, present, texts, settings, rng)
            findings += self._separations(means, present, texts, settings, rng)
        means = mean_per_type(columns, type_of_token)
        by_type = {
            "token": flat["names"][first].tolist(),
            "group": group.tolist(),
            "gamma": [None if np.isnan(g) else float(g) for g in flat["gamma"][first]],
            "count": flat["counts"][first],
            "occurrences": occurrences,
        } | {name.replace("-", "_"): values for name, values in means.items() if name != "chance"}
        return AuditResult(findings, tokens=by_type)

    def _levels(
        self, means: Mapping[str, AnyFloats], group: NDArray[np.str_], texts: Group, settings: Settings,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:  # fmt: skip
        """Mean of each quantity in each group of token types, over their occurrences in some texts."""
        chance = means["chance"]
        means = {name: values for name, values in means.items() if name != "chance"}
        for group_name in sorted(set(group.tolist()) - {""}):
            members = group == group_name
            # What random weights have to do with a score or a polarity is nothing: no null there.
            nulls = [{"random": chance[members] if name.startswith("weight") else None} for name in means]
            values = [numbers[members] for numbers in means.values()]
            names = [(statistic, "") for statistic in means]
            summaries = self.summarise(names, values, nulls, rng=rng, level=texts.level, settings=settings)
            named = texts._replace(name=in_texts(group_name, texts))
            for statistic, summary in zip(means, summaries, strict=True):
                verdict = no_evidence_reason(settings, statistic) or level_verdict(summary.reliable_interval)
                yield summary.finding("tokens", statistic, verdict, group=named, citation=self.citation)

    def _separations(
        self,
        means: Mapping[str, AnyFloats],
        group: NDArray[np.str_],
        texts: Group,
        settings: Settings,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """How well each quantity tells two groups apart, over their occurrences in some texts."""
        means = {name: values for name, values in means.items() if name != "chance"}
        neutral, polar = group == "neutral", (group != "neutral") & (group != "")
        pairs = [("polar vs neutral", polar, neutral, {"weight-absolute": np.abs(means["weight"])})]
        if settings.binary:
            positive, negative = group == "positive", group == "negative"
            pairs.insert(0, ("positive vs negative", positive, negative, dict(means)))
            if settings.signed:
                for name in ("weight-raw", "weight"):
                    # Of signs, that probability is the mean share of correct signs in the two groups.
                    signs = np.sign(means[name])
                    named = texts._replace(name=in_texts(pairs[0][0], texts))
                    yield self._separation(
                        "sign", name, named, (signs[positive], signs[negative]), settings, rng
                    )
        for name, first, second, quantities in pairs:
            named = texts._replace(name=in_texts(name, texts))
            for against, values in quantities.items():
                yield self._separation(
                    "separation", against, named, (values[first], values[second]), settings, rng
                )

    def _separation(
        self,
        statistic: str,
        against: str,
        group: Group,
        values: tuple[AnyFloats, AnyFloats],
        settings: Settings,
        rng: np.random.Generator,
    ) -> Finding:
        """The probability that a token of the first group has the larger of the two ``values``."""
        first, second = values
        result = auc_interval(first, second, rng=rng, level=group.level, resamples=resamples_for(group.level))
        interval = result.interval if min(len(first), len(second)) >= MIN_UNITS // 2 else None
        if (reason := no_evidence_reason(settings, against)) is not None:
            verdict = reason
        elif settings.shifts is not None:
            verdict = NO_FLOOR
        elif statistic == "sign":
            verdict = ONE_SIGNED if settings.one_sided else sign_verdict(interval)
        elif against in FAVOURS and settings.one_sided and settings.binary:
            verdict = favour_verdict(interval, FAVOURS[against])
        else:
            verdict = separation_verdict(interval)
        return Finding(
            audit="tokens",
            statistic=statistic,
            against=against,
            group=group.name,
            estimate=result.mean,
            std=None,
            interval=result.interval if settings.shifts is None else None,
            null={"random": 0.5},
            n=len(first) + len(second),
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            by=group.by,
            level=group.level,
            **verdict.fields,
        )


AUDITS.register(TOKENS)(Tokens())


def mean_per_type(columns: Mapping[str, AnyFloats], type_of_token: NDArray[np.intp]) -> dict[str, AnyFloats]:
    """The mean of each quantity over the occurrences of each type that there is, in the order of types."""
    present, place, occurrences = np.unique(type_of_token, return_inverse=True, return_counts=True)
    return {
        name: np.bincount(place, weights=values, minlength=len(present)) / occurrences
        for name, values in columns.items()
    }


def in_texts(words: str, texts: Group) -> str:
    """What a group of words is called where only a slice of the texts is read."""
    return f"{words}, {texts.name}" if texts.by else words


def no_evidence_reason(settings: Settings, quantity: str) -> Verdict | None:
    """Why the signs of a quantity say nothing; None: they do, or it has no gauge."""
    if quantity == "weight-raw":
        return RAW_SIGN
    gauged = quantity in ("score", "weight", "polarity", "weight-absolute")
    return settings.sign_no_evidence_reason(size=quantity == "weight-absolute") if gauged else None


NO_FLOOR = Verdict("undecided: the noise of half precision in this number is unknown", "undecided")
"""Of a probability over types, which is no mean over inputs."""


def level_verdict(interval: Interval | None) -> Verdict:
    """Judge on which side of zero a group stands."""
    if interval is None:
        return TOO_FEW_TOKENS
    if interval[0] > 0:
        return Verdict("above zero")
    return Verdict("below zero" if interval[1] < 0 else "not distinguishable from zero")


def auc_verdict(interval: Interval | None, chance: str, above: str, below: str) -> Verdict:
    """Judge the interval of a probability: where 0.5 is inside, and where all of it lies above or
    below."""
    if interval is None:
        return TOO_FEW_TOKENS
    low, high = interval
    return Verdict(chance if low <= 0.5 <= high else above if low > 0.5 else below)


def separation_verdict(interval: Interval | None) -> Verdict:
    """Whether two groups are told apart."""
    above = f"{separation_strength(interval)} separates them"
    return auc_verdict(interval, NO_SEPARATION, above, "separates them the wrong way round")


def favour_verdict(interval: Interval | None, what: str) -> Verdict:
    """Weights of one sign, and their scores, cannot tell for from against, only favour one kind of word."""
    above, below = (f"gives {kind} words {what}" for kind in ("positive", "negative"))
    return auc_verdict(interval, NO_SEPARATION, above, below)


def sign_verdict(interval: Interval | None) -> Verdict:
    """Whether weights have the sign of their words, from the interval of the share."""
    above = f"signs are {separation_strength(interval)} right"
    return auc_verdict(interval, "signs are no better than chance", above, "signs are the wrong way round")


def separation_strength(interval: Interval | None) -> str:
    """How far above 0.5 an interval begins, in a word."""
    low = 0.5 if interval is None else interval[0]
    return "clearly" if low >= 0.9 else "mostly" if low >= 0.7 else "slightly"
