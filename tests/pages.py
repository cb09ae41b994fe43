"""A page as its elements, read with the standard library's parser."""

from dataclasses import dataclass
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "hr", "input"}


@dataclass
class Element:
    """One element with its attributes and all text within it."""

    tag: str
    attributes: dict[str, str | None]
    above: tuple[str, ...]
    heard: list[str]
    start: int
    end: int

    @property
    def text(self) -> str:
        return "".join(self.heard[self.start : self.end])

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get("class") or "").split()


class Page(HTMLParser):
    """All elements of a page, in order; fails on tags that do not close."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self._heard: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"left open: {[element.tag for element in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        here = len(self._heard)
        element = Element(tag, dict(attrs), tuple(e.tag for e in self._open), self._heard, here, here)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        here = len(self._heard)
        above = tuple(element.tag for element in self._open)
        self.elements.append(Element(tag, dict(attrs), above, self._heard, here, here))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop().end = len(self._heard)

    def handle_data(self, data: str) -> None:
        self._heard.append(data)

    def all(self, tag: str, name: str | None = None) -> list[Element]:
        """The elements of a tag, and of a class if one is given."""
        return [e for e in self.elements if e.tag == tag and (name is None or name in e.classes)]
