"""Pictures of how attention came about: a history in, a file out."""

from collections.abc import Sequence

from glasshead.histories import History
from glasshead.report.dynamics import PICTURES, Asked, figure_of
from glasshead.report.prints import drawn


def dynamics_picture(
    history: History, kind: str, what: str, tokens: Sequence[str] = (), step: int | None = None
) -> bytes:
    """The picture of that name.

    Raises:
        InputError: on another name, and where the history does not hold what it shows.

    Source: Sun and Lu (2020), Figs. 1–28.
    """
    return drawn(figure_of(PICTURES[what](history, Asked(tuple(tokens), step))), kind)
