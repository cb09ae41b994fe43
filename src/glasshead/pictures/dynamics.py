"""Pictures of how attention came about: a history in, a file out, for print or as a page."""

from collections.abc import Sequence

from glasshead.pictures.plot_arguments import PAGE
from glasshead.report import PICTURES, Asked, Picture, drawn, figure_of, picture_page
from glasshead.results import History


def dynamics_picture(
    history: History, kind: str, what: str, tokens: Sequence[str] = (), step: int | None = None
) -> bytes:
    """The picture of that name.

    Raises:
        InputError: on another name, and where the history does not hold what it shows.

    Source: Sun and Lu (2020), Figs. 1–28.
    """
    return file_of(PICTURES[what](history, Asked(tuple(tokens), step)), kind)


def file_of(picture: Picture, kind: str) -> bytes:
    """The picture as a page of its own, or as a figure for print in one of the other formats."""
    return picture_page(picture).encode() if kind == PAGE else drawn(figure_of(picture), kind)
