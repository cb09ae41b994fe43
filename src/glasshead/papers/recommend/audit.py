"""Does the attention of a recommender deserve to be called an explanation of what it recommends?"""

import time
from collections.abc import Callable, Sequence
from datetime import date

import numpy as np

from glasshead.attention import parse, to_name
from glasshead.audits import conclude
from glasshead.errors import InputError, ParameterError, pluralise
from glasshead.papers.recommend.attention_tests import (
    BY_LEVEL,
    ERASURE,
    POOLINGS,
    click_falls,
    erasure_numbers,
    news_with_uniform_words,
    ranking_numbers,
    score_edits,
    word_falls,
)
from glasshead.papers.recommend.explanation import (
    Candidate,
    candidate_attribution,
    history_attribution,
    read_candidate,
    read_clicks,
)
from glasshead.papers.recommend.findings import ImpressionColumn, column_findings
from glasshead.papers.recommend.mind import BEHAVIORS, Impression, NewsLogs
from glasshead.papers.recommend.parts import ScoreParts
from glasshead.papers.recommend.questions import CLICKS, RANKING, RECOMMENDER_QUESTIONS, WORDS
from glasshead.papers.recommend.run import RecommenderRun
from glasshead.results import Attribution, AuditCard, Highlight
from glasshead.torch_modes import in_own_modes
from glasshead.training import versions

IMPRESSIONS, DRAWS = 500, 20
TASK = "recommendation"
UNDEFINED = "fewer than two units, or all weights or all changes are equal"
UNKNOWN_CLICKS = "clicks are unknown, or all or none of the news was clicked"
TEST_SOURCES = {
    "agreement": "Jain and Wallace (2019), section 4.1",
    "removal": "DeYoung et al. (2020), section 4.3",
    "change": "Jain and Wallace (2019), section 4.2.1",
    "loss": "Wiegreffe and Pinter (2019), section 3.2",
    "rank": "Wu et al. (2020), section 4",
}
RECOMMENDER_NOTES = (
    "The explained item is the one that ranks first. Its click probability is softmax of the scores of all "
    "shown news. A clicked news item or a word is erased by reading the history or the title without it.",
    "uniform-pooling and permuted-pooling replace the weights with which the news level sums up the history; "
    "uniform-news-level and uniform-word-level replace all attention of a level.",
    "Intervals are over impressions. Impressions of one reader resemble each other, so intervals are "
    "somewhat too narrow.",
)
Numbers = dict[str, tuple[float, float] | float]


@in_own_modes
def audit_recommender(
    run: RecommenderRun,
    logs: NewsLogs,
    *,
    limit: int | None = IMPRESSIONS,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditCard:
    """Audit the attention at both levels on ``limit`` random impressions of the logs (None: on all).

    The clicked news and the words of the item that ranks first: does attention order them as erasing them
    does, and does the prediction depend on the first more than on any other? The ranking: how far do other
    weights move it, and how much AUC do they cost? Impressions need two clicked and two shown news at least.

    Raises:
        InputError: if no impression can be audited, and on options that make no sense.
    """
    started = time.perf_counter()
    for name, value in (("limit", limit), ("draws", draws)):
        if value is not None and value < 1:
            raise ParameterError(name, f"must be at least 1, not {value}")
    chosen, left_out = auditable(logs, limit, seed, run.model.config.history_length)
    progress("encoding")
    names = [name for one in chosen for name in (*read_clicks(one, run.model), *one.shown)]
    parts = ScoreParts(run, logs, names)
    flat_words = news_with_uniform_words(parts)
    rng = np.random.default_rng([seed, 0])
    rows: list[Numbers] = []
    candidates: list[Candidate] = []
    for number, impression in enumerate(chosen):
        if number % 50 == 0:
            progress(f"impression {number + 1} of {len(chosen)}")
        one = read_candidate(parts, impression)
        candidates.append(one)
        by_click = (one.weights.cpu().numpy(), one.contributions.cpu().numpy(), click_falls(one))
        weights, contributions = (values.cpu().numpy() for values in one.words())
        by_word = (weights, contributions, word_falls(one))
        row: Numbers = {}
        for audit, values in ((CLICKS, by_click), (WORDS, by_word)):
            numbers = erasure_numbers(*values, draws, rng)
            row |= {f"{audit}.{name}": pair for name, pair in numbers.items()}
        clicked = np.array(impression.clicked) if impression.rankable else None
        found_ranks = ranking_numbers(one, score_edits(one, draws, rng, flat_words), clicked)
        rows.append(row | {f"{RANKING}.{name}": value for name, value in found_ranks.items()})
    progress("intervals")
    columns = make_columns(rows)
    config = run.model.config
    attention = to_name(parse(config.attention))
    notes = [*RECOMMENDER_NOTES]
    if left_out:
        few = "fewer than two clicked news, or a single shown one"
        notes.append(f"{pluralise(left_out, 'impression')} left out: {few}.")
    card = AuditCard(
        facts={
            "name": f"{logs.folder.name} · {attention} · seed {run.record.get('seed', 0)}",
            "run": str(run.folder),
            "task": TASK,
            "data": str(logs.folder),
            "examples": len(chosen),
            "model": run.record.get("what", "news recommender"),
            "attention": attention,
            "layers": config.num_hidden_layers,
            "heads": config.num_attention_heads,
            "pooling": config.pooling,
            "signed": False,
            "seed": run.record.get("seed", 0),
            "audit_seed": seed,
            "draws": draws,
            "versions": versions(),
            "notes": notes,
            "date": date.today().isoformat(),
            "seconds": round(time.perf_counter() - started, 2),
        },
        findings=column_findings(columns, seed),
        highlights=pick_highlights(run, logs, candidates, columns),
        examples={"impression": [one.id for one in chosen], "user": [one.user for one in chosen]}
        | {column.name: column.values for column in columns}
        | {f"{column.name}.null.{name}": null for column in columns for name, null in column.nulls.items()},
    )
    return conclude(card, RECOMMENDER_QUESTIONS)


def auditable(
    logs: NewsLogs, limit: int | None, seed: int, history_length: int
) -> tuple[list[Impression], int]:
    """Random impressions with two clicks that are read and two shown news at least, in the order of the logs,
    and how many have fewer.

    Raises:
        InputError: if there is none.
    """
    fit = [one for one in logs.impressions if min(len(one.history), history_length, len(one.shown)) > 1]
    if not fit:
        raise InputError(
            f"no impression of {logs.folder / BEHAVIORS} has two clicked news (the model reads the latest "
            f"{history_length}) and two shown ones: there is nothing to audit"
        )
    left_out = len(logs.impressions) - len(fit)
    if limit is None or len(fit) <= limit:
        return fit, left_out
    places = np.sort(np.random.default_rng([seed, 2]).choice(len(fit), limit, replace=False))
    return [fit[place] for place in places.tolist()], left_out


def make_columns(rows: Sequence[Numbers]) -> list[ImpressionColumn]:
    """Statistics of all impressions, in the order in which they are reported."""

    def column(name: str, judge: str, undefined: str) -> ImpressionColumn:
        audit, statistic, against = (*name.split("."), "")[:3]
        read = np.array([row.get(name, np.nan) for row in rows], dtype=float)
        nulls = {}
        if judge in ("agreement", "removal"):
            read, nulls["random"] = read[:, 0], read[:, 1]
        elif judge == "rank":
            nulls["random"] = np.where(np.isnan(read), np.nan, 0.5)
        return ImpressionColumn(audit, statistic, against, read, judge, TEST_SOURCES[judge], nulls, undefined)

    columns = [
        column(f"{audit}.{name}", judge, UNDEFINED)
        for audit in (CLICKS, WORDS)
        for name, judge in ERASURE.items()
    ]
    columns += [column(f"{RANKING}.shift.{edit}", "change", "") for edit in (*POOLINGS, *BY_LEVEL)]
    if any(f"{RANKING}.auc" in row for row in rows):
        columns.append(column(f"{RANKING}.auc", "rank", UNKNOWN_CLICKS))
        columns += [
            column(f"{RANKING}.loss.{edit}", "loss", UNKNOWN_CLICKS) for edit in (*POOLINGS, *BY_LEVEL)
        ]
    return columns


def pick_highlights(
    run: RecommenderRun, logs: NewsLogs, candidates: Sequence[Candidate], columns: Sequence[ImpressionColumn]
) -> list[Highlight]:
    """The histories, and the titles, whose weights agree most and least with erasure."""
    chosen = []
    for column, read in ((columns[0], history_of), (columns[len(ERASURE)], title_of)):
        order = [place for place in np.argsort(column.values).tolist() if not np.isnan(column.values[place])]
        for reason, places in (("least", order[:2]), ("most", order[2:][-2:])):
            for place in places:
                one = candidates[place]
                reasons = f"{reason} agreement with erasure", first_click(one.impression)
                chosen.append(Highlight(*reasons, read(one, logs, run), float(column.values[place])))
    return chosen


def first_click(impression: Impression) -> str:
    """What was clicked, in the words of an attribution; empty where it is not told."""
    marks = impression.clicked or ()
    names = [name for name, mark in zip(impression.shown, marks, strict=False) if mark]
    return f"click on {names[0]}" if names else ""


def history_of(one: Candidate, logs: NewsLogs, run: RecommenderRun) -> Attribution:
    """The clicked news of an impression, by attention."""
    return history_attribution(one, logs, one.contributions, "attention")


def title_of(one: Candidate, logs: NewsLogs, run: RecommenderRun) -> Attribution:
    """The words of the explained title, by attention."""
    return candidate_attribution(one, logs, run, "attention")
