"""The site builds strictly, without a network, and its notebooks are executed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
# What the outputs of a notebook show, as regular expressions of their HTML and text.
NOTEBOOKS = {
    "audit-my-bert": [
        r"predicted (positive|negative)",  # coloured texts
        r"background-color:rgba",
        r"119 findings|findings in all",  # the card
        r"of the weight is on adjectives",
        r"\]: .+\n(passes|fails)",  # the gate
    ],
    "signed-attention": [
        r"tanhmax  \[0\.43, 0\.0, -0\.43\]",
        r"same logits: +True\nopposite weights: +True",
        r"sign in the weights|one sign|undecided",
        r"background-color:rgba",
    ],
    "right-and-empty": [
        r"the prediction hardly changes",  # shuffled weights of the positional model
        r"data:image/svg\+xml",
        r"predictions change much without these heads",
    ],
    "where-did-it-look": [
        r"(9\d|100)% of the answers",
        r"data:image/png",
        r"more faithful than the map of another question",
        r"attention, last layer +[+-]",
        r"attention rollout +([6-9]\d|100)% of 60 maps",  # the truth that is planted
    ],
    "watch-training": [
        r"snapshots of \d+ steps",
        r"data:image/svg\+xml",
        r"VᵀW at the end",
        r"attention scores",
    ],
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site: warnings are errors, and so is a cell that raises."""
    for package in ("sphinx", "myst_nb"):
        pytest.importorskip(package)
    out = tmp_path_factory.mktemp("build") / "html"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, out],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_no_page_needs_a_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        loaded = re.findall(
            r'<(?:script|img|link)\b[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text(encoding="utf-8")
        )
        assert loaded == [], page.name


def test_every_notebook_is_named_here() -> None:
    notebooks = {
        page.stem
        for page in (DOCS / "tutorials").glob("*.md")
        if page.read_text(encoding="utf-8").startswith("---\nfile_format: mystnb")
    }
    assert notebooks == set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_shows_its_outputs(name: str, site: Path) -> None:
    (download,) = site.rglob(f"_downloads/*/{name}.ipynb")
    cells = [
        cell
        for cell in json.loads(download.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    assert all(cell["execution_count"] for cell in cells)
    shown = "\n".join(map(output_text, cells))
    assert [words for words in NOTEBOOKS[name] if not re.search(words, shown)] == []


def output_text(cell: dict[str, Any]) -> str:
    """What a cell has printed and shown."""
    parts = []
    for output in cell["outputs"]:
        parts += [output["text"]] if "text" in output else output.get("data", {}).values()
    return "\n".join("".join(part) for part in parts)


def test_the_first_use_of_a_term_links_to_the_glossary(site: Path) -> None:
    glossary = (site / "reference" / "glossary.html").read_text(encoding="utf-8")
    anchors = re.findall(r'<dt id="(term-[\w-]+)"', glossary)
    assert len(anchors) > 15
    page = (site / "explanation" / "sign-gauge.html").read_text(encoding="utf-8")
    links = re.findall(r'<a class="term [^"]*" href="\.\./reference/glossary\.html#([\w-]+)"', page)
    assert "term-0" in links or "term-kendall-s" in links, links
    assert set(links) <= {*anchors, "term-0"}
    assert len(links) == len(set(links)) > 2
    assert not re.search(r'<h\d>[^<]*<a class="term', page)
