"""What the colours of texts mean, in a sentence or a legend that names the class they speak for."""

from collections.abc import Sequence

from glasshead.escaping import in_quotes, visible
from glasshead.report.text_spans import diverging, quantity
from glasshead.results import Attribution


def colour_meaning(attributions: Sequence[Attribution]) -> str:
    """``Red words speak for “positive”, blue words against it``; empty for no texts."""
    if not attributions:
        return ""
    nouns = attributions[0].nouns
    if all(attribution.intervals is not None for attribution in attributions):
        signed = any(attribution.signed for attribution in attributions)
        sides = ", red above and blue below zero" if signed else ""
        return f"The stronger the colour{sides}, the larger the weight"
    if not any(attribution.signed or attribution.contributions is not None for attribution in attributions):
        return f"The stronger the colour, the more {nouns.a_word} matters"
    if any(attribution.rates for attribution in attributions):
        return f"Red {nouns.words} raise the predicted {attributions[0].target}, blue {nouns.words} lower it"
    targets = {attribution.target for attribution in attributions}
    side = in_quotes(visible(*targets)) if len(targets) == 1 else "its target class"
    if len(targets) > 1 and all(attribution.target == attribution.predicted for attribution in attributions):
        side = "the predicted class"
    return f"Red {nouns.words} speak for {side}, blue {nouns.words} against it"


def colour_legend(attribution: Attribution) -> str:
    """``red: for positive, blue: against it``, for one text next to others."""
    if not diverging(attribution):
        return f"the stronger the colour, the larger the {quantity(attribution)}"
    if attribution.intervals is not None:
        return "red: weights above zero, blue: below"
    if attribution.rates:
        return f"red: raises the {attribution.target}, blue: lowers it"
    return f"red: for {visible(attribution.target)}, blue: against it"
