"""Does the prediction rest on the heads whose attention is read?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.base import AUDITS, NO_WEIGHTS, Audit, AuditResult
from glasshead.audits.context import AuditContext
from glasshead.audits.head_report import ablate_heads, judge_attention_share, side_of, size_verdict
from glasshead.audits.summary import StatSummary, null_column, summarise, with_exact_intervals
from glasshead.explainers import ForwardObservation
from glasshead.results import HARDLY_ANY, HEADS, NEGLIGIBLE, SMALL_CHANGE, TOO_FEW_EXAMPLES, Verdict
from glasshead.trace import AttentionSite, list_attention_calls

CITATION = "Michel, Levy and Neubig 2019; Clark et al. 2019, section 3.2"
OTHER_LAYERS, UNIFORM = "other layers", "uniform"
INFLATION = (
    "more attention than contributions account for",
    "less attention than contributions account for",
    "about the attention that contributions account for",
    "not distinguishable from what contributions account for",
)
ONE_QUERY_REASON = "one learned query reads the {tokens}, and nothing is left without it"
HEAD_SHARES = ("alone", "special")
"""Statistics that are shares."""


@dataclass(frozen=True)
class HeadColumn:
    """A number for each text [N], its nulls, and the reason why texts have none."""

    values: AnyFloats
    nulls: Mapping[str, AnyFloats] = field(default_factory=dict)
    undefined: str = ""


class ReadHeads(Audit):
    """What the prediction loses without the heads that are read, and what their special tokens get.

    ``removal`` is |Δŷ| with the weights of all these heads at zero, in all rows; its null the mean over the
    other layers of the model. ``alone`` is the share of these heads that change ŷ by a twentieth of its range
    or more when they alone are taken out. ``special`` is the share of Σ|a| on special tokens, beside uniform
    weights; ``inflation`` is that minus their share of the contributions Σ|a ∂z/∂a|, beside the same of
    uniform weights.
    """

    question = "does the prediction rest on the heads that are read?"
    citation = CITATION
    by_default = False

    def unsupported_reason(self, context: AuditContext) -> str | None:
        """Why no heads can be taken out."""
        if not context.explainer.reads_weights:
            return NO_WEIGHTS.format(context.method)
        return (
            None
            if isinstance(context.explanation.observation, ForwardObservation)
            else context.nouns.fill(ONE_QUERY_REASON)
        )

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 18])
        columns = {**removal_columns(context), **special_columns(context)}
        findings = []
        for group in context.groups:
            members = group.members
            summaries = summarise(
                [column.values[members] for column in columns.values()],
                [{name: null[members] for name, null in column.nulls.items()} for column in columns.values()],
                rng=rng,
                level=group.level,
            )
            for (statistic, column), summary in zip(columns.items(), summaries, strict=True):
                missing = int(np.isnan(column.values[members]).sum())
                if statistic in HEAD_SHARES:
                    summary = with_exact_intervals(summary, column.values[members], {}, group.level)
                findings.append(
                    summary.finding(
                        HEADS,
                        statistic,
                        judge_head_effect(statistic, summary, context.prediction_range),
                        group=group,
                        citation=self.citation,
                        undefined={column.undefined: missing} if missing else {},
                    )
                )
        return AuditResult(findings, dict(head_columns(columns)))


AUDITS.register(HEADS)(ReadHeads())


def removal_columns(context: AuditContext) -> dict[str, HeadColumn]:
    """Changes of ŷ without the heads that are read: together, beside those of other layers, and each."""
    explanation, site = context.explanation, context.explanation.site
    assert site is not None
    model, encoded = explanation.model, explanation.encoded
    calls = list_attention_calls(model, encoded.inputs(slice(0, 1), model.device))
    others = [(number, call.heads) for number, call in enumerate(calls) if number != site.layer]
    read = heads_read(site)
    removals = [(site.layer, read), *((site.layer, (head,)) for head in read), *others]
    texts = len(encoded.ids)
    changes = np.abs(
        ablate_heads(
            explanation, explanation.target, removals,
            lambda done, total: explanation.progress(done * texts // total, texts),
        )
    )  # fmt: skip
    changes[~context.token_mask.any(axis=1)] = np.nan
    together, alone, elsewhere = np.split(changes, [1, 1 + len(read)], axis=1)
    least = SMALL_CHANGE * context.prediction_range
    share = np.where(np.isnan(alone), np.nan, alone >= least).mean(axis=1)
    nulls = {OTHER_LAYERS: elsewhere.mean(axis=1)} if others and site.head is None else {}
    none = f"no {context.nouns.tokens}"
    columns = {"removal": HeadColumn(together[:, 0], nulls, none)}
    return columns | ({"alone": HeadColumn(share, undefined=none)} if len(read) > 1 else {})


def heads_read(site: AttentionSite) -> tuple[int, ...]:
    """The numbers of the heads of a layer that are read."""
    return tuple(range(site.num_heads)) if site.head is None else (site.head,)


def special_columns(context: AuditContext) -> dict[str, HeadColumn]:
    """Shares of special tokens, such as [CLS]; nothing where no text has any, or sentences are read."""
    special = context.token_mask & (np.asarray(context.explanation.encoded.words) < 0)
    if context.sentence_of_token is not None or not special.any():
        return {}
    attention = share_of(special, context.canonical)
    relevance = share_of(special, context.contributions)
    even = np.where(np.isnan(attention), np.nan, share_of(special, context.uniform))
    surplus = even - share_of(special, context.polarity)
    return {
        "special": HeadColumn(attention, {UNIFORM: even}, "no weight"),
        "inflation": HeadColumn(
            attention - relevance, {UNIFORM: surplus}, "no weight, or one that changes nothing"
        ),
    }


def share_of(special: NDArray[np.bool_], values: AnyFloats) -> AnyFloats:
    """The part of Σ|values| [N, n] that is on special tokens; NaN where all are 0."""
    sizes = np.abs(values)
    total = sizes.sum(axis=1)
    shares = (sizes * special).sum(axis=1) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, shares, np.nan)


def head_columns(columns: Mapping[str, HeadColumn]) -> Iterator[tuple[str, AnyFloats]]:
    """Every column and its nulls, by their names among the examples."""
    for statistic, column in columns.items():
        name = f"{HEADS}.{statistic}"
        yield name, column.values
        for null, values in column.nulls.items():
            yield null_column(name, null), values


def judge_head_effect(statistic: str, summary: StatSummary, unit: float) -> Verdict:
    """Judge intervals alone; ``unit`` is a change from one end of the predictions to the other."""
    interval = summary.reliable_interval
    if interval is None:
        return TOO_FEW_EXAMPLES
    if statistic == "special":
        return judge_attention_share(summary)
    if statistic == "inflation":
        return Verdict(INFLATION[side_of(interval)])
    if statistic == "alone":
        return alone_verdict(*interval)
    if unit == 0:
        return Verdict(
            "undecided: all labels are equal, so no change is large or small", "undecided", "no range"
        )
    words = size_verdict(interval[0] / unit, interval[1] / unit)
    words = words._replace(words=words.words.replace("without it", "without these heads"))
    over = summary.reliable_differences.get(OTHER_LAYERS)
    if over is None or words.status != "evidence":
        return words
    if max(-over[0], over[1]) < NEGLIGIBLE * unit:
        return Verdict(f"{words.words}, about as much as without another layer")
    if over[0] <= 0 <= over[1]:
        return Verdict(f"{words.words}; not settled whether more or less than without another layer")
    return Verdict(f"{words.words}, {'more' if over[0] > 0 else 'less'} than without another layer")


def alone_verdict(low: float, high: float) -> Verdict:
    """Judge the share of heads that matter by themselves."""
    if high <= HARDLY_ANY:
        return Verdict("no head matters by itself")
    return Verdict(f"{low:.0%} to {high:.0%} of these heads matter by themselves")
