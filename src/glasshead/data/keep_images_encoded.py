"""Images of a data set, and lists of them, as the bytes that they are stored in."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from datasets import Dataset

Rows = TypeVar("Rows", bound="Dataset")


def keep_images_encoded(rows: Rows) -> Rows:
    """Rows whose images nobody unpacks: one that is broken would end the reading of all."""
    from datasets import Image

    for name, kind in rows.features.items():
        if isinstance(kind, Image) and kind.decode:
            rows = rows.cast_column(name, Image(decode=False))
        part = getattr(kind, "feature", None)
        if isinstance(part, Image) and part.decode:
            rows = rows.cast_column(name, type(kind)(Image(decode=False)))
    return rows
