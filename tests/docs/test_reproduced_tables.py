"""The tables of papers in docs/results are those of the rows beside them: nobody wrote them by hand."""

from pathlib import Path

import pytest

from glasshead.experiments import PAPERS, ReproduceRequest, reproduce

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("paper", list(PAPERS))
def test_the_pages_are_those_of_the_rows(paper, tmp_path):
    reproduce(paper, ReproduceRequest(held_out=2, hours=0, rows=RESULTS / "rows", out=tmp_path))
    for page in (tmp_path / paper).glob("*.md"):
        assert (RESULTS / paper / page.name).read_text() == page.read_text()


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_table_has_a_page(paper):
    names = {path.stem for path in (RESULTS / paper).glob("*.md")}
    assert names == {table.name for table in PAPERS[paper].tables}
