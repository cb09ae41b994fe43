"""The tables of papers are those of the rows that are kept: nobody wrote them by hand."""

import re
from pathlib import Path

import pytest

from glasshead.papers.experiments import PAPERS, ReproduceRequest, reproduce
from reproduction.paper import verdicts_of

LARGEST_PICTURE = 60_000
"""Bytes."""
ROOT = Path(__file__).parents[3]
PAGES = ROOT / "reproduction"


@pytest.mark.parametrize("paper", list(PAPERS))
def test_the_pages_are_those_of_the_rows(paper, tmp_path):
    reproduce(paper, ReproduceRequest(held_out=2, hours=0, rows=ROOT / "reproduction" / "rows", out=tmp_path))
    for page in (tmp_path / paper).glob("*.md"):
        assert (PAGES / paper / page.name).read_text() == page.read_text()


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_table_has_a_page(paper):
    names = {path.stem for path in (PAGES / paper).glob("*.md")}
    others = {"to-run", "claims"} if PAPERS[paper].claims else {"to-run"}
    assert names == {table.name for table in PAPERS[paper].tables} | others


@pytest.mark.parametrize("paper", [name for name in PAPERS if PAPERS[name].claims])
def test_the_page_of_a_paper_has_the_verdicts_of_its_claims(paper):
    whole = (PAGES / paper / "claims.md").read_text(encoding="utf-8")
    part = (PAGES / "tables" / f"{paper}-claims.md").read_text(encoding="utf-8")
    assert part == verdicts_of(whole)
    assert all(claim.text in part for claim in PAPERS[paper].claims)


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_picture_is_linked_and_small(paper):
    """Not that its bytes are those of today: another matplotlib draws other ones."""
    linked = {
        name
        for page in (PAGES / paper).glob("*.md")
        for name in re.findall(r"\]\(([^)]+\.png)\)", page.read_text(encoding="utf-8"))
    }
    pictures = {path.name: path for path in (PAGES / paper).glob("*.png")}
    assert linked == set(pictures)
    assert all(path.stat().st_size <= LARGEST_PICTURE for path in pictures.values())


def test_the_page_of_what_is_still_to_run_includes_every_paper():
    page = (ROOT / "docs" / "reproduction" / "to-run.md").read_text(encoding="utf-8")
    included = set(re.findall(r"reproduction/(\w+)/to-run\.md\n:start-after: \"# What", page))
    assert included == {name for name, paper in PAPERS.items() if paper.tables}
