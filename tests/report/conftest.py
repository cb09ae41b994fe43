"""Fake cards, made once: a signed binary one, an unsigned binary one, and one of four classes; a browser."""

import pytest

import fake_cards
from browsers import browser  # noqa: F401
from glasshead.results import AuditCard

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
