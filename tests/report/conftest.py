"""Fake cards, made once: a signed binary one, an unsigned binary one, and one of four classes; a browser."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import fake_cards
import pytest

from glasshead.results import AuditCard

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
FOUR = ("World", "Sports", "Business", "<b onclick=alert(3)>Sci/Tech</b>")


@pytest.fixture(scope="session")
def tanhmax() -> AuditCard:
    return fake_cards.make("tanhmax")


@pytest.fixture(scope="session")
def softmax() -> AuditCard:
    return fake_cards.make("softmax")


@pytest.fixture(scope="session")
def four_classes() -> AuditCard:
    return fake_cards.make("tanhmax", FOUR)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their plots, whose drawing is most of the work; pages made once for a file are drawn."""
    monkeypatch.setattr("glasshead.report.html.figure_page.panel_drawings", lambda figure, key: [])


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.is_file() and not os.environ.get("CI"):
        pytest.skip(f"no browser at {CHROMIUM}: install Debian's chromium to run the tests of the page")
    with sync_playwright() as playwright:
        program = str(CHROMIUM)
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=120_000)
        yield opened
        opened.close()
