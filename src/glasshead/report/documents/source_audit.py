"""Sources of many answers: which methods name them best, and what attention and place do."""

from collections.abc import Sequence

from glasshead.errors import pluralise
from glasshead.report.document import (
    Cell,
    Column,
    Document,
    Facts,
    Mark,
    Row,
    Rows,
    Sentence,
    Table,
    cell,
    columns,
    conclusion_blocks,
    table,
)
from glasshead.report.documents.rankings import TONES, finding_limits
from glasshead.report.findings_in_words import nulls
from glasshead.report.interval_marks import finding_mark
from glasshead.report.number_format import DASH, count, interval, number
from glasshead.report.ranking_rows import GLYPHS, MEANINGS, RANDOM
from glasshead.results import (
    PREDICTION,
    REMOVED,
    TOP,
    AuditedFinding,
    Finding,
    RankedSources,
    SourceAudit,
    Standing,
)
from glasshead.statistics import LEVEL
from glasshead.wording import sentence

CRITERIA = (*(f"top-{k}" for k in TOP), PREDICTION)
MEASURES = (
    "top-k: how many nats log p of an answer falls without the k passages that a method puts first; "
    "leave-one-out has the largest top-1 drop by construction. prediction: Spearman’s ρ between the sum of a "
    "method’s numbers over the passages that are left and the log-odds of the answer, over random subsets; "
    "for chance, each method’s numbers are shuffled over passages."
)


def source_audit_document(audit: SourceAudit) -> Document:
    """The conclusion, the rank of methods, the findings, and the curve of places."""
    return [
        *conclusion_blocks(audit.conclusion),
        rank_table(audit),
        Sentence(f"{key_in_words(audit)}. {MEASURES}", "quiet"),
        findings_table(audit.findings),
        *([curve_table(audit.curve)] if audit.curve else []),
        Facts(facts_of(audit)),
        *(Sentence(sentence(remark), "quiet") for remark in remarks_of(audit)),
    ]


def rank_table(audit: SourceAudit) -> Table:
    """A row for each method, those first that lead by most criteria, and one of random orders."""
    rows: list[Row] = []
    for method in sorted(audit.methods, key=leads, reverse=True):
        cells = []
        for name in CRITERIA:
            finding, standing = method.by_statistic[name]
            words = f"{number(finding.estimate)} {GLYPHS[standing]}"
            cells.append(cell(words, tone=TONES.get(standing, "quiet"), hint=finding.verdict))
        rows.append((method.name, *cells))
    first = audit.methods[0].by_statistic
    rows.append((cell(RANDOM, tone="quiet"), *(cell(chance(audit, name), tone="quiet") for name in CRITERIA)))
    rows.append((cell("n", tone="quiet"), *(count(first[name][0].n) for name in CRITERIA)))
    return table([Column("method", "name"), *columns((), CRITERIA)], rows, "Methods that name sources")


def chance(audit: SourceAudit, name: str) -> str:
    """What chance reaches by a criterion, from the least to the most where methods have chances of their
    own."""
    own = (one.by_statistic[name][0].null.get("random") for one in audit.methods)
    nulls = [null for null in own if null is not None]
    return " to ".join(dict.fromkeys([number(min(nulls)), number(max(nulls))])) if nulls else DASH


def leads(method: RankedSources) -> tuple[int, int]:
    """By how many criteria a method leads, and is better than a random order."""
    standings = [standing for _, standing in method.by_statistic.values()]
    return standings.count(Standing.LEADS), standings.count(Standing.BEHIND)


def key_in_words(audit: SourceAudit) -> str:
    """The marks of the table in one line."""
    used = {standing for one in audit.methods for _, standing in one.by_statistic.values()}
    return " · ".join(f"{GLYPHS[one]} {MEANINGS[one]}" for one in Standing if one in used)


def rank_numbers(audit: SourceAudit) -> Table:
    """Every number of the rank with its interval, criterion by criterion."""
    groups = []
    for name in CRITERIA:
        found = [(one.name, one.by_statistic[name][0]) for one in audit.methods]
        limits = finding_limits([one for _, one in found])
        rows = [
            (
                method,
                *marked(one, limits),
                number(one.null.get("random")),
                sentence(one.verdict),
                count(one.n),
            )
            for method, one in found
        ]
        groups.append(Rows(rows, name))
    head = [Column("method"), Column("estimate", "numbers"), Column("interval", "marked")]
    head += [Column(RANDOM, "numbers"), Column("verdict", "below"), Column("n", "numbers")]
    return Table(head, groups, "Every number of the rank")


def findings_table(findings: Sequence[AuditedFinding]) -> Table:
    """What is asked of attention and place, a row each."""
    rows = []
    for one in findings:
        limits = finding_limits([one.finding])
        numbers = marked(one.finding, limits)
        rows.append(
            (one.asks, *numbers, nulls(one.finding), sentence(one.finding.verdict), count(one.finding.n))
        )
    head = [Column("question"), Column("estimate", "numbers"), Column("interval", "marked")]
    head += [Column("null"), Column("verdict", "below"), Column("n", "numbers")]
    return table(head, rows, "Attention and place")


def marked(one: Finding, limits: tuple[float, float]) -> tuple[Cell, Cell]:
    """An estimate, and its interval on an axis."""
    mark = Mark(finding_mark(one), limits)
    return cell(number(one.estimate), tone="strong"), cell(interval(one.interval), drawing=mark)


def curve_table(curve: Sequence[Finding]) -> Table:
    """log p of the answer by the place of its key passage."""
    limits = finding_limits(curve)
    rows = [(one.statistic, *marked(one, limits)) for one in curve]
    head = [Column("key passage is"), Column("log p", "numbers"), Column("interval", "marked")]
    caption = f"Nats of log p of the answer, minus the mean over the five places; n = {count(curve[0].n)}."
    return table(head, rows, "The place of the key passage", caption)


def parts_table(audit: SourceAudit) -> Table:
    """The findings in parts of the questions."""
    groups = []
    asks = {one.finding.statistic: one.asks for one in audit.findings}
    for statistic in dict.fromkeys(one.statistic for one in audit.slices):
        own = [one for one in audit.slices if one.statistic == statistic]
        limits = finding_limits(own)
        rows = [(one.group, *marked(one, limits), sentence(one.verdict), count(one.n)) for one in own]
        groups.append(Rows(rows, asks[statistic]))
    head = [Column("part"), Column("estimate", "numbers"), Column("interval", "marked")]
    return Table(
        [*head, Column("verdict", "below"), Column("n", "numbers")], groups, "Parts of the questions"
    )


def facts_of(audit: SourceAudit) -> list[str]:
    """How it was measured."""
    facts = audit.facts
    return [
        f"{audit.model} ({facts['class']})",
        pluralise(facts["questions"], "question"),
        f"{sum(bool(one.sources) for one in audit.questions):,} answers have a shown source",
        f"{facts['written']:,} answers written by the model" if facts["written"] else "answers given",
        f"a removed passage is {REMOVED[facts['removal']]}, {facts['draws']} draws, seed {facts['seed']}",
        f"intervals hold for all of a table at once ({100 * LEVEL:.0f} %, Bonferroni)",
        f"{facts['seconds']:.1f} s",
    ]


def remarks_of(audit: SourceAudit) -> list[str]:
    """The remarks, and which questions are left out."""
    left = [f"question {number_} is left out: {reason}" for number_, reason in audit.skipped[:5]]
    more = len(audit.skipped) - len(left)
    return [*audit.remarks, *left, *([f"{more:,} more are left out"] if more > 0 else [])]


def questions_table(audit: SourceAudit) -> Table:
    """A row for each question."""
    rows: list[Row] = [
        (
            cell(one.question, tone="plain", hint=one.answer),
            one.answer,
            count(one.passages),
            number(one.gain, 2, plus=True),
            ", ".join(str(place + 1) for place in one.sources) or DASH,
            *(f"{max(range(len(own)), key=own.__getitem__) + 1}" for own in one.shares.values()),
        )
        for one in audit.questions
    ]
    names = list(audit.questions[0].shares)
    titles = ("passages", "all add", "sources", *(f"most {name}" for name in names))
    return table([Column("question"), Column("answer"), *columns((), titles)], rows, "Every question")
