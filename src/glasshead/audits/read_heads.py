"""Does the prediction depend on the heads whose attention is read?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.head_report import HALF, LITTLE, judge_attention_share, side_of, size_verdict
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.question import (
    ANY_SIZE,
    SHARE,
    SIZE_OF_CHANGE,
    TAU,
    Outcome,
    Question,
    change_note,
    change_size,
    changes,
    decisive,
    more_or_less,
    prediction_range,
    usable,
)
from glasshead.audits.judging.summary import StatSummary, null_column, nulls_of
from glasshead.audits.judging.table import Column, Table
from glasshead.results import (
    HARDLY_ANY,
    HEADS,
    NEGLIGIBLE,
    SMALL_CHANGE,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Finding,
    Holds,
    Verdict,
)

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

CITATION = "Michel, Levy and Neubig 2019; Clark et al. 2019, section 3.2"
OTHER_LAYERS, UNIFORM = "other layers", "uniform"
INFLATION = (
    "more attention than contributions account for",
    "less attention than contributions account for",
    "about the attention that contributions account for",
    "not distinguishable from what contributions account for",
)
ONE_QUERY_REASON = "one learned query reads the {tokens}, and the model needs it"
UNDEFINED = {
    "removal": "no {tokens}",
    "alone": "no {tokens}",
    "special": "no weight",
    "inflation": "no weight, or none that changes anything",
}
"""The statistics, and why a text has none."""


@dataclass(frozen=True)
class HeadColumn:
    """A number for each text [N], and its nulls."""

    values: AnyFloats
    nulls: Mapping[str, AnyFloats] = field(default_factory=dict)


def at_most_little(card: AuditCard, finding: Finding) -> Holds:
    """A difference of shares that is not above a fiftieth."""
    ends = decisive(finding)
    if ends is None or ends[0] <= LITTLE < ends[1]:
        return "undecided"
    return "no" if ends[0] > LITTLE else "yes"


def less_than_half(finding: Finding) -> bool:
    """Whether special tokens are not shown to get more than half of the attention."""
    return finding.interval is not None and finding.interval[0] <= HALF


class ReadHeads(Audit):
    """What the prediction loses without the selected heads, and what their special tokens get.

    ``removal`` is |Δŷ| with the weights of all these heads at zero, in all rows; its null the mean over the
    other layers of the model. ``alone`` is the share of these heads that change ŷ by a twentieth of its range
    or more when they alone are taken out. ``special`` is the share of Σ|a| on special tokens, next to uniform
    weights; ``inflation`` is that minus their share of the contributions Σ|a ∂z/∂a|, next to the same of
    uniform weights.
    """

    question = "does the prediction depend on the heads whose attention is shown?"
    citation = CITATION
    by_default = False
    title = "The heads whose attention is shown"
    about = (
        "Does the prediction depend on the heads whose attention is shown? The mean |Δŷ| when the weights of "
        "all these heads are zero, and the mean over the other layers; the share of them that change ŷ by "
        "a twentieth of its range or more when they alone are zero; and the share of attention on special "
        "tokens, by itself and minus their share of |a ∂z/∂a|."
    )
    place = 50
    words: ClassVar = {
        "removal": "change of ŷ without these heads",
        "alone": "share of these heads that matter by themselves",
        "special": "share of attention on special tokens",
        "inflation": "the same minus their share of |a ∂z/∂a|",
    }
    questions = (
        Question(
            "removal",
            title="Does the prediction depend on the heads whose attention is shown?",
            unit="mean |Δŷ|",
            within=change_size,
            no_null="no other layer to compare",
            claim="the prediction depends on the heads whose attention is shown",
            holds=changes,
            claim_at=(SMALL_CHANGE,),
            note=change_note,
            borders=(SIZE_OF_CHANGE, more_or_less(OTHER_LAYERS)),
        ),
        Question(
            "alone",
            unit="share of the heads",
            within=SHARE,
            counts=True,
            no_null="a count",
            no_number=ANY_SIZE,
        ),
        Question(
            "special",
            unit="share of the attention",
            within=SHARE,
            counts=True,
            borders=(at(-LITTLE, LITTLE, minus=UNIFORM, applies=less_than_half),),
        ),
        Question(
            "inflation",
            unit="difference of shares",
            within=TAU,
            low_is_good=True,
            borders=(at(-LITTLE, LITTLE),),
            claim="special tokens get only as much attention as their effect on the prediction warrants",
            holds=at_most_little,
            claim_at=(LITTLE,),
        ),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether the prediction depends on the selected heads."""
        finding, whole = usable(card, f"{HEADS}.removal.all"), prediction_range(card)
        if finding is None or whole is None:
            return None
        interval = decisive(finding)
        if interval is None:
            open_question = "how much the prediction depends on the heads whose attention is shown"
            return Outcome("", (open_question,), (finding,))
        if interval[1] < SMALL_CHANGE * whole:
            return Outcome("the answer hardly changes without the heads whose attention is shown")
        return Outcome()

    columns = (
        Column("heads.*", "float", "ŷ or a share", "an effect of the heads that are shown, or its null"),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        """Why no heads can be taken out."""
        if not view.explainer.reads_weights:
            return NO_WEIGHTS.format(view.method)
        return None if view.readout is None else view.nouns.fill(ONE_QUERY_REASON)

    def measure(self, view: ModelView) -> Measured:
        return Measured(dict(head_columns({**removal_columns(view), **special_columns(view)})))

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(HEADS)
        columns = {
            statistic: f"{HEADS}.{statistic}"
            for statistic in UNDEFINED
            if not np.isnan(table.get(f"{HEADS}.{statistic}", np.full(1, np.nan))).all()
        }
        findings = []
        for group in settings.groups:
            members = group.members
            summaries = self.summarise(
                [(statistic, "") for statistic in columns],
                [table[column][members] for column in columns.values()],
                [nulls_of(table, column, members) for column in columns.values()],
                rng=rng,
                level=group.level,
                settings=settings,
            )
            for (statistic, column), summary in zip(columns.items(), summaries, strict=True):
                missing = int(np.isnan(table[column][members]).sum())
                findings.append(
                    summary.finding(
                        HEADS,
                        statistic,
                        judge_head_effect(statistic, summary, settings.prediction_range),
                        group=group,
                        citation=self.citation,
                        undefined={settings.nouns.fill(UNDEFINED[statistic]): missing} if missing else {},
                    )
                )
        return AuditResult(findings)


AUDITS.register(HEADS)(ReadHeads())


def removal_columns(view: ModelView) -> dict[str, HeadColumn]:
    """Changes of ŷ without the selected heads: together, next to those of other layers, and each."""
    from glasshead.audits.measuring.read_heads_passes import changes_without_heads

    together, alone, elsewhere = changes_without_heads(view)
    whole_layer = view.explanation.site is not None and view.explanation.site.head is None
    least = SMALL_CHANGE * view.prediction_range
    share = np.where(np.isnan(alone), np.nan, alone >= least).mean(axis=1)
    nulls = {OTHER_LAYERS: elsewhere.mean(axis=1)} if elsewhere.shape[1] and whole_layer else {}
    columns = {"removal": HeadColumn(together, nulls)}
    return columns | ({"alone": HeadColumn(share)} if alone.shape[1] > 1 else {})


def special_columns(view: ModelView) -> dict[str, HeadColumn]:
    """Shares of special tokens, such as [CLS]; nothing where no text has any, or sentences are read."""
    special = view.token_mask & (np.asarray(view.explanation.encoded.words) < 0)
    if view.sentence_of_token is not None or not special.any():
        return {}
    attention = share_of(special, view.canonical)
    relevance = share_of(special, view.contributions)
    even = np.where(np.isnan(attention), np.nan, share_of(special, view.uniform))
    surplus = even - share_of(special, view.polarity)
    return {
        "special": HeadColumn(attention, {UNIFORM: even}),
        "inflation": HeadColumn(attention - relevance, {UNIFORM: surplus}),
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
            "undecided: all labels are equal, so there is no scale for changes", "undecided", "no range"
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
