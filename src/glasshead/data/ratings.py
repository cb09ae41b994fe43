"""Labels that are numbers."""

import math

from glasshead.data.schema import Table
from glasshead.errors import InputError
from glasshead.spelling import spell


class RatingError(InputError):
    """Labels that are not ratings where ratings are needed."""


MAX_RATING = 1e17
"""Models learn in float32, where the square of an error must not overflow."""


def rating_values(table: Table) -> list[float]:
    """The labels as finite numbers.

    Raises:
        InputError: if there are none, or with the row of one that is not a number or too large.
    """
    if not table.label:
        raise InputError(
            f"{table.source} has no rows with a rating: add some, or name another {spell('label_column')}"
        )
    numbers = []
    for row, label in zip(table.rows, table.label, strict=True):
        try:
            number = math.nan if "_" in label else float(label)  # Python reads 1_000 as a number
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise RatingError(
                f"{table.source} row {row}: the rating {label!r} is not a number; "
                f"correct it, name another {spell('label_column')}, or leave "
                f"{spell('task', 'regression')} out"
            )
        if abs(number) > MAX_RATING:
            raise InputError(
                f"{table.source} row {row}: the rating {label!r} is beyond ±{MAX_RATING:.0e}, more than a "
                "model can learn: rescale the ratings"
            )
        numbers.append(number)
    return numbers


def check_ratings(tables: dict[str, Table]) -> None:
    """Raise InputError if a rating of any split is not a number, or if those of train are all the same."""
    numbers = {split: rating_values(table) for split, table in tables.items()}
    if len(set(numbers["train"])) == 1:
        raise InputError(
            f"{tables['train'].source} has a single rating, {numbers['train'][0]:g}: give rows of different "
            f"ratings, or name another {spell('label_column')}"
        )
