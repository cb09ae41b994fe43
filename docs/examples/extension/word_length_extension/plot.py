"""How much each word mattered, against its length."""

from glasshead.report import Figure, Panel, plot
from glasshead.results import Attribution


@plot("word-lengths", Attribution)
def word_lengths(attribution):
    """Score of each word against its number of letters."""
    lengths = [len(word) for word in attribution.tokens]

    def draw(axes, ink):
        axes.scatter(lengths, attribution.scores, color=ink("--for"))

    panel = Panel("Length and score", ("letters", "score"), draw, f"{len(lengths)} words")
    return Figure("Do longer words matter more?", [panel], caption="One point per word.")
