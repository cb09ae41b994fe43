"""What is said of a history in numbers and words, for the terminal and the page alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from glasshead.errors import InputError
from glasshead.report.dynamics.curves import one_row, primes
from glasshead.report.dynamics.ledger import ledger
from glasshead.report.dynamics.precision import MOST, bounds, digits, fixed, span
from glasshead.report.dynamics.term_labels import cause_of, why_not_exact
from glasshead.report.number_format import DASH, number, share
from glasshead.results import (
    FEW,
    NEUTRAL_GAMMA,
    NOT_EXPLAINED,
    OFTEN,
    QUANTITIES,
    TYPICAL_GAMMA,
    Columns,
    Finding,
    History,
    integration_error,
    rate,
    residual_note,
    undecided_reason,
    versus,
)


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
        return self.history.nearest(self.step)

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


KNOWN_AS = {("context", "lstm"): "DP-L, scaled dot-product attention over an LSTM"}
"""What models without a form are called in the papers, by score and encoder."""


def model_of(history: History) -> str:
    """What a model is called; one without a name by its score and its encoder."""
    facts = history.facts
    if facts["form"] is not None:
        return f"{facts['form']}, {facts['title']}"
    encoder = facts.get("encoder", "none")
    over = "" if encoder == "none" else f" over the encoder {encoder}"
    return KNOWN_AS.get((facts.get("score", ""), encoder), f"{facts['title']}{over}")


def lead(told: Told) -> str:
    """What was trained and how often it was looked at."""
    facts = told.history.facts
    parts = [model_of(told.history)]
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
    reason: str


def levels(told: Told) -> list[Level]:
    """Where the tokens of every group began and where they stand."""
    found = []
    for group in told.history.groups:
        for quantity in QUANTITIES:
            now, moved = told.of("level", quantity, group), told.of("change", quantity, group)
            if now is None or now.estimate is None:
                continue
            told_of = now if moved is None else moved
            start = None if moved is None or moved.estimate is None else now.estimate - moved.estimate
            ends = [now.estimate] if start is None else [start, now.estimate]
            beside = digits(told_of, *ends)
            numbers_ = (
                "" if start is None else fixed(start, beside),
                fixed(now.estimate, beside),
                bounds(told_of.interval, digits(told_of), plus=moved is not None),
            )
            judged = ("", "") if moved is None else (moved.verdict, moved.reason)
            found.append(Level(group, f"{now.n:,}", quantity, *numbers_, *judged))
    return found


def remarks_on_levels(told: Told) -> list[str]:
    """What may surprise in the table of groups or layers: a sentence each."""
    facts = told.history.facts
    if facts["kind"] == "layers":
        return [one] if (one := one_row(told.history)) else []
    found = [letters] if (letters := primes(told.history)) else []
    for group in told.history.groups:
        of = {name: told.of("level", name, group) for name in ("score", "weight")}
        moved = {name: told.of("change", name, group) for name in ("score", "weight")}
        n = {name: f.n for name, f in of.items() if f is not None}
        whole = facts["groups"][group]
        said = []
        if n and n["score"] < whole:
            said.append(f"the {n['score']:,} most frequent are followed one by one")
        if n and n["weight"] < n["score"]:
            said.append(f"{n['weight']:,} stand in the {facts['probe']:,} texts that weights are taken from")
        if said:
            found.append(f"Of {whole:,} {group} tokens {', and '.join(said)}.")
        ways = {f.verdict for f in moved.values() if f is not None}
        if ways == {"risen", "fallen"} and facts.get("activation") == "softmax":
            found.append(
                f"Scores and weights of {group} tokens went opposite ways: a weight is relative to the "
                "scores of the other tokens of its text."
            )
    return found


WITH = {"agreement": "agreement with gradients", "residual": "distance from rank one"}
"""What a quantity of layers is called in full."""


def layer_levels(told: Told) -> list[Level]:
    """Start and now of what is recorded layer by layer; the standard deviation stands for an interval."""
    found = []
    for quantity in told.history.quantities():
        chosen = told.history.curves["quantity"] == quantity
        for group in dict.fromkeys(told.history.curves["group"][chosen].tolist()):
            curve = told.curve(quantity, group)
            start, now = (fixed(curve["mean"][at]) for at in (0, -1))
            spread = f"± {fixed(curve['std'][-1])}"
            n, words = f"{curve['n'][-1]:,}", WITH.get(quantity, quantity)
            found.append(Level(group or "all", n, words, start if told.watched else "", now, spread, "", ""))
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
    status: str
    reason: str


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
                    group, f.against, words, fixed(f.estimate, digits(f), plus=True),
                    bounds(f.interval, digits(f), plus=True), size, f.verdict, f.status, f.reason,
                )
            )  # fmt: skip
    return found


def largest(part: Part) -> str:
    """The verdict on a group, which stands on its largest part, as half a sentence."""
    if part.reason == "none leads":
        return "no part leads: these tokens do not tell which is the largest"
    if part.status == "undecided":
        return f"{part.verdict} to tell which part is the largest"
    return f"{part.term} is {part.verdict}"


def no_intervals(told: Told) -> str:
    """Why the parts of a change have no intervals, in a sentence; nothing where they have some."""
    if not told.watched or not parts(told, "score") or np.count_nonzero(told.history.steps <= told.at) > 2:
        return ""
    return "No intervals: fewer than three looks do not tell how far the sums of the terms may be wrong."


def lacking(told: Told) -> list[str]:
    """What is missing, and why, in a sentence each."""
    facts = told.history.facts
    if facts["kind"] == "layers":
        return [f"No terms: {facts['why_no_form']}."]
    if not facts["terms"]:
        return [f"No terms of the flow: {facts['why_no_form']}."]
    if not facts["exact"]:
        return [f"No ledger: {why_not_exact(told.history)}."]
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
                found.append((words, way(mean, told.watched, ROOM)))
    return found


ROOM = 4
"""Decimals of a norm or a dot product, at most."""


def way(values: np.ndarray, watched: bool, most: int = MOST) -> str:
    """First and last number, or the only one."""
    return span(values[0], values[-1], most) if watched else number(values[-1])


def verdicts(told: Told) -> list[str]:
    """Sentences with their numbers and intervals; groups of few tokens get none, which is said once."""
    names = {versus(*pair): pair for pair in permutations(told.history.groups, 2)}
    said = [
        f"{capital(sentence_of(f, *names[f.group]))}: {fixed(f.estimate, digits(f), plus=True)} "
        f"{bounds(f.interval, digits(f), plus=True)}."
        for f in told.findings
        if f.statistic == "gap" and f.reason != "too few"
    ]
    sizes = {group: told.of("level", "score", group) for group in told.history.groups}
    few = [f"{group} ({f.n})" for group, f in sizes.items() if f is not None and f.n < FEW]
    return [*said, f"No verdict of fewer than {FEW} tokens: {', '.join(few)}."] if few else said


def sentence_of(finding: Finding, first: str, second: str) -> str:
    """A verdict on two groups that names them."""
    if finding.reason != "no sign":
        return finding.verdict
    higher = "larger" if finding.against == "|score|" else "higher"
    return f"undecided whether {first} or {second} tokens have the {higher} attention scores"


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
        polarity, score, weight = (way(rows[name][here], told.watched) for name in QUANTITIES)
        group, count = str(rows["group"][0]) or DASH, f"{rows['count'][0]:,}"
        found.append(TokenLine(token, group, count, polarity, score, weight, moved_by(told, token)))
    return found


def no_group(told: Told) -> str:
    """What the dash of a chosen token in no group means, in a sentence; nothing where all are in one."""
    if all(told.history.token(token)["group"][0] for token in told.tokens):
        return ""
    if told.history.facts["grouped_by"] == "truth":
        return f"{DASH}: in no group, for it is none of the planted tokens."
    return (
        f"{DASH}: in no group. Tokens of a class stand in its texts more than {OFTEN} times, and more than "
        f"{(1 + TYPICAL_GAMMA) / (1 - TYPICAL_GAMMA):g} times as often as in all others "
        f"(γ > {TYPICAL_GAMMA}); neutral ones about as often in all (|γ| < {NEUTRAL_GAMMA}, and fewer than "
        f"{OFTEN} times more in one than in another)."
    )


def moved_by(told: Told, token: str) -> str:
    """The term that has moved a token's score most, with what it has added; a dash without a ledger.

    It is one that has the sign of the change: what pulled the other way is no cause of it. Where no such term
    is as large as what is left unexplained, that is said instead, and where more than half as much as the
    term is left, that too. Nothing is named that looks too far apart could have made the largest.
    """
    rows = told.history.token(token)
    rows = {name: column[rows["step"] <= told.at] for name, column in rows.items()}
    try:
        found = ledger(told.history, "score", rows)
    except InputError:
        return DASH
    change = float(found.measured[-1])
    if change == 0:
        return DASH
    rates = np.array([rows[rate("score", name)] for name in found.added])
    each = integration_error(told.history.facts["learning_rate"], found.steps, rates)
    doubts = dict(zip([*found.added, NOT_EXPLAINED], each, strict=True))
    parts = {name: values[-1] for name, values in found.added.items() if values[-1] * change > 0}
    parts[NOT_EXPLAINED] = found.rest[-1]
    names = list(parts)
    first = int(np.argmax(np.abs(list(parts.values()))))
    name, value = names[first], float(parts[names[first]])
    unsure = undecided_reason(
        first, np.array(list(parts.values())), np.array([doubts[part] for part in names])
    )
    if unsure is not None:
        return unsure.words
    if name == NOT_EXPLAINED:
        return f"{name} {number(value, plus=True)}"
    return f"{name} {number(value, plus=True)} ({cause_of(name).words}){residual_note(value, found.rest)}"
