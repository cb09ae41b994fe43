"""What is said of a history in numbers and words, for the terminal and the page alike."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from glasshead.errors import InputError
from glasshead.histories import (
    FEW,
    MUCH_LEFT,
    NO_DIFFERENCE,
    NOT_EXPLAINED,
    QUANTITIES,
    TOO_FEW,
    Columns,
    History,
    much_left,
    versus,
)
from glasshead.report.dynamics.causes import cause_of
from glasshead.report.dynamics.ledger import ledger
from glasshead.report.dynamics.tokens import nearest_step
from glasshead.report.formats import DASH, interval, number, share
from glasshead.results import Finding

MOST_DIGITS = 6


@dataclass(frozen=True)
class Told:
    """A history with what it is called, its findings, the tokens that were asked for, and remarks."""

    title: str
    history: History
    findings: Sequence[Finding]
    tokens: tuple[str, ...] = ()
    step: int | None = None
    remarks: Sequence[str] = field(default_factory=list)

    @property
    def watched(self) -> bool:
        """Whether there is more than the trained model to be told of."""
        return len(self.history.steps) > 1

    @property
    def at(self) -> int:
        """The step of the numbers: that of the look nearest to the chosen one, else the last."""
        return nearest_step(self.history, self.step)

    @property
    def now(self) -> str:
        """What the numbers are of, in a word or two."""
        if not self.watched:
            return "trained"
        return "end" if self.at == self.history.steps[-1] else f"step {self.at:,}"

    def curve(self, quantity: str, group: str = "") -> Columns:
        """A curve from the start to the step of the numbers."""
        found = self.history.curve(quantity, group)
        return {name: column[found["step"] <= self.at] for name, column in found.items()}

    def of(self, statistic: str, against: str, group: str) -> Finding | None:
        """One finding."""
        wanted = statistic, against, group
        return next((f for f in self.findings if (f.statistic, f.against, f.group) == wanted), None)


def lead(told: Told) -> str:
    """What was trained and how often it was looked at."""
    facts = told.history.facts
    what = facts["title"] if facts["form"] is None else f"{facts['form']}, {facts['title']}"
    parts = [what]
    if facts.get("activation"):
        parts.append(facts["activation"])
    if facts.get("scale") is not None:
        parts.append(f"λ = {facts['scale']:g}")
    parts.append(facts["optimizer"])
    if facts.get("learning_rate") is not None:
        parts.append(f"learning rate {facts['learning_rate']:g}")
    if told.watched:
        steps = told.history.steps
        parts.append(f"{len(steps)} looks at {steps[-1]:,} steps")
        if facts.get("best_step") and facts["best_step"] != steps[-1]:
            parts.append(f"the model of step {facts['best_step']:,} was kept")
    else:
        parts.append("looked at once, after training")
    return ", ".join(parts) + "."


@dataclass(frozen=True)
class Level:
    """One quantity of one group: at the start (empty if nobody looked), now, and the interval and verdict of
    its change; without a start the interval is that of what stands now."""

    group: str
    tokens: str
    quantity: str
    start: str
    now: str
    interval: str
    verdict: str


def levels(told: Told) -> list[Level]:
    """Where the tokens of every group began and where they stand."""
    found = []
    for group in told.history.groups:
        for quantity in QUANTITIES:
            now, moved = told.of("level", quantity, group), told.of("change", quantity, group)
            if now is None or now.estimate is None:
                continue
            places = digits(now)
            start = (
                ""
                if moved is None or moved.estimate is None
                else number(now.estimate - moved.estimate, places)
            )
            bounds, verdict = interval(now.interval, places), ""
            if moved is not None:
                bounds, verdict = interval(moved.interval, digits(moved), plus=True), moved.verdict
            numbers_ = start, number(now.estimate, places), bounds
            found.append(Level(group, f"{now.n:,}", quantity, *numbers_, verdict))
    return found


def rounded(value: float, places: int) -> str:
    """A number that may round to zero, where the interval beside it says that it is no different."""
    return number(value if places == MOST_DIGITS else round(value, places), places)


def digits(finding: Finding) -> int:
    """Decimals with which an interval has two digits of its width."""
    if finding.interval is None or finding.interval[1] <= finding.interval[0]:
        return 3
    return min(max(1 - math.floor(math.log10(finding.interval[1] - finding.interval[0])), 0), MOST_DIGITS)


def layer_levels(told: Told) -> list[Level]:
    """Start and now of what is recorded layer by layer; the standard deviation stands for an interval."""
    found = []
    for quantity in told.history.quantities():
        chosen = told.history.curves["quantity"] == quantity
        for group in dict.fromkeys(told.history.curves["group"][chosen].tolist()):
            curve = told.curve(quantity, group)
            start, now = (number(curve["mean"][at]) for at in (0, -1))
            spread = f"± {number(curve['std'][-1])}"
            n = f"{curve['n'][-1]:,}"
            found.append(Level(group or "all", n, quantity, start if told.watched else "", now, spread, ""))
    return found


@dataclass(frozen=True)
class Part:
    """What one term has added to the score of a group's mean token; ``share`` is that of all sizes."""

    group: str
    term: str
    words: str
    added: str
    interval: str
    share: str
    verdict: str


def parts(told: Told, quantity: str) -> list[Part]:
    """The terms by group, the largest first and the unexplained rest last."""
    found = []
    for group in told.history.groups:
        here = [f for f in told.findings if f.statistic == f"added to {quantity}" and f.group == group]
        total = sum(abs(f.estimate or 0.0) for f in here)
        rest = [f for f in here if f.against == NOT_EXPLAINED]
        terms = sorted((f for f in here if f.against != NOT_EXPLAINED), key=lambda f: -abs(f.estimate or 0.0))
        for f in [*terms, *rest]:
            words = "" if f.against == NOT_EXPLAINED else cause_of(f.against).words
            size = share(abs(f.estimate or 0.0) / total) if total else share(None)
            found.append(
                Part(
                    group, f.against, words, number(f.estimate, digits(f), plus=True),
                    interval(f.interval, digits(f), plus=True), size, f.verdict,
                )
            )  # fmt: skip
    return found


def lacking(told: Told) -> list[str]:
    """What is missing, and why, in a sentence each."""
    facts = told.history.facts
    if facts["kind"] == "layers":
        return [f"No terms: {facts['why_no_form']}."]
    if not facts["terms"]:
        return [f"No terms of the flow: {facts['why_no_form']}."]
    if not facts["exact"]:
        return [f"No ledger: {facts['why_not_exact']}."]
    return []


def numbers(told: Told) -> list[tuple[str, str]]:
    """VᵀW and the norms, from the start to the step of the numbers."""
    found = []
    for name in told.history.quantities():
        if "ᵀ" not in name and "‖" not in name:
            continue
        for group in ("", *told.history.facts.get("labels", [])):
            mean = told.curve(name, group)["mean"]
            if len(mean):
                words = f"{name} {group}".strip()
                found.append((words, span(mean, told.watched)))
    return found


def span(values: np.ndarray, watched: bool) -> str:
    """First and last number, or the only one."""
    return f"{number(values[0])} → {number(values[-1])}" if watched else number(values[-1])


def verdicts(told: Told) -> list[str]:
    """Sentences with their numbers and intervals; groups of few tokens get none, which is said once."""
    names = {versus(*pair): pair for pair in permutations(told.history.groups, 2)}
    said = [
        f"{capital(sentence_of(f, *names[f.group]))}: {number(f.estimate, digits(f), plus=True)} "
        f"{interval(f.interval, digits(f), plus=True)}."
        for f in told.findings
        if f.statistic == "gap" and f.verdict != TOO_FEW
    ]
    sizes = {group: told.of("level", "score", group) for group in told.history.groups}
    few = [f"{group} ({f.n})" for group, f in sizes.items() if f is not None and f.n < FEW]
    return [*said, f"No verdict of fewer than {FEW} tokens: {', '.join(few)}."] if few else said


def sentence_of(finding: Finding, first: str, second: str) -> str:
    """A verdict on two groups that names them."""
    if finding.verdict != NO_DIFFERENCE:
        return finding.verdict
    return f"{first} and {second} tokens show no difference in attention score"


def capital(sentence: str) -> str:
    """The sentence with a capital letter first, and names as they are written."""
    return sentence[:1].upper() + sentence[1:]


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


def token_lines(told: Told) -> list[TokenLine]:
    """The chosen tokens: start → the chosen step, and what has moved the score most."""
    found = []
    for token in told.tokens:
        rows = told.history.token(token)
        here = rows["step"] <= told.at
        polarity, score, weight = (span(rows[name][here], told.watched) for name in QUANTITIES)
        group, count = str(rows["group"][0]) or DASH, f"{rows['count'][0]:,}"
        found.append(TokenLine(token, group, count, polarity, score, weight, moved_by(told, token)))
    return found


def moved_by(told: Told, token: str) -> str:
    """The term that has moved a token's score most, with what it has added; a dash without a ledger.

    It is one that has the sign of the change: what pulled the other way is no cause of it. Where no such term
    is as large as what is left unexplained, that is said instead, and where more than half as much as the
    term is left, that too.
    """
    rows = told.history.token(token)
    try:
        found = ledger(told.history, "score", rows)
    except InputError:
        return DASH
    here = int(np.flatnonzero(rows["step"] <= told.at)[-1])
    change, rest = float(found.measured[here]), float(found.rest[here])
    if change == 0:
        return DASH
    along = {name: float(values[here]) for name, values in found.added.items()}
    along = {name: value for name, value in along.items() if value * change > 0}
    name = max(along, key=lambda each: abs(along[each]), default=NOT_EXPLAINED)
    if name == NOT_EXPLAINED or abs(rest) > abs(along[name]):
        return f"{NOT_EXPLAINED} {number(rest, plus=True)}"
    said = f"{name} {number(along[name], plus=True)} ({cause_of(name).words})"
    return said + (MUCH_LEFT if much_left(along[name], rest) else "")
