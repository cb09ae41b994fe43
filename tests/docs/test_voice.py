"""Pages and messages speak plain English: a list of words that a translation would leave there."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import package_pages

ROOT = Path(__file__).parents[2]
CALQUES = re.compile(
    r"\b(beside|whoever|nobody|whatever|told apart|h(?:old|eld)s? against|under chance|refuse[sd]?"
    r"|each of its own|with the keys held|(?:is|are) asked|no quite|of whom"
    r"|stands? (?:in|at|on|there|below|above|behind|before|alone|nowhere|among|beside|still))\b",
    re.IGNORECASE,
)
GENERATED = ("cli", "api", "tables")
FOLDERS = ("tutorials", "how-to", "explanation", "reference")
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    *sorted(
        page
        for folder in FOLDERS
        for page in (ROOT / "docs" / folder).rglob("*.md")
        if page.parent.name not in GENERATED
    ),
]
WORDS_OF_ENGLISH = "synthetic_vocabulary.py"  # a list of them, which synthetic texts are made of


def prose(page: Path) -> Iterator[str]:
    """The lines of a page outside blocks of code, without what is in backticks or the target of a link."""
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            code = not code
        elif not code:
            yield re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)


def messages(file: Path) -> Iterator[str]:
    """What a file may print: its strings of several words, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # a docstring, of an attribute too
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield from [node.value] if " " in node.value else []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_no_calques(page: Path) -> None:
    assert [line for line in prose(page) if CALQUES.search(line)] == []


def test_messages_have_no_calques() -> None:
    house = ROOT / "src" / "glasshead"
    files = [
        file
        for file in house.rglob("*.py")
        if file.name != WORDS_OF_ENGLISH and not file.is_relative_to(house / "papers")
    ]
    assert len(files) > 500
    found = {str(file.relative_to(house)): [*filter(CALQUES.search, messages(file))] for file in files}
    assert {name: said for name, said in found.items() if said} == {}


def public_docstrings() -> Iterator[tuple[str, str]]:
    """The docstrings of what the packages of the tool export, with those of methods and properties."""
    for package, module in package_pages.packages().items():
        for name in module.__all__ if not package.startswith("glasshead.papers") else []:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield name, thing.__doc__ or ""
            elif isinstance(thing, type) and thing.__module__.startswith("glasshead"):
                yield name, vars(thing).get("__doc__") or ""
                members = {key: each for key, each in vars(thing).items() if not key.startswith("_")}
                yield from ((f"{name}.{key}", docstring(each)) for key, each in members.items())


def docstring(member: object) -> str:
    """That of a method or a property."""
    for wrapped in ("fget", "__func__", "func"):
        member = getattr(member, wrapped, member)
    return (member.__doc__ or "") if inspect.isfunction(member) else ""


def test_public_docstrings_have_no_calques() -> None:
    texts = {name: re.sub(r"`+[^`]+`+|beside:", "", text) for name, text in public_docstrings()}
    assert len(texts) > 1000
    assert {name: CALQUES.findall(text) for name, text in texts.items() if CALQUES.search(text)} == {}


def shown(template: Path) -> str:
    """What a template writes for people: no scripts, styles and tags, but the words within tags."""
    page = template.read_text(encoding="utf-8")
    page = re.sub(r"{#.*?#}|<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL)
    words = re.compile(r'(?:aria-label|title|alt|placeholder)="([^"]*)"')
    return re.sub(r"<[^>]*>", lambda tag: " ".join(words.findall(tag[0])), page)


def strings(script: Path) -> str:
    """The strings of several words in a script."""
    return "\n".join(re.findall(r'"([^"\n]* [^"\n]*)"', script.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("suffix", "read"), [("j2", shown), ("js", strings)])
def test_pages_in_the_browser_have_no_calques(suffix: str, read: Callable[[Path], str]) -> None:
    house = ROOT / "src" / "glasshead"
    files = [file for file in house.rglob(f"*.{suffix}") if not file.is_relative_to(house / "papers")]
    assert len(files) > 10
    texts = {file.name: read(file) for file in files}
    assert {name: CALQUES.findall(text) for name, text in texts.items() if CALQUES.search(text)} == {}


def test_the_list_finds_what_it_should() -> None:
    assert CALQUES.search("The passages stand before the model")
    assert CALQUES.search("It is refused where nobody asks")
    assert not CALQUES.search("The bar stands for the mean; ask for another standard")
