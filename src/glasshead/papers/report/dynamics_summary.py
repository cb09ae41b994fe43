"""A history in numbers and words, for the terminal and the page alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from glasshead.papers.report.interval_format import (
    MAX_DECIMALS,
    finding_decimals,
    format_change,
    format_interval,
    format_number,
)
from glasshead.papers.report.term_labels import cause_of, prime_note, single_row_note
from glasshead.papers.results import (
    MIN_TOKENS_PER_GROUP,
    NOT_EXPLAINED,
    QUANTITIES,
    Columns,
    History,
    dominant_term,
    versus,
    why_not_exact,
)
from glasshead.report import DASH, number, share
from glasshead.results import MIN_OCCURRENCES, NEUTRAL_GAMMA, TYPICAL_GAMMA, Finding
from glasshead.wording import capitalise


@dataclass(frozen=True)
class DynamicsSummary:
    """A history with its title, its findings, the tokens to follow, and remarks."""

    title: str
    history: History
    findings: Sequence[Finding]
    tokens: tuple[str, ...] = ()
    step: int | None = None
    remarks: Sequence[str] = field(default_factory=list)

    @property
    def recorded(self) -> bool:
        """Whether the history has more than the trained model."""
        return len(self.history.steps) > 1

    @property
    def at(self) -> int:
        """The step of the numbers: that of the snapshot nearest to the chosen step, or else the last."""
        return self.history.nearest(self.step)

    @property
    def now(self) -> str:
        """The source of the numbers, in a word or two."""
        if not self.recorded:
            return "trained"
        return "end" if self.at == self.history.steps[-1] else f"step {self.at:,}"

    def curve(self, quantity: str, group: str = "") -> Columns:
        """A curve from the start to the step of the numbers."""
        rows = self.history.curve(quantity, group)
        return {name: column[rows["step"] <= self.at] for name, column in rows.items()}

    def finding(self, statistic: str, against: str, group: str) -> Finding | None:
        """One finding."""
        key = statistic, against, group
        return next((f for f in self.findings if (f.statistic, f.against, f.group) == key), None)


PAPER_NAMES = {("context", "lstm"): "DP-L, scaled dot-product attention over an LSTM"}
"""What models without a form are called in the papers, by score and encoder."""


def model_title(history: History) -> str:
    """What a model is called; one without a name by its score and its encoder."""
    facts = history.facts
    if facts["form"] is not None:
        return f"{facts['form']}, {facts['title']}"
    encoder = facts.get("encoder", "none")
    over = "" if encoder == "none" else f" over the encoder {encoder}"
    return PAPER_NAMES.get((facts.get("score", ""), encoder), f"{facts['title']}{over}")


def intro_sentence(summary: DynamicsSummary) -> str:
    """What was trained, and how many snapshots there are."""
    facts = summary.history.facts
    parts = [model_title(summary.history)]
    if facts.get("activation"):
        parts.append(facts["activation"])
    if facts.get("scale") is not None:
        parts.append(f"λ = {facts['scale']:g}")
    parts.append(facts["optimizer"])
    if facts.get("learning_rate") is not None:
        parts.append(f"learning rate {facts['learning_rate']:g}")
    if summary.recorded:
        steps = summary.history.steps
        parts.append(f"{len(steps)} snapshots in {steps[-1]:,} steps")
        if facts.get("best_step") and facts["best_step"] != steps[-1]:
            parts.append(f"the model of step {facts['best_step']:,} was kept")
    else:
        parts.append("one snapshot, after training")
    return ", ".join(parts) + "."


@dataclass(frozen=True)
class GroupChange:
    """One quantity of one group: at the start (empty if not recorded), now, and the interval and verdict of
    its change; without a start the interval is that of what stands now."""

    group: str
    tokens: str
    quantity: str
    start: str
    now: str
    interval: str
    verdict: str
    reason: str


def group_changes(summary: DynamicsSummary) -> list[GroupChange]:
    """Where the tokens of every group began and where they stand."""
    changes = []
    for group in summary.history.groups:
        for quantity in QUANTITIES:
            now, moved = summary.finding("level", quantity, group), summary.finding("change", quantity, group)
            if now is None or now.estimate is None:
                continue
            basis = now if moved is None else moved
            start = None if moved is None or moved.estimate is None else now.estimate - moved.estimate
            ends = [now.estimate] if start is None else [start, now.estimate]
            decimals = finding_decimals(basis, *ends)
            numbers_ = (
                "" if start is None else format_number(start, decimals),
                format_number(now.estimate, decimals),
                format_interval(basis.interval, finding_decimals(basis), plus=moved is not None),
            )
            judged = ("", "") if moved is None else (moved.verdict, moved.reason)
            changes.append(GroupChange(group, f"{now.n:,}", quantity, *numbers_, *judged))
    return changes


def change_remarks(summary: DynamicsSummary) -> list[str]:
    """What may surprise in the table of groups or layers: a sentence each."""
    facts = summary.history.facts
    if facts["kind"] == "layers":
        return [one] if (one := single_row_note(summary.history)) else []
    remarks = [letters] if (letters := prime_note(summary.history)) else []
    for group in summary.history.groups:
        of = {name: summary.finding("level", name, group) for name in ("score", "weight")}
        moved = {name: summary.finding("change", name, group) for name in ("score", "weight")}
        n = {name: f.n for name, f in of.items() if f is not None}
        total = facts["groups"][group]
        parts = []
        if n and n["score"] < total:
            parts.append(f"the {n['score']:,} most frequent are followed one by one")
        if n and n["weight"] < n["score"]:
            parts.append(f"{n['weight']:,} stand in the {facts['probe']:,} texts that weights are taken from")
        if parts:
            remarks.append(f"Of {total:,} {group} tokens {', and '.join(parts)}.")
        ways = {f.verdict for f in moved.values() if f is not None}
        if ways == {"risen", "fallen"} and facts.get("activation") == "softmax":
            remarks.append(
                f"Scores and weights of {group} tokens moved in opposite directions: a weight depends on "
                "the scores of the other tokens of its text."
            )
    return remarks


FULL_NAMES = {"agreement": "agreement with gradients", "residual": "distance from rank one"}
"""What a quantity of layers is called in full."""


def layer_changes(summary: DynamicsSummary) -> list[GroupChange]:
    """Start and now of what is recorded layer by layer; the standard deviation stands for an interval."""
    changes = []
    for quantity in summary.history.quantities():
        rows = summary.history.curves["quantity"] == quantity
        for group in dict.fromkeys(summary.history.curves["group"][rows].tolist()):
            curve = summary.curve(quantity, group)
            start, now = (format_number(curve["mean"][at]) for at in (0, -1))
            spread = f"± {format_number(curve['std'][-1])}"
            n, words = f"{curve['n'][-1]:,}", FULL_NAMES.get(quantity, quantity)
            start = start if summary.recorded else ""
            changes.append(GroupChange(group or "all", n, words, start, now, spread, "", ""))
    return changes


@dataclass(frozen=True)
class TermShare:
    """What one term has added to the score of a group's mean token; ``share`` is that of all sizes."""

    group: str
    term: str
    words: str
    added: str
    interval: str
    share: str
    verdict: str
    status: str
    reason: str


def rank_terms(summary: DynamicsSummary, quantity: str) -> list[TermShare]:
    """The terms by group, the largest first and the unexplained rest last."""
    shares = []
    for group in summary.history.groups:
        added = [f for f in summary.findings if f.statistic == f"added to {quantity}" and f.group == group]
        total = sum(abs(f.estimate or 0.0) for f in added)
        rest = [f for f in added if f.against == NOT_EXPLAINED]
        terms = sorted(
            (f for f in added if f.against != NOT_EXPLAINED), key=lambda f: -abs(f.estimate or 0.0)
        )
        for f in [*terms, *rest]:
            words = "" if f.against == NOT_EXPLAINED else cause_of(f.against).words
            size = share(abs(f.estimate or 0.0) / total) if total else share(None)
            decimals = finding_decimals(f)
            numbers = (
                format_number(f.estimate, decimals, plus=True),
                format_interval(f.interval, decimals, plus=True),
            )
            shares.append(TermShare(group, f.against, words, *numbers, size, f.verdict, f.status, f.reason))
    return shares


def largest_term_sentence(part: TermShare) -> str:
    """The verdict on a group, which stands on its largest part, as half a sentence."""
    if part.reason == "none leads":
        return "no part leads: these tokens do not show which is the largest"
    if part.status == "undecided":
        return f"{part.verdict} to say which part is the largest"
    return f"{part.term} is {part.verdict}"


def interval_note(summary: DynamicsSummary) -> str:
    """Why the parts of a change have no intervals, in a sentence; nothing where they have some."""
    if (
        not summary.recorded
        or not rank_terms(summary, "score")
        or np.count_nonzero(summary.history.steps <= summary.at) > 2
    ):
        return ""
    return "No intervals: with fewer than three snapshots the error of the sums is unknown."


def missing_parts(summary: DynamicsSummary) -> list[str]:
    """What is missing, and why, in a sentence each."""
    facts = summary.history.facts
    if facts["kind"] == "layers":
        return [f"No terms: {facts['why_no_form']}."]
    if not facts["terms"]:
        return [f"No terms of the flow: {facts['why_no_form']}."]
    if not facts["exact"]:
        return [f"No ledger: {why_not_exact(summary.history)}."]
    return []


def vector_numbers(summary: DynamicsSummary) -> list[tuple[str, str]]:
    """VᵀW and the norms, from the start to the step of the numbers."""
    numbers = []
    for name in summary.history.quantities():
        if "ᵀ" not in name and "‖" not in name:
            continue
        for group in ("", *summary.history.facts.get("labels", [])):
            mean = summary.curve(name, group)["mean"]
            if len(mean):
                words = f"{name} {group}".strip()
                numbers.append((words, start_to_end(mean, summary.recorded, VECTOR_DECIMALS)))
    return numbers


VECTOR_DECIMALS = 4
"""Decimals of a norm or a dot product, at most."""


def start_to_end(values: np.ndarray, recorded: bool, most: int = MAX_DECIMALS) -> str:
    """First and last number, or the only one."""
    return format_change(values[0], values[-1], most) if recorded else number(values[-1])


def group_verdicts(summary: DynamicsSummary) -> list[str]:
    """Sentences with their numbers and intervals; groups of few tokens get none, which is said once."""
    names = {versus(*pair): pair for pair in permutations(summary.history.groups, 2)}
    sentences = [
        f"{capitalise(gap_sentence(f, *names[f.group]))}: {estimate_and_interval(f)}."
        for f in summary.findings
        if f.statistic == "gap" and f.reason != "too few"
    ]
    sizes = {group: summary.finding("level", "score", group) for group in summary.history.groups}
    few = [f"{group} ({f.n})" for group, f in sizes.items() if f is not None and f.n < MIN_TOKENS_PER_GROUP]
    if few:
        sentences.append(f"No verdict for fewer than {MIN_TOKENS_PER_GROUP} tokens: {', '.join(few)}.")
    return sentences


def estimate_and_interval(finding: Finding) -> str:
    """``+0.041 [+0.012, +0.070]``."""
    decimals = finding_decimals(finding)
    estimate = format_number(finding.estimate, decimals, plus=True)
    return f"{estimate} {format_interval(finding.interval, decimals, plus=True)}"


def gap_sentence(finding: Finding, first: str, second: str) -> str:
    """A verdict on two groups that names them."""
    if finding.reason != "no sign":
        return finding.verdict
    higher = "larger" if finding.against == "|score|" else "higher"
    return f"undecided whether {first} or {second} tokens have the {higher} attention scores"


@dataclass(frozen=True)
class TokenLine:
    """One token in numbers."""

    token: str
    group: str
    count: str
    polarity: str
    score: str
    weight: str
    cause: str


def token_lines(summary: DynamicsSummary) -> list[TokenLine]:
    """The chosen tokens: start → the chosen step, and what has moved the score most."""
    lines = []
    for token in summary.tokens:
        rows = summary.history.token(token)
        until = rows["step"] <= summary.at
        polarity, score, weight = (start_to_end(rows[name][until], summary.recorded) for name in QUANTITIES)
        group, count = str(rows["group"][0]) or DASH, f"{rows['count'][0]:,}"
        lines.append(
            TokenLine(token, group, count, polarity, score, weight, dominant_term_words(summary, token))
        )
    return lines


def note_ungrouped(summary: DynamicsSummary) -> str:
    """What the dash of a chosen token in no group means, in a sentence; nothing where all are in one."""
    if all(summary.history.token(token)["group"][0] for token in summary.tokens):
        return ""
    if summary.history.facts["grouped_by"] == "truth":
        return f"{DASH}: in no group, because it was not planted."
    return (
        f"{DASH}: in no group. Tokens of a class stand in its texts more than {MIN_OCCURRENCES} times, and "
        f"more than {(1 + TYPICAL_GAMMA) / (1 - TYPICAL_GAMMA):g} times as often as in all others "
        f"(γ > {TYPICAL_GAMMA}); neutral ones about as often in all (|γ| < {NEUTRAL_GAMMA}, and fewer than "
        f"{MIN_OCCURRENCES} times more in one than in another)."
    )


def dominant_term_words(summary: DynamicsSummary, token: str) -> str:
    """What has moved a token's score most, with what it has added; a dash without a ledger."""
    term = dominant_term(summary.history, token, summary.at)
    if term is None:
        return DASH
    if term.undecided:
        return term.undecided
    words = "" if term.name == NOT_EXPLAINED else f" ({cause_of(term.name).words})"
    return f"{term.name} {number(term.added, plus=True)}{words}{term.residual}"
