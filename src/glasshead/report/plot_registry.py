"""Every plot by name, as the command line, the pages and the gallery ask for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from glasshead.registry import Registry
from glasshead.report.figure import Figure

Draw = TypeVar("Draw", bound=Callable[..., Figure | None])


@dataclass(frozen=True)
class PlotOptions:
    """Chosen tokens, all of them followed, and the step that is shown (default: the last)."""

    tokens: tuple[str, ...] = ()
    step: int | None = None


@dataclass(frozen=True)
class Plot:
    """A plot and the kind of values that it draws.

    ``of`` is the class of these values: one of `glasshead.results` (`AuditCard`: several cards and their
    names), or one of an extension. ``sections`` are those of its page, in the ``order`` of that page.
    ``drawn_by`` names the command or method that draws it (empty: ``plot`` with its name). ``tokens`` says
    whether tokens can be chosen, ``at_step`` whether a step can: these are passed as `PlotOptions`.
    """

    draw: Callable[..., Figure | None]
    of: type
    sections: tuple[str, ...] = ()
    order: int = 0
    drawn_by: str = ""
    tokens: Literal["no", "optional", "required"] = "no"
    at_step: bool = False


PLOTS: Registry[Plot] = Registry("plot", "plots")


def plot(name: str, of: type, *sections: str, **more: Any) -> Callable[[Draw], Draw]:
    """Decorator that registers the function that draws a plot."""

    def register(draw: Draw) -> Draw:
        PLOTS.register(name)(Plot(draw, of, sections, **more))
        return draw

    return register


def plots_of(of: type, section: str | None = None) -> dict[str, Plot]:
    """The plots of a class of values, of a section of its page or of all, in their order."""
    chosen = {
        name: entry
        for name, entry in PLOTS.items()
        if entry.of is of and (section is None or section in entry.sections)
    }
    return dict(sorted(chosen.items(), key=lambda item: item[1].order))
