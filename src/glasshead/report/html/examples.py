"""The highlighted texts, the same text under every model where several are compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.nouns import TEXTS, Nouns
from glasshead.report.document import Table
from glasshead.report.documents.attributions import tokens_table
from glasshead.report.html.interval_drawings import Limits
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.labels import sort_names
from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import shared_scale
from glasshead.report.weight_intervals import extremes, summary_of_ranges
from glasshead.results import (
    AGREEMENT_STRENGTHS,
    GIVEN_ANSWER,
    REGRESSION,
    Attribution,
    AuditCard,
    Highlight,
)

REASONS = (
    "correct", "wrong", "closer than most", "further off than most", "likelier than most",
    "less likely than most", "most agreement with erasure",
    "least agreement with erasure", "most agreement with weight removal",
    "least agreement with weight removal", "surest map", "least sure map",
)  # fmt: skip
ERASURE_AGREEMENT = {word: f"τ from {low:g}" for low, word in AGREEMENT_STRENGTHS[:2]} | {
    "less": f"τ below {AGREEMENT_STRENGTHS[1][0]:g}"
}
"""By how far the order of the tokens is that of erasing them, texts are strong, moderate or less."""
# The text whose largest token stands at this quantile of the texts is drawn at full strength.
FULL_STRENGTH = 0.8
LEADING = 3


@dataclass(frozen=True)
class ExampleView:
    """What one model made of a text; ``html`` is None where its audit did not keep the tokens, ``ranges``
    where its weights have no intervals, ``place`` the head that was read where nothing was predicted."""

    html: Markup | None
    predicted: str
    target: str
    probability: str
    faithfulness: float | None
    right: bool | None
    reason: str
    ranges: Table | None = None
    counted: str = ""
    place: str = ""
    attribution: Attribution | None = None

    @property
    def on_own_scale(self) -> "ExampleView":
        """The same with the strongest of its own tokens in full colour."""
        if self.attribution is None:
            return self
        return replace(self, html=text_heatmap(self.attribution, shared_scale([self.attribution])))


TRUTHS = {REGRESSION: "true rating", GIVEN_ANSWER: "given answer"}
"""What labels are called, by the task of a card."""


@dataclass(frozen=True)
class Example:
    """One text under each model, and the reason of the first card that picked it. ``truth`` is what its
    ``label`` is called."""

    text: str
    label: str
    index: str
    readings: list[ExampleView | None]
    truth: str
    reason: str

    @property
    def views_with_tokens(self) -> list[ExampleView]:
        """What the models that have its tokens made of it."""
        return [view for view in self.readings if view is not None and view.html is not None]

    @property
    def sides(self) -> list[str]:
        """``right`` and ``wrong``, as models predict it."""
        known = {view.right for view in self.readings if view is not None}
        return [word for word, right in (("right", True), ("wrong", False)) if right in known]

    @property
    def faithfulness(self) -> float | None:
        """The smallest of all models."""
        return min(
            (f for view in self.views_with_tokens if (f := view.faithfulness) is not None), default=None
        )

    @property
    def strength(self) -> str:
        """Where the text stands among `ERASURE_AGREEMENT`; empty if there is no such number."""
        if self.faithfulness is None:
            return ""
        strong = (word for low, word in AGREEMENT_STRENGTHS[:2] if self.faithfulness >= low)
        return next(strong, "less")


def examples(cards: Sequence[AuditCard]) -> list[Example]:
    """Texts by the reason of the first card that picked them; those that every card picked come first."""
    picked = [{h.attribution.text: h for h in reversed(card.highlights)} for card in cards]
    scales = [shared_scale((h.attribution for h in card.highlights), FULL_STRENGTH) for card in cards]
    limits = [extremes(h.attribution for h in card.highlights) for card in cards]
    rows = [_rows(card) for card in cards]
    first: dict[str, Highlight] = {}
    for card in cards:
        for highlight in card.highlights:
            first.setdefault(highlight.attribution.text, highlight)
    reasons = sort_names((h.reason for h in first.values()), REASONS)
    order = sorted(
        first,
        key=lambda text: (
            reasons.index(first[text].reason),
            -sum(text in highlights for highlights in picked),
        ),
    )
    tasks = {str(card.facts.get("task")) for card in cards}
    truth = next((words for task, words in TRUTHS.items() if task in tasks), "true class")
    result = []
    for text in order:
        readings = [
            _view(highlights.get(text), row.get(text), scale, ends)
            for highlights, row, scale, ends in zip(picked, rows, scales, limits, strict=True)
        ]
        index = next((str(row[text]["index"]) for row in rows if "index" in row.get(text, {})), "")
        highlight = first[text]
        result.append(Example(visible(text), highlight.label, index, readings, truth, highlight.reason))
    return result


def leading_examples(found: Sequence[Example], nouns: Nouns = TEXTS) -> list[tuple[str, Example]]:
    """What a reader sees first: a text that was predicted right, one wrong, and the one whose colours agree
    least with erasure, as far as there are such; preferably texts of which every card has the tokens. Each
    has a scale of its own: on a common one most would be white."""
    pool = [one for one in found if len(one.views_with_tokens) == len(one.readings)] or list(found)
    by_reason = {one.reason: one for one in reversed(pool)}
    chosen: list[tuple[str, Example]] = []

    def choose(title: str, candidates: Sequence[Example]) -> None:
        free = [one for one in candidates if one not in (taken for _, taken in chosen)]
        if free and len(chosen) < LEADING:
            chosen.append((title, free[0]))

    choose("Predicted right", [one for one in pool if "right" in one.sides])
    choose("Predicted wrong", [one for one in pool if "wrong" in one.sides])
    order: Callable[[Example], float] = lambda one: one.faithfulness or 0.0  # noqa: E731
    shared = "" if len(pool) == len(found) else f" among the {nouns.texts} that all audits show"
    choose(
        f"Least agreement with weight removal{shared}",
        sorted((one for one in pool if one.faithfulness is not None), key=order),
    )
    for reason in sort_names(by_reason, REASONS):
        choose(reason.capitalize(), [by_reason[reason]])
    for one in pool:
        choose(one.reason.capitalize(), [one])
    return [
        (title, replace(one, readings=[view and view.on_own_scale for view in one.readings]))
        for title, one in chosen
    ]


def _rows(card: AuditCard) -> dict[str, dict[str, Any]]:
    """The columns of the examples, by text."""
    columns = [
        name for name in ("index", "text", "label", "predicted", "probability") if name in card.examples
    ]
    if "text" not in columns:
        return {}
    rows = zip(*(card.examples[name] for name in columns), strict=True)
    return {row["text"]: row for row in (dict(zip(columns, values, strict=True)) for values in rows)}


def _view(
    highlight: Highlight | None, row: dict[str, Any] | None, scale: float, limits: Limits
) -> ExampleView | None:
    if highlight is not None:
        attribution = highlight.attribution
        classified = bool(attribution.predicted) and not attribution.rates
        return ExampleView(
            text_heatmap(attribution, scale),
            number(attribution.prediction, 2) if attribution.rates else attribution.predicted,
            attribution.target if classified else "",
            number(attribution.prediction) if classified else "",
            finite(highlight.faithfulness) if attribution.predicted else None,
            attribution.predicted == highlight.label if classified and highlight.label else None,
            highlight.reason,
            None if attribution.intervals is None else tokens_table(attribution, scale, limits),
            "" if attribution.intervals is None else summary_of_ranges(attribution),
            "" if attribution.predicted else attribution.reading or "",
            attribution,
        )
    if row is None:
        return None
    if "probability" not in row and finite(row.get("predicted")) is not None:
        return ExampleView(None, number(row["predicted"], 2), "", "", None, None, "")
    predicted = str(row.get("predicted", ""))
    right = predicted == str(row["label"]) if "label" in row else None
    return ExampleView(None, predicted, "", number(row.get("probability")), None, right, "")
