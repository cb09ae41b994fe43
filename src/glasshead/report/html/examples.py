"""The highlighted texts, the same text under every model where several are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.html.interval_marks import Limits
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.html.token_table import TokenTable, token_table
from glasshead.report.labels import sort_names
from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import shared_scale
from glasshead.report.weight_intervals import extremes
from glasshead.results import AuditCard, Highlight

REASONS = (
    "correct", "wrong", "closer than most", "further off than most", "most faithful", "least faithful",
    "surest map", "least sure map",
)  # fmt: skip
# The text whose largest token stands at this quantile of the texts is drawn at full strength.
FULL_STRENGTH = 0.8


@dataclass(frozen=True)
class ExampleView:
    """What one model made of a text; ``html`` is None where its audit did not keep the tokens, ``ranges``
    where its weights have no intervals, ``place`` the head that was read where nothing was predicted."""

    html: Markup | None
    predicted: str
    target: str
    probability: str
    faithfulness: str
    right: bool | None
    reason: str
    ranges: TokenTable | None = None
    place: str = ""


@dataclass(frozen=True)
class Example:
    """One text under each model."""

    text: str
    label: str
    index: str
    readings: list[ExampleView | None]
    rates: bool


@dataclass(frozen=True)
class ExampleSection:
    """The examples that were picked for one reason."""

    reason: str
    examples: list[Example]


def chapters(cards: Sequence[AuditCard]) -> list[ExampleSection]:
    """Texts by the reason of the first card that picked them; those that every card picked come first."""
    picked = [{h.attribution.text: h for h in reversed(card.highlights)} for card in cards]
    scales = [shared_scale((h.attribution for h in card.highlights), FULL_STRENGTH) for card in cards]
    limits = [extremes(h.attribution for h in card.highlights) for card in cards]
    rows = [_rows(card) for card in cards]
    first: dict[str, Highlight] = {}
    for card in cards:
        for highlight in card.highlights:
            first.setdefault(highlight.attribution.text, highlight)
    texts = sorted(first, key=lambda text: -sum(text in highlights for highlights in picked))
    sections = []
    for reason in sort_names((h.reason for h in first.values()), REASONS):
        examples = []
        for text in (text for text in texts if first[text].reason == reason):
            readings = [
                _view(highlights.get(text), row.get(text), scale, ends)
                for highlights, row, scale, ends in zip(picked, rows, scales, limits, strict=True)
            ]
            index = next((str(row[text]["index"]) for row in rows if "index" in row.get(text, {})), "")
            rates = first[text].attribution.rates
            examples.append(Example(visible(text), first[text].label, index, readings, rates))
        sections.append(ExampleSection(reason, examples))
    return sections


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
            number(highlight.faithfulness, plus=True) if attribution.predicted else "",
            attribution.predicted == highlight.label if classified else None,
            highlight.reason,
            None if attribution.intervals is None else token_table(attribution, limits),
            "" if attribution.predicted else attribution.reading or "",
        )
    if row is None:
        return None
    if "probability" not in row and finite(row.get("predicted")) is not None:
        return ExampleView(None, number(row["predicted"], 2), "", "", "–", None, "")
    predicted = str(row.get("predicted", ""))
    right = predicted == str(row["label"]) if "label" in row else None
    return ExampleView(None, predicted, "", number(row.get("probability")), "–", right, "")
