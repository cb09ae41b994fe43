"""Byte pairs: the words after each merge."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from glasshead.papers.results import MergeTrace
from glasshead.report import Figure, Ink, Panel, plot

WORDS, MERGES, LONGEST = 8, 30, 30
"""How many are drawn, and how many letters of one word or pair."""
LETTER, LINE = 0.115, 0.3
"""Inches across and down."""
LETTER_SIZE = 10.0


@plot("merges", MergeTrace)
def merges(trace: MergeTrace) -> Figure:
    """A row for each merge: the pair, how often it stood in the words, and the words in their tokens.

    Source: Sennrich et al., ACL 2016.
    """
    left_out = []
    if any(len(word) > LONGEST for word in trace.words):
        left_out.append(f"Words of more than {LONGEST} letters are not drawn.")
    if len(choose_drawn_words(trace)) < len(trace.words) and len(choose_drawn_words(trace)) == WORDS:
        left_out.append(f"The {WORDS} most frequent of {len(trace.words):,} words are drawn.")
    if len(trace.merges) > MERGES:
        left_out.append(f"The first {MERGES} of {len(trace.merges):,} merges are drawn.")
    caption = "In each step the most frequent pair of neighbours becomes a token (filled)."
    return Figure("Byte pairs, merge by merge", [panel(trace)], " ".join([caption, *left_out]), across=1)


def choose_drawn_words(trace: MergeTrace) -> list[int]:
    """The most frequent words that have room."""
    short = [place for place, word in enumerate(trace.words) if len(word) <= LONGEST]
    return sorted(short, key=lambda word: -trace.counts[word])[:WORDS]


def fit_pair(pair: str) -> str:
    """A pair that fits."""
    return pair if len(pair) <= LONGEST else pair[: LONGEST - 1] + "…"


def panel(trace: MergeTrace) -> Panel:
    """The table of merges."""
    order = choose_drawn_words(trace)
    shown = trace.merges[:MERGES]
    pairs = (" + ".join(merge.pair) for merge in shown)
    heads = ["", *(f"{number}.  {fit_pair(pair)}" for number, pair in enumerate(pairs, start=1))]
    counts = ["", *(f"{merge.count}×" for merge in shown)]
    rows = [trace.words, *(merge.words for merge in shown)]
    new = [None, *(merge.token for merge in shown)]
    widths = [sum(map(len, trace.words[word])) + 3 for word in order]
    first = max(map(len, heads)) + 2
    begin = first + max(map(len, counts)) + 3
    across = begin + sum(widths)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_axis_off()
        axes.set_xlim(0, across)
        axes.set_ylim(len(rows), 0)
        for row, words in enumerate(rows):
            if row:
                write(axes, ink, (0.0, row), heads[row])
                write(axes, ink, (float(first), row), counts[row], colour="--muted")
            left = float(begin)
            for word, width in zip(order, widths, strict=True):
                place = left
                for token in words[word]:
                    filled = token == new[row]
                    axes.add_patch(
                        Rectangle(
                            (place + 0.06, row + 0.14),
                            len(token) - 0.12,
                            0.72,
                            linewidth=0.8,
                            edgecolor=ink("--muted"),
                            facecolor=ink("--accent") if filled else "none",
                            alpha=0.35 if filled else 1.0,
                        )
                    )
                    for letter in token:
                        write(axes, ink, (place + 0.5, row), letter, centre=True)
                        place += 1
                left += width

    size = max(across * LETTER + 0.3, 3.5), LINE * len(rows) + 0.2
    return Panel(
        "", ("", ""), draw, "; ".join(trace.lines), x="own", grid=False, size=size, aspect=size[1] / size[0]
    )


def write(
    axes: Axes,
    ink: Ink,
    place: tuple[float, float],
    words: str,
    *,
    colour: str = "--ink",
    centre: bool = False,
) -> None:
    """Letters of one width in a row of the table."""
    axes.text(
        place[0], place[1] + 0.5, ink.text(words), family="monospace", fontsize=LETTER_SIZE, va="center",
        ha="center" if centre else "left", color=ink(colour),
    )  # fmt: skip
