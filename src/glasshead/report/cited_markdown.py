"""The sources of an answer in Markdown: a footnote for each."""

from glasshead.report.cited_words import doubt_of, label_of, marked_answer, unit_of, web_link
from glasshead.report.documents.cited import conclusion, numbers_document
from glasshead.report.markdown_view import as_line, escape, markdown_view
from glasshead.report.number_format import number
from glasshead.results import Cited


def cited_markdown(cited: Cited) -> str:
    """The conclusion, the answer with footnotes, the numbers, and the footnotes."""
    notes = [footnote(cited, passage) for passage in sources_of(cited)]
    parts = [
        markdown_view(conclusion(cited)),
        answer_with_notes(cited),
        markdown_view(numbers_document(cited)),
    ]
    return "\n\n".join([part.rstrip("\n") for part in [*parts, *notes]]) + "\n"


def sources_of(cited: Cited) -> list[int]:
    """The passages that stand behind the answer or any sentence, in order."""
    return sorted({one.passage for statement in cited.statements for one in statement.sources})


def answer_with_notes(cited: Cited) -> str:
    """The answer as a quotation, with marks of footnotes behind each sentence."""
    parts = []
    for words, statement in marked_answer(cited):
        parts.append("\n".join(map(escape, words.split("\n"))))
        if statement is not None:
            parts += [f"[^{place}]" for place in sorted(one.passage + 1 for one in statement.sources)]
    parts += [f"[^{passage + 1}]" for passage in cited.unplaced_sources]
    return "\n".join(f"> {as_line(line)}  " for line in "".join(parts).split("\n"))


def footnote(cited: Cited, passage: int) -> str:
    """A source: its title, as a link if it has one, or its first words, and what it adds to each sentence."""
    own = cited.passages[passage]
    label, link = escape(label_of(own)), web_link(own)
    if link:
        safe = link.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
        label = f"[{label}](<{safe}>)"
    adds = [
        f"{number(one.effect, 2, plus=True)} {doubt_of(one)}{place_of(cited, place)}"
        for place, statement in enumerate(cited.sentences, 1)
        for one in statement.sources
        if one.passage == passage
    ] or [
        f"{number(one.effect, 2, plus=True)} {doubt_of(one)} on the whole answer"
        for one in cited.whole.sources
        if one.passage == passage
    ]
    effects = escape(f"effect {'; '.join(adds)} ({unit_of(cited.facts)})")
    return f"[^{passage + 1}]: Passage {passage + 1}, {label}: {effects}"


def place_of(cited: Cited, place: int) -> str:
    """Which sentence, where there are several."""
    return f" on sentence {place}" if len(cited.sentences) > 1 else ""
