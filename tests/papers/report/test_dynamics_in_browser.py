"""The page of a training in a real browser: silent, readable in light and dark, at home on a phone."""

import fake_histories
import pytest
from playwright.sync_api import Browser

from browsers import CONTRAST, opened
from glasshead.papers.dynamics import findings
from glasshead.papers.report import DynamicsSummary, dynamics_page

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("histories")
    for name, history in {
        "watched": fake_histories.history(),
        "once": fake_histories.history(steps=[40]),
        "layers": fake_histories.layered(),
    }.items():
        tokens = () if name == "layers" else ("positive0", fake_histories.NASTY)
        told = DynamicsSummary(name, history, findings(history), tokens, remarks=["a remark"])
        (folder / f"{name}.html").write_text(dynamics_page(told), encoding="utf-8")
    return {path.stem: path.as_uri() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["watched", "once", "layers"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_a_history_is_silent_readable_and_no_wider_than_the_window(
    browser: Browser, histories: dict[str, str], name: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, histories[name], scheme, width)
    assert page.evaluate(CONTRAST, "p, td, th, h1, h2, h3, h4, a, summary, dd, dt, span, em, b, li") >= 4.5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Letters of a drawing are no smaller than a reader's small print, wherever it stands.
    sizes = page.evaluate(
        "[...document.querySelectorAll('svg.plot')]"
        ".map(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width)"
    )
    assert min(sizes) >= 0.8
    assert said == []
    page.close()
