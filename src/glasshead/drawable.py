"""Values with a picture for a notebook, a page or an image file. `glasshead.report` registers how to draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError
from glasshead.files import parameter_named, write_bytes, write_text
from glasshead.registry import Registry
from glasshead.spelling import spell

if TYPE_CHECKING:
    import pandas as pd

IMAGE_FILES = ("svg", "png", "pdf")
VALUE_FILES = ("html", "json", "md", *IMAGE_FILES)
"""The endings of the files that a value can be saved in."""
TABLE_FILES = ("csv", "parquet")
"""The endings of the files that the numbers of a value with ``to_pandas`` can be saved in."""


@dataclass(frozen=True)
class Renderer:
    """How values of a type are drawn: ``notebook`` gives a piece of HTML, ``page`` a whole file, ``image``
    the bytes of a svg, png or pdf, and ``markdown`` what a README or an issue takes."""

    notebook: Callable[[Any], str]
    page: Callable[[Any], str]
    image: Callable[[Any, str], bytes] | None = None
    markdown: Callable[[Any], str] | None = None


RENDERERS: Registry[Renderer] = Registry("renderer")
"""By the name of the class; empty until `glasshead.report` is imported, as `glasshead.explain` does."""


class Drawable:
    """A value with a picture of its own. Without `glasshead.report` it shows as its ``repr``."""

    def _repr_html_(self) -> str | None:
        """What a notebook shows."""
        value = self.plain_value()
        renderer = renderer_of(value)
        return None if renderer is None else renderer.notebook(value)

    def plain_value(self) -> Drawable:
        """The value that is drawn and written instead of this one: itself, unless it holds tensors."""
        return self

    def to_json(self) -> str:
        """The value as JSON."""
        raise NotImplementedError

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the value into a file: html, json, md, svg, png or pdf, and what has ``to_pandas`` into csv
        or parquet too, as its name ends.

        Raises:
            InputError: on another ending, and if the file exists.
        """
        with parameter_named("path"):
            self._write(Path(path), overwrite)

    def _write(self, out: Path, overwrite: bool) -> None:
        kind = out.suffix.removeprefix(".").lower()
        value = self.plain_value()
        renderer = renderer_of(value)
        if kind == "json":
            write_text(out, value.to_json(), overwrite=overwrite)
        elif kind == "html" and renderer is not None:
            write_text(out, renderer.page(value), overwrite=overwrite)
        elif kind == "md" and renderer is not None and renderer.markdown is not None:
            write_text(out, renderer.markdown(value), overwrite=overwrite)
        elif kind in IMAGE_FILES and renderer is not None and renderer.image is not None:
            write_bytes(out, renderer.image(value, kind), overwrite=overwrite)
        elif kind in TABLE_FILES and hasattr(value, "to_pandas"):
            write_bytes(out, table_bytes(value.to_pandas(), kind), overwrite=overwrite)
        else:
            kinds = ["json"] if renderer is None else ["html", "json"]
            kinds += [] if renderer is None or renderer.markdown is None else ["md"]
            kinds += TABLE_FILES if hasattr(value, "to_pandas") else ()
            kinds += [] if renderer is None or renderer.image is None else [*IMAGE_FILES]
            raise InputError(
                f"{spell('out')} ends with none of {', '.join(f'.{name}' for name in kinds)}: {out.name}"
            )


def table_bytes(table: pd.DataFrame, kind: str) -> bytes:
    """A table as a csv or parquet file."""
    content = BytesIO()
    if kind == "csv":
        table.to_csv(content, index=False)
    else:
        table.to_parquet(content, index=False)
    return content.getvalue()


def renderer_of(value: Drawable) -> Renderer | None:
    """How a value is drawn; None where nothing has registered that."""
    name = type(value).__name__
    if name not in RENDERERS:
        return None
    return RENDERERS[name]
