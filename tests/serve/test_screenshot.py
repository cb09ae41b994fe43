"""The picture of the page in the documentation: taken here, and kept where WRITE_IMAGES names a folder."""

import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect
from processes import serving
from watched_pages import link, watched

from glasshead.serve.server import train_demo

pytestmark = pytest.mark.slow

BEFORE = "a dreary start but the acting is superb and the ending a joyless mess"
NOW = "a dreary start but the acting is superb and the ending a delightful mess"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The signed model of the demo."""
    folder = tmp_path_factory.mktemp("demo") / "demo-tanhmax"
    train_demo("tanhmax", folder)
    return folder


@pytest.mark.parametrize(("scheme", "name"), [("light", "serve.png"), ("dark", "serve-dark.png")])
def test_an_edited_text(browser: Browser, model: Path, tmp_path: Path, scheme: str, name: str) -> None:
    folder = Path(os.environ.get("WRITE_IMAGES", tmp_path))
    with serving(model) as server:
        server.wait_until_open()
        with watched(browser, server.address, link("explain", text=BEFORE), scheme) as page:
            expect(page.locator(".shown > .text mark").first).to_be_visible()
            page.wait_for_timeout(1500)
            page.locator("#explain-text").fill(NOW)
            expect(page.locator(".changed")).to_be_visible()
            page.mouse.move(0, 0)
            page.screenshot(path=folder / name, clip={"x": 0, "y": 0, "width": 1280, "height": 850})
    with Image.open(folder / name) as picture:
        assert picture.width == 1280
        colours = {pixel[:3] for _, pixel in picture.convert("RGB").getcolors(2**24)}
    assert len([colour for colour in colours if max(colour) - min(colour) > 60]) > 3
