"""The page of a history: one HTML file without network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from glasshead.errors import InputError
from glasshead.nouns import nouns_of
from glasshead.papers.report.context_tables import ContextOrder, context_orders, context_verdicts, prominences
from glasshead.papers.report.dynamics_summary import (
    DynamicsSummary,
    GroupChange,
    TermShare,
    change_remarks,
    group_changes,
    group_verdicts,
    interval_note,
    intro_sentence,
    layer_changes,
    note_ungrouped,
    rank_terms,
    token_lines,
    vector_numbers,
)
from glasshead.papers.report.term_labels import cause_of, prime_note
from glasshead.papers.results import History
from glasshead.report import PlotOptions, RenderedFigure, environment, plots_of, render, sentence

SECTIONS = {
    "groups": "Groups of tokens",
    "layers": "Layers",
    "embeddings": "Dot products of embeddings",
    "terms": "What moves scores and polarities",
    "tokens": "Tokens",
    "contexts": "Tokens in their texts and alone",
}
"""Sections of the page; a plot says on which it stands."""


@dataclass(frozen=True)
class Section:
    """Some figures, and why others are not there: a sentence each."""

    key: str
    title: str
    figures: list[RenderedFigure]
    missing: list[str]


def dynamics_page(summary: DynamicsSummary) -> str:
    """How attention developed in one training, or what the trained model shows of it."""
    layered = summary.history.facts["kind"] == "layers"
    return (
        environment(nouns_of(summary.history.facts))
        .get_template("dynamics.html.j2")
        .render(
            summary=summary,
            lead=intro_sentence(summary),
            layered=layered,
            changes=by_group(layer_changes(summary) if layered else group_changes(summary)),
            remarks=change_remarks(summary),
            numbers=vector_numbers(summary),
            verdicts=group_verdicts(summary),
            shares={quantity: by_group(rank_terms(summary, quantity)) for quantity in ("score", "polarity")},
            interval_note=interval_note(summary),
            terms=term_rows(summary),
            prime_note=prime_note(summary.history),
            token_lines=token_lines(summary),
            ungrouped_note=note_ungrouped(summary),
            orders=by_group(context_orders(summary)),
            prominences=prominences(summary),
            context_verdicts=context_verdicts(summary),
            sections=sections(summary),
            facts=facts(summary),
        )
    )


T = TypeVar("T", GroupChange, ContextOrder, TermShare)


def by_group(rows: Sequence[T]) -> list[tuple[str, list[T]]]:
    """Rows under the name of their group, in the order in which they come."""
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return list(groups.items())


def sections(summary: DynamicsSummary) -> list[Section]:
    """Every section of which something can be shown or has to be said; a reason is given once."""
    result = []
    reasons: set[str] = set()
    for key, title in SECTIONS.items():
        if (key == "layers") != (summary.history.facts["kind"] == "layers"):
            continue
        figures, missing = section_figures(summary, key)
        # Of a training that was not recorded the page says once that nothing over time is known.
        missing = [why for why in missing if why not in reasons] if summary.recorded else []
        reasons.update(missing)
        if figures or missing:
            result.append(Section(key, title, figures, missing))
    return result


def section_figures(summary: DynamicsSummary, section: str) -> tuple[list[RenderedFigure], list[str]]:
    """The figures of a section, and why others cannot be drawn."""
    if section == "contexts" and not summary.history.contexts:
        return [], []
    figures, missing = [], []
    for name, plot in plots_of(History, section).items():
        again = section != plot.sections[0]  # a plot that stands elsewhere too is here one of chosen tokens
        if not summary.tokens and (again or plot.tokens == "required"):
            continue
        tokens = summary.tokens if again or len(plot.sections) == 1 else ()
        try:
            figure = plot.draw(summary.history, PlotOptions(tokens, summary.step))
        except InputError as error:
            missing.append(sentence(str(error)))
            continue
        if figure is not None:
            figures.append(render(figure, f"{section}-{name}"))
    return figures, list(dict.fromkeys(missing))


def term_rows(summary: DynamicsSummary) -> list[tuple[str, str, str, str]]:
    """What moves which quantity: term, colour of its cause, words."""
    return [
        (quantity, name, cause_of(name).colour, words)
        for quantity, named in summary.history.facts.get("terms", {}).items()
        for name, words in named.items()
    ]


FACT_NAMES = {
    "form": "Closed form",
    "title": "Model",
    "score": "Score function",
    "encoder": "Encoder",
    "activation": "Activation",
    "attention": "Attention",
    "scale": "Scale λ",
    "optimizer": "Optimizer",
    "learning_rate": "Learning rate",
    "steps": "Steps",
    "every": "Steps between two snapshots",
    "best_step": "Step whose model was kept",
    "inputs": "Inputs",
    "probe": "{Texts} of train analysed",
    "grouped_by": "Groups of {tokens} by",
    "groups": "{Tokens} of the groups",
    "penalties": "Penalties",
    "labels": "Classes",
    "why_not_exact": "Why terms do not add up",
}


def facts(summary: DynamicsSummary) -> list[tuple[str, str]]:
    """What was recorded, and how."""
    rows = []
    of = summary.history.facts
    for key, name in FACT_NAMES.items():
        name, value = nouns_of(of).fill(name), of.get(key)
        if key == "every" and value is not None and value >= of["steps"]:
            name, value = "Snapshots", "before the first step and after the last"
        if value is None or value == {} or value == []:
            continue
        if isinstance(value, dict):
            value = ", ".join(
                f"{name} {part:,}" if isinstance(part, int) else f"{name} {part}"
                for name, part in value.items()
            )
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, int):
            value = f"{value:,}"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif key == "grouped_by":
            value = (
                "what was planted in the texts"
                if value == "truth"
                else "the ratio γ of their classes in train"
            )
        rows.append((name, str(value)))
    return rows
