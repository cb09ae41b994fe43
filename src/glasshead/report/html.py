"""The report: one HTML file without network, for one audit or for several side by side."""

import re
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.comparison import lead as comparison_lead
from glasshead.report.comparison import settings, strips, tested
from glasshead.report.difference_rows import pairs
from glasshead.report.examples import chapters
from glasshead.report.finding_tables import sections
from glasshead.report.gauge import gauge
from glasshead.report.html_fragments import Scale, highlighted, nulls, over_nulls
from glasshead.report.key_findings import answers, cautions, lead
from glasshead.report.labels import sentence
from glasshead.report.number_format import interval, number
from glasshead.report.run_facts import detail_rows, fact_rows, names, notes, short
from glasshead.report.text_spans import shared_scale
from glasshead.report.token_table import numbers, weight_key
from glasshead.report.typical_tokens import QUANTITIES, typical
from glasshead.report.weight_intervals import extremes
from glasshead.results import Attribution, AuditCard, Comparison, Difference


def environment() -> Environment:
    """Templates of this package, escaping whatever comes from outside."""
    made = Environment(
        loader=PackageLoader("glasshead.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "sentence": sentence,
        "number": number,
        "interval": interval,
        "nulls": nulls,
        "over_nulls": over_nulls,
        "visible": visible,
        "lettered": lettered,
    }
    return made


def lettered(text: str) -> Markup:
    """A sentence with options that do not break behind their hyphens, and indices of letters such as h_e."""
    safe = str(escape(visible(text)))
    unbroken = re.sub(r"--[a-z][a-z-]*", r'<span class="unbroken">\g<0></span>', safe)
    return Markup(re.sub(r"(?<=[hU])_([a-z])(?![a-z])", r"<sub>\1</sub>", unbroken))


def render(
    cards: list[AuditCard], differences: Sequence[Difference] = (), remarks: Sequence[str] = ()
) -> str:
    """One card: the audit report. Several: the same form, side by side.

    ``differences`` are paired ones between the cards, ``remarks`` what is to be said of them.

    Raises:
        ValueError: for no card at all.
    """
    from glasshead.report.plots import plots  # matplotlib, which a page of explained texts does not need

    if not cards:
        raise ValueError("a report needs at least one audit card")
    full = names(cards)
    shared, called = short(full)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            full=full,
            shared=shared,
            names=called,
            leads=[lead(card) for card in cards],
            gauges=[gauge(card) for card in cards],
            cautions=cautions(cards, called),
            answers=answers(cards, called, differences),
            sections=sections(cards, called, differences),
            pairs=[(called[one], called[other]) for one, other in pairs(differences)],
            remarks=remarks,
            plots=plots(cards, called),
            groups=typical(cards),
            quantities=[name for _, name in QUANTITIES],
            chapters=chapters(cards),
            key=weight_key([h.attribution for card in cards for h in card.highlights]),
            facts=fact_rows(cards),
            details=detail_rows(cards),
            notes=notes(cards),
            cards_have_maps=any("identifiability" in card.facts for card in cards),
        )
    )


def comparison_page(comparison: Comparison) -> str:
    """Groups of runs: their differences with intervals and tests, their metrics and settings."""
    differing, alike = settings(comparison)
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            names=[visible(each.name) for each in comparison.groups],
            lead=comparison_lead(comparison),
            tested=tested(comparison),
            strips=strips(comparison),
            guess=visible(comparison.floor.guess),
            repeated=any(len(each.seeds) > 1 for each in comparison.groups),
            differing=differing,
            alike=alike,
            resamples=comparison.resamples,
        )
    )


def attribution_page(attributions: list[Attribution]) -> str:
    """Explanations of single texts, coloured, with every token's numbers in a table."""
    scale, reach = shared_scale(attributions), Scale(*extremes(attributions))
    told = [
        {
            "attribution": attribution,
            "html": highlighted(attribution, scale),
            "numbers": numbers(attribution, reach),
        }
        for attribution in attributions
    ]
    return environment().get_template("attributions.html.j2").render(told=told, key=weight_key(attributions))
