"""The context vector V and the output vector W over a training: how they are coupled, and their norms."""

from glasshead.papers.report.curves import (
    Curve,
    caption_with_best_step,
    curve_legend,
    curve_panel,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.report.term_labels import SUN_AND_LU, prime_note, space_prime
from glasshead.papers.results import History
from glasshead.report import Figure, LegendEntry, PlotOptions, class_colour, plot


@plot("coupling", History, "terms", order=3, drawn_by="plot dynamics --what coupling")
def coupling(history: History, options: PlotOptions) -> Figure:
    """VᵀW, and V′ᵀW′ where there is a map: what drives the scores of the groups apart."""
    require_snapshots(history)
    names = [name for name in history.quantities() if "ᵀ" in name]
    curves = {name: curves_by_class(history, name) for name in names}
    require_recorded(history, names, "VᵀW")
    panels = [curve_panel(history, "", lines, space_prime(name), name) for name, lines in curves.items()]
    longest = max(curves.values(), key=len)
    legend = (
        [LegendEntry(curve.colour, curve.words.split(" ", 1)[1]) for curve in longest]
        if len(longest) > 1
        else []
    )
    if history.facts["form"] is None:
        meaning = f"Its effect on scores is not known here: {history.facts['why_no_form']}."
    elif len(longest) > 1:
        meaning = "Where it is positive for a class, tokens of that class gain attention through it."
    else:
        meaning = "Where it is positive, positive tokens gain attention through it and negative ones lose it."
    first = "The dot product of the context vector V and the output vector W."
    caption = " ".join(filter(None, (first, prime_note(history), meaning)))
    source = f"{SUN_AND_LU}, C.3"
    return Figure("The coupling of V and W", panels, caption_with_best_step(history, caption), legend, source)


@plot("norms", History, "terms", order=4, drawn_by="plot dynamics --what norms")
def norms(history: History, options: PlotOptions) -> Figure:
    """The norms ‖V‖ and ‖W‖ over the steps."""
    require_snapshots(history)
    curves = [*curves_by_class(history, "‖V‖"), *curves_by_class(history, "‖W‖")]
    require_recorded(history, curves, "‖V‖")
    panel = curve_panel(history, "", curves, "Euclidean norm", "Norms of V and W")
    terms = "Their squares multiply the terms of a token's own lead and of its own labels."
    caption = caption_with_best_step(history, terms if history.facts["terms"] else "")
    return Figure("Norms of V and W", [panel], caption.strip(), curve_legend(curves))


def curves_by_class(history: History, name: str) -> list[Curve]:
    """A number that the model has once, or once for every class."""
    groups = ["", *history.facts.get("labels", [])]
    recorded = [(group, history.curve(name, group)) for group in groups]
    recorded = [(group, columns) for group, columns in recorded if len(columns["step"])]
    return [
        Curve(columns, "--ink" if name != "‖V‖" else "--accent", name)
        if group == ""
        else Curve(columns, class_colour(rank), f"{name} {group}")
        for rank, (group, columns) in enumerate(recorded)
    ]
