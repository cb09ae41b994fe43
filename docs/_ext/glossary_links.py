"""The first use of a word of the glossary on a page links to what it means."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "reference/glossary"
SECTIONS = ("tutorials/", "how-to/", "explanation/", "reference/", "reproduction/")
GENERATED = ("reference/api/", "reference/cli/")
NOT_TEXT = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
)


def link_first_uses(app: Sphinx, page: nodes.document, name: str) -> None:
    """Replace the first use of each term in the text of a page by a link to the glossary."""
    if name == GLOSSARY or not name.startswith(SECTIONS) or name.startswith(GENERATED):
        return
    standard: Any = app.env.get_domain("std")
    places = {
        term: anchor
        for (kind, term), (place, anchor) in standard.objects.items()
        if kind == "term" and place == GLOSSARY
    }
    linked: set[str] = set()
    for text in [*page.findall(nodes.Text)]:
        if not any(isinstance(above, NOT_TEXT) for above in ancestors(text)):
            pieces = [*link_terms(app, name, text.astext(), places, linked)]
            if len(pieces) > 1:
                text.parent.replace(text, pieces)


def link_terms(
    app: Sphinx, page: str, text: str, places: dict[str, str], linked: set[str]
) -> list[nodes.Node]:
    """A text in pieces: links of terms that the page has not linked yet, and what is between them."""
    pieces: list[nodes.Node] = []
    end = 0
    # Longer terms first: "attention sink" is one link.
    terms = "|".join(re.escape(term) for term in sorted(places, key=len, reverse=True))
    for found in re.finditer(rf"(?<![\w-])({terms})(?:s)?(?![\w-])", text, re.IGNORECASE):
        term = next(term for term in places if term.lower() == found[1].lower())
        if places[term] in linked:
            continue
        linked.add(places[term])
        there = f"{app.builder.get_relative_uri(page, GLOSSARY)}#{places[term]}"
        link = nodes.reference("", found[0], internal=True, refuri=there, classes=["term"])
        pieces += [nodes.Text(text[end : found.start()]), link]
        end = found.end()
    return [*pieces, nodes.Text(text[end:])]


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    above = []
    while (node := node.parent) is not None:
        above.append(node)
    return above


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link_first_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
