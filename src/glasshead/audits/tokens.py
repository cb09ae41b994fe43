"""Do the weights tell the words of one class from those of another?"""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.context import AuditContext, Floats
from glasshead.audits.null_weights import random_weights
from glasshead.audits.summary import FEW, Interval, summarise
from glasshead.data import token_groups
from glasshead.explainers import LinearReadout
from glasshead.results import ONE_SIGNED, RAW_SIGN, TOO_FEW_TOKENS, Finding, Verdict
from glasshead.statistics import auc_interval

FAVOURS = {"weight": "more weight", "score": "higher scores"}


class Tokens(Audit):
    """Mean score, weight, polarity and contribution of token types, per group, and how they separate groups.

    A type's number is the mean over its occurrences in the split. ``separation`` is the probability that a
    token of the first group has the larger value (0.5: none); ``sign`` is the share of tokens whose weight
    has their sign, averaged over the two groups. Huang et al. 2024, Fig. 2; Sun and Lu 2020, Table 1.
    """

    question = "do the weights tell the words of one class from those of another?"
    citation = "Sun and Lu 2020; Huang, Yang and Wang 2024, section 5.1"

    def unsupported_reason(self, subject: AuditContext) -> str | None:
        if subject.rates:
            return "words have no class where ratings are predicted"
        return None if subject.sentence is None else "sentences belong to no class: leave `level` out"

    def __call__(self, subject: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 3])
        groups, gamma = token_groups(subject.counts, subject.label_names)
        ids = subject.view.encoded.ids.numpy()[subject.mask]
        types, place, occurrences = np.unique(ids, return_inverse=True, return_counts=True)
        columns = self._columns(subject, rng)
        means = {
            name: np.bincount(place, weights=values[subject.mask]) / np.maximum(occurrences, 1)
            for name, values in columns.items()
        }
        chance = means.pop("chance")
        frame = subject.view.tokenizer.cls_token_id, subject.view.tokenizer.sep_token_id
        # What frames every text is no word of any class.
        group = np.where(np.isin(types, [each for each in frame if each is not None]), "", groups[types])
        findings = list(self._levels(means, group, chance, subject, rng))
        findings += self._separations(means, group, subject, rng)
        known = subject.counts.sum(axis=0)[types]
        table = {
            "token": subject.view.tokenizer.convert_ids_to_tokens(types.tolist()),
            "group": group.tolist(),
            "gamma": [None if np.isnan(g) else float(g) for g in gamma[types]],
            "count": known,
            "occurrences": occurrences,
        } | {name.replace("-", "_"): values for name, values in means.items()}
        return AuditResult(findings, tokens=table)

    @staticmethod
    def _columns(subject: AuditContext, rng: np.random.Generator) -> dict[str, Floats]:
        """Every quantity per occurrence [N, n], canonical where there is a gauge.

        Scores and polarities exist where the outputs are linear in the weights that are read.
        """
        seen = subject.view.observation
        target = subject.view.target
        if not subject.binary:
            # Towards the class in which the token is likeliest, not the one that its text was taken for.
            target = torch.from_numpy(subject.counts.argmax(axis=0)[subject.view.encoded.ids.numpy()])
        columns = {}
        if isinstance(seen, LinearReadout):
            columns["score"] = seen.gauge * seen.scores.numpy()
        columns["weight"] = subject.canonical
        if isinstance(seen, LinearReadout):
            columns["polarity"] = seen.slopes(target).numpy()
        columns["contribution"] = seen.contributions(target).numpy()
        columns["chance"] = random_weights(subject.mask, subject.signed, rng).astype(np.float64)
        return columns | ({"weight-raw": subject.weights} if subject.signed else {})

    def _levels(
        self, means: Mapping[str, Floats], group: NDArray[np.str_], chance: Floats, subject: AuditContext,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:  # fmt: skip
        """Mean of each quantity in each group of token types."""
        for name in sorted(set(group.tolist()) - {""}):
            members = group == name
            # What random weights have to do with a score or a polarity is nothing: no null there.
            nulls = [{"random": chance[members] if each.startswith("weight") else None} for each in means]
            summaries = summarise([values[members] for values in means.values()], nulls, rng=rng)
            for statistic, summary in zip(means, summaries, strict=True):
                yield Finding(
                    audit="tokens",
                    statistic=statistic,
                    against="",
                    group=name,
                    **summary.numbers,
                    undefined={},
                    significant_fraction=None,
                    citation=self.citation,
                    **(no_evidence_reason(subject, statistic) or level_verdict(summary.judged)).fields,
                )

    def _separations(
        self,
        means: Mapping[str, Floats],
        group: NDArray[np.str_],
        subject: AuditContext,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """How well each quantity tells two groups apart."""
        neutral, polar = group == "neutral", (group != "neutral") & (group != "")
        pairs = [("polar vs neutral", polar, neutral, {"weight-absolute": np.abs(means["weight"])})]
        if subject.binary:
            positive, negative = group == "positive", group == "negative"
            pairs.insert(0, ("positive vs negative", positive, negative, dict(means)))
            if subject.signed:
                for name in ("weight-raw", "weight"):
                    # Of signs, that probability is the mean share of right signs in the two groups.
                    signs = np.sign(means[name])
                    yield self._told_apart(
                        "sign", name, pairs[0][0], signs[positive], signs[negative], subject, rng
                    )
        for name, first, second, quantities in pairs:
            for against, values in quantities.items():
                told = values[first], values[second]
                yield self._told_apart("separation", against, name, *told, subject, rng)

    def _told_apart(
        self,
        statistic: str,
        against: str,
        group: str,
        first: Floats,
        second: Floats,
        subject: AuditContext,
        rng: np.random.Generator,
    ) -> Finding:
        """The probability that a token of the first group has the larger value."""
        result = auc_interval(first, second, rng=rng)
        judged = result.interval if min(len(first), len(second)) >= FEW // 2 else None
        if (reason := no_evidence_reason(subject, against)) is not None:
            words = reason
        elif statistic == "sign":
            words = ONE_SIGNED if subject.one_sided else sign_verdict(judged)
        elif against in FAVOURS and subject.one_sided and subject.binary:
            words = favour_verdict(judged, FAVOURS[against])
        else:
            words = separation_verdict(judged)
        return Finding(
            audit="tokens",
            statistic=statistic,
            against=against,
            group=group,
            estimate=result.mean,
            std=None,
            interval=result.interval,
            null={"random": 0.5},
            n=len(first) + len(second),
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            **words.fields,
        )


AUDITS.register("tokens")(Tokens())


def no_evidence_reason(subject: AuditContext, quantity: str) -> Verdict | None:
    """Why the signs of a quantity say nothing; None: they do, or it has no gauge."""
    if quantity == "weight-raw":
        return RAW_SIGN
    gauged = quantity in ("score", "weight", "polarity", "weight-absolute")
    return subject.sign_no_evidence_reason(size=quantity == "weight-absolute") if gauged else None


def level_verdict(interval: Interval | None) -> Verdict:
    """On which side of zero a group stands."""
    if interval is None:
        return TOO_FEW_TOKENS
    if interval[0] > 0:
        return Verdict("above zero")
    return Verdict("below zero" if interval[1] < 0 else "not distinguishable from zero")


def separation_verdict(interval: Interval | None) -> Verdict:
    """Whether two groups are told apart, from the interval of the probability."""
    if interval is None:
        return TOO_FEW_TOKENS
    low, high = interval
    if low <= 0.5 <= high:
        return Verdict("does not separate them")
    return Verdict(f"{strength(low)} separates them" if low > 0.5 else "separates them the wrong way round")


def favour_verdict(interval: Interval | None, what: str) -> Verdict:
    """Weights of one sign, and their scores, cannot tell for from against, only favour one kind of word."""
    if interval is None:
        return TOO_FEW_TOKENS
    low, high = interval
    if low <= 0.5 <= high:
        return Verdict("does not separate them")
    return Verdict(f"gives {'positive' if low > 0.5 else 'negative'} words {what}")


def sign_verdict(interval: Interval | None) -> Verdict:
    """Whether weights have the sign of their words, from the interval of the share."""
    if interval is None:
        return TOO_FEW_TOKENS
    low, high = interval
    if low <= 0.5 <= high:
        return Verdict("signs are no better than chance")
    return Verdict(f"signs are {strength(low)} right" if low > 0.5 else "signs are the wrong way round")


def strength(low: float) -> str:
    return "clearly" if low >= 0.9 else "mostly" if low >= 0.7 else "slightly"
