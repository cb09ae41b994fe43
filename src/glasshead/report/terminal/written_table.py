"""A written text in the terminal: the answer marked in its text, and what every token was chosen from.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.escaping import one_line, visible
from glasshead.report.number_format import number
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.report.written_words import alternatives_in_words, facts_in_words, map_title, strongest_before
from glasshead.results import Written


def written_table(written: Written) -> RenderableType:
    """Prompt and answer, how it was written, and a row for each token of the answer: its log-probability, its
    rank, the chance that the strategy gave it, the most probable others and, for every explanation, the
    tokens that it was written from most."""
    given = Text(visible(written.prompt + written.joint), style="dim")
    text = given + Text(visible(written.answer), style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("token", overflow="fold")
    by_token = any(token.chance is not None for token in written.answer_tokens)
    for heading in ("log p", "rank", "chance") if by_token else ("log p", "rank"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("most probable here", overflow="fold")
    rows = [one for one in written.maps if not one.whole]
    for one in rows:
        table.add_column(Text(f"from, by {map_title(one)}"), overflow="fold")
    for place, token in enumerate(written.answer_tokens):
        cells = [one_line(written.tokens[written.start + place]), number(token.log_probability, 2)]
        cells += [str(token.rank), *([number(token.chance)] if by_token else [])]
        cells += [alternatives_in_words(token)]
        cells += [strongest_before(written, one, place) for one in rows]
        table.add_row(*map(Text, cells))
    facts = [Text(fact, style="dim") for fact in facts_in_words(written)]
    return Group(text, *facts, WrappingTable(table, ornament=True))
