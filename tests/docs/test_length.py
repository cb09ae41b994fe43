"""The documentation stays short enough to be read: a budget of words."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MOST_WORDS = {"README": 900, "core docs": 45_000}
GENERATED = {DOCS / "reference" / name for name in ("cli", "api", "tables")}
MEASURED = {
    DOCS / "reference" / name
    for name in ("families.md", "image-families.md", "image-text-families.md", "tasks.md")
}
# Blocks of these names hold prose; all others hold code, pictures or lists of pages.
PROSE = ("glossary", "note", "tip", "warning", "admonition")


def core() -> list[Path]:
    """The pages that people write, without those about the papers."""
    apart = {*GENERATED, *MEASURED, DOCS / "reproduction", DOCS / "_build"}
    return [page for page in sorted(DOCS.rglob("*.md")) if apart.isdisjoint({page, *page.parents})]


def count_words(page: str) -> int:
    """Words of a page outside code, displayed mathematics, targets of links, tags and lines of tables."""
    page = re.sub(r"\A---\n.*?\n---\n|<[^>]*>", "", page, flags=re.DOTALL)
    page = re.sub(
        rf"^```{{(?:{'|'.join(PROSE)})}}[^\n]*\n(.*?)^```$", r"\1", page, flags=re.DOTALL | re.MULTILINE
    )
    page = re.sub(r"^```.*?^```$|\$\$.*?\$\$", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    return sum(any(map(str.isalnum, word)) for word in page.split())


def test_core_documentation_is_short() -> None:
    words = {str(page.relative_to(DOCS)): count_words(page.read_text(encoding="utf-8")) for page in core()}
    assert len(words) > 50
    longest = sorted(words.items(), key=lambda item: -item[1])[:10]
    assert sum(words.values()) <= MOST_WORDS["core docs"], longest


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < MOST_WORDS["README"]


def test_what_counts_as_a_word() -> None:
    page = "---\na: b\n---\n# One two\n\n```sh\nno words\n```\n\n$$\nx + y\n$$\n\n"
    page += "| three | [four](no-word.md) |\n|---|---|\n"
    assert count_words(page) == 4
    assert count_words("```{glossary}\nfive\n  six\n```\n<picture>\n") == 2
