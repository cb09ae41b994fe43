"""A text in the terminal, each token coloured by its number.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

from rich.text import Text

from glasshead.escaping import visible
from glasshead.report.colours import TERMINAL, Meaning, meaning
from glasshead.report.picture_panels import image_titles, largest_in_image, numbers_of, of_overview
from glasshead.report.text_spans import coloured_spans, diverging, drawn_max, max_abs, normalised_score
from glasshead.results import Attribution

STEPS = (0.08, 0.25, 0.5, 0.75)


def heat_style(share: float, means: Meaning) -> str:
    """The terminal style of a strength in [−1, 1]; empty for almost nothing."""
    level = sum(abs(share) >= step for step in STEPS)
    return "" if level == 0 else TERMINAL[means][level - 1]


def faint_style(share: float, means: Meaning) -> str:
    """The same for a weight that may be zero: letters alone, however strong it is drawn."""
    return f"italic {TERMINAL[means][0]}" if heat_style(share, means) else "italic dim"


def text_heatmap(attribution: Attribution, scale: float | None = None) -> Text:
    """The whole text, tokens coloured at their offsets as `colours` says, stronger for more.

    ``scale`` is the number that is drawn at full strength; by default the largest of this text. A weight
    that may be zero gets slanted letters and no background.
    """
    full = max(max_abs(attribution), drawn_max(attribution)) if scale is None else scale
    if attribution.boxes is not None and not attribution.has_words:
        return patch_grid(attribution, full)
    text, signed = Text(visible(attribution.text)), diverging(attribution)
    for span in coloured_spans(attribution, full):
        if span.token is not None:
            style = faint_style if span.doubt == "maybe" else heat_style
            text.stylize(style(span.share, meaning(span.share, signed)), span.start, span.end)
    return text if attribution.boxes is None else patch_grid(attribution, full, text)


def patch_grid(attribution: Attribution, scale: float, above: Text | None = None) -> Text:
    """The name of an image, or the text ``above`` the images, and below a cell for each of their patches, row
    by row; of several images below their titles."""
    text, row, last = Text(visible(attribution.text)) if above is None else above, None, None
    patches = [
        (number, not of_overview(name), box, value, token in attribution.marked_sinks)
        for token, (name, value, box, number) in enumerate(
            zip(
                attribution.tokens,
                attribution.colours,
                attribution.boxes or (),
                numbers_of(attribution),
                strict=True,
            )
        )
        if box is not None and number is not None
    ]
    if attribution.has_words:  # a word may count many times as much as a part of the image
        scale = largest_in_image(attribution, attribution.colours)
    # Tiles follow each other token by token, and are drawn as one image.
    for number, _, box, value, sink in sorted(
        patches, key=lambda patch: (*patch[:2], patch[2][1], patch[2][0])
    ):
        if number != last and len(attribution.images) > 1:
            text.append(f"\n{image_titles(attribution)[number - 1]}")
            row = None
        last = number
        if box[1] != row:
            text.append("\n")
            row = box[1]
        share = 0.0 if sink else normalised_score(value, scale)
        style = heat_style(share, meaning(share, diverging(attribution)))
        text.append("× " if sink else "■ " if style else "▪ ", style)
    return text
