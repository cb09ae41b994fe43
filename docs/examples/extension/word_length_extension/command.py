"""glasshead word-lengths: draw the scores of the words of a text against their length."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import Overwrite, app, write_plot


@app.command("word-lengths")
def word_lengths(
    model: Annotated[str, typer.Argument(help="A run, a saved model, or a Hub id.")],
    text: Annotated[str, typer.Argument(help="The text, quoted.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write: .png, .svg, .pdf or .html.")],
    method: Annotated[str, typer.Option(help="The method of explanation.")] = "attention",
    overwrite: Overwrite = False,
) -> None:
    """Draw the score of each word of a text against its length."""
    import glasshead  # here, so that `glasshead --help` stays quick

    (attribution,) = glasshead.explain(model, [text], method=method)
    write_plot(out, "word-lengths", attribution, overwrite)
